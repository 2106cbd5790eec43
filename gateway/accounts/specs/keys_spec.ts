/**
 * Keys and their authentication: tests that every store must pass.
 */
import assert from "node:assert/strict";
import { ApiError } from "../../../translate/model/error.ts";
import { newKey } from "../key.ts";
import type { AccountsTest } from "./accounts_spec.ts";
import {
  createTestCaller,
  MODELS,
  openTestAccounts,
  reserve,
  staysOpen,
  testClock,
} from "../testing/open_test_accounts.ts";
import type { TestStore } from "../testing/stores.ts";

export function keysSpec(test: AccountsTest, kind: TestStore): void {
  test("the first start creates a key that may call every model", async ({ accounts, freshKey = "" }) => {
    const caller = await accounts.authenticate(["sk-wrong", freshKey]);
    assert.ok(MODELS.every((model) => caller.allows(model)));
    const { limits } = await reserve(accounts, caller);
    assert.deepEqual(limits, {});
  });

  Deno.test(`${kind.name}: a first key is shown before it is stored, and not stored if it cannot be shown`, async () => {
    await using database = await kind.createDatabase();
    const keys = async (): Promise<number> => {
      await using observer = await database.open();
      return (await observer.read("SELECT id FROM keys")).length;
    };
    const broken = new Error("the output is closed");
    const store = await database.open();
    const showKey = () => {
      throw broken;
    };
    await assert.rejects(
      openTestAccounts(staysOpen(store), testClock(), { showKey }),
      broken,
    );
    assert.equal(await keys(), 0);

    const seen: string[] = [];
    await using opened = await openTestAccounts(store, testClock(), {
      showKey: (key) => seen.push(key),
    });
    assert.deepEqual(seen, [opened.freshKey]);
    assert.equal(await keys(), 1);
  });

  test("authenticate() refuses a key that was never issued", async ({ accounts }) => {
    for (const presented of [[], ["sk-x"], [newKey()], [""]]) {
      await assert.rejects(
        accounts.authenticate(presented),
        (error) => error instanceof ApiError && error.kind === "authentication",
      );
    }
  });

  test("authenticate() refuses a key with surrounding blanks or quotes", async ({ accounts, freshKey = "" }) => {
    for (const text of [` ${freshKey}`, `${freshKey}\n`, `"${freshKey}"`]) {
      await assert.rejects(accounts.authenticate([text]), /invalid API key/);
    }
  });

  test("a revoked key is refused at once in this process", async (bench) => {
    const { caller, key } = await createTestCaller(bench);
    await bench.admin.keys.revoke(caller.keyId);
    await assert.rejects(bench.accounts.authenticate([key]));
  });

  test("a key is refused from the millisecond at which it expires", async ({ accounts, admin, clock }) => {
    const { text = "" } = await admin.keys.issue({
      accountId: "default",
      expiresAtMs: clock.ms + 100,
    });
    clock.ms += 99;
    await accounts.authenticate([text]);
    clock.ms += 1;
    await assert.rejects(accounts.authenticate([text]));
  });

  test("rotate() keeps the old key valid for the overlap only", async ({ accounts, admin, clock }) => {
    const old = await admin.keys.issue({ accountId: "default", name: "mine" });
    const young = await admin.keys.rotate(old.record.id, 1000);
    assert.equal(young.record.name, "mine");
    assert.equal(young.record.replaces, old.record.id);
    clock.ms += 999;
    await accounts.authenticate([old.text ?? ""]);
    await accounts.authenticate([young.text ?? ""]);
    clock.ms += 1;
    await assert.rejects(accounts.authenticate([old.text ?? ""]));
    await accounts.authenticate([young.text ?? ""]);
    await assert.rejects(
      admin.keys.rotate(old.record.id, 0),
      /is revoked or expired/,
    );
  });

  test("a key's text is shown once; afterwards only its hint", async ({ admin, store }) => {
    const once = { key: "idem-1", fingerprint: "a" };
    const request = { accountId: "default" };
    const { text = "", record } = await admin.keys.issue(request, once);
    assert.equal(record.hint, `${text.slice(0, 7)}…${text.slice(-4)}`);
    assert.deepEqual(await admin.keys.issue(request, once), { record });
    const kept = JSON.stringify([
      await store.read("SELECT * FROM keys"),
      await store.read("SELECT * FROM answers"),
    ]);
    assert.ok(!kept.includes(text.slice(3, 43)));
  });

  test("a key's time of last use is exact to the minute", async (bench) => {
    const { accounts, admin, clock } = bench;
    const { caller } = await createTestCaller(bench);
    const use = async (): Promise<number | undefined> => {
      await reserve(accounts, caller);
      return (await admin.keys.get(caller.keyId)).lastUsedAtMs;
    };
    const first = clock.ms;
    assert.equal(await use(), first);
    clock.ms += 59_999;
    assert.equal(await use(), first);
    clock.ms += 1;
    assert.equal(await use(), clock.ms);
  });
}
