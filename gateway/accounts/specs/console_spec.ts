/**
 * Account tokens, sign-in codes and sessions: tests that every store must pass.
 */
import assert from "node:assert/strict";
import { ApiError } from "../../../translate/model/error.ts";
import type { AccountsTest, TestAccounts } from "./accounts_spec.ts";
import { newCredential } from "../key.ts";
import { openAdmin } from "../repositories/admin.ts";
import type { Store } from "../store/store.ts";
import { createTestCaller } from "../testing/open_test_accounts.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

async function issuedToken(
  { admin }: TestAccounts,
  scope: "read" | "manage" = "manage",
): Promise<{ text: string; id: string }> {
  const { text, record } = await admin.tokens.issue({
    accountId: "default",
    scope,
  });
  assert.ok(text !== undefined);
  return { text, id: record.id };
}

const openSession = (
  { admin }: TestAccounts,
  id: string,
  by: Parameters<typeof admin.sessions.open>[1] = {},
) => admin.sessions.open({ kind: "manage", id, accountId: "default" }, by);

async function assertNotStored(
  store: Store,
  table: string,
  secret: string,
): Promise<void> {
  const rows = await store.read(`SELECT * FROM ${table}`);
  assert.ok(rows.length > 0);
  assert.ok(!JSON.stringify(rows).includes(secret));
}

export function consoleSpec(test: AccountsTest): void {
  test("an account token is valid for 90 days unless it is issued for another time of at most a year", async (accounts) => {
    const { admin, clock } = accounts;
    const { text, id } = await issuedToken(accounts);
    assert.match(text, /^at-/);
    const holder = { kind: "manage", id, accountId: "default" };
    assert.deepEqual(await admin.tokens.verify(text), holder);
    clock.ms += 90 * DAY_MS - 1;
    assert.deepEqual(await admin.tokens.verify(text), holder);
    clock.ms += 1;
    assert.equal(await admin.tokens.verify(text), undefined);
    for (const expiresAtMs of [clock.ms, clock.ms + 367 * DAY_MS]) {
      await assert.rejects(
        admin.tokens.issue({ accountId: "default", expiresAtMs }),
        /expires_at: must be in the future/,
      );
    }
  });

  test("an account token is not valid after its revocation, and only its hash is stored", async (accounts) => {
    const { admin, store } = accounts;
    const { text, id } = await issuedToken(accounts, "read");
    await assertNotStored(store, "account_tokens", text);
    await assert.rejects(
      admin.tokens.revoke(id, undefined, "other"),
      (error) => error instanceof ApiError && error.kind === "not_found",
    );
    await admin.tokens.revoke(id);
    assert.equal(await admin.tokens.verify(text), undefined);
    for (const wrong of ["", "at-", text.slice(0, -1), `${text}x`, "sk-x"]) {
      assert.equal(await admin.tokens.verify(wrong), undefined);
    }
  });

  test("tokens that ended more than 90 days ago are deleted with the next one that is issued", async (accounts) => {
    const { admin, clock } = accounts;
    const ids = async (): Promise<readonly string[]> =>
      (await admin.tokens.list({ accountId: "default" })).data
        .map(({ id }) => id);
    const revoked = await issuedToken(accounts);
    await admin.tokens.revoke(revoked.id);
    const expiring = await issuedToken(accounts);
    clock.ms += 91 * DAY_MS;
    const third = await issuedToken(accounts);
    assert.deepEqual(await ids(), [expiring.id, third.id]);
    clock.ms += 90 * DAY_MS;
    const fourth = await issuedToken(accounts);
    assert.deepEqual(await ids(), [third.id, fourth.id]);
  });

  test("a code that is not known costs no write", async ({ store, clock }) => {
    let writes = 0;
    const counting: Store = {
      ...store,
      write(work) {
        writes++;
        return store.write(work);
      },
    };
    const { signInCodes } = await openAdmin(
      counting,
      () => true,
      () => clock.ms,
    );
    const holder = { accountId: "default", scope: "read" } as const;
    const { text } = await signInCodes.create(holder);
    assert.ok(await signInCodes.redeem(text) !== undefined);
    writes = 0;
    for (const code of [text, newCredential("code")]) {
      assert.equal(await signInCodes.redeem(code), undefined);
    }
    assert.equal(writes, 0);
  });

  test("an account token calls no model, and the error names what it is", async (accounts) => {
    const { text } = await issuedToken(accounts);
    await assert.rejects(
      accounts.accounts.authenticate([text]),
      /this is an account token \(at-…\)/,
    );
  });

  test("a sign-in code works once, for fifteen minutes", async ({ admin, clock, store }) => {
    const create = () =>
      admin.signInCodes.create({ accountId: "default", scope: "read" });
    const { text, id } = await create();
    await assertNotStored(store, "sign_in_codes", text);
    const both = await Promise.all([
      admin.signInCodes.redeem(text),
      admin.signInCodes.redeem(text),
    ]);
    assert.deepEqual(both.filter((one) => one !== undefined), [
      { kind: "read", id, accountId: "default" },
    ]);
    assert.equal(await admin.signInCodes.redeem(text), undefined);
    const late = await create();
    clock.ms += 15 * MINUTE_MS;
    assert.equal(await admin.signInCodes.redeem(late.text), undefined);
    await assert.rejects(
      admin.signInCodes.create({ accountId: "nobody", scope: "read" }),
      /there is no account nobody/,
    );
  });

  test("a session ends after its time without use, and at its latest end", async (accounts) => {
    const { admin, clock } = accounts;
    const key = await createTestCaller(accounts);
    const credential = "the-admin-token";
    const configured = { operator: credential };
    const { keyId, accountId } = key;
    for (
      const [holder, idleMs, maxMs] of [
        [
          { kind: "key", id: keyId, accountId },
          120 * MINUTE_MS,
          720 * MINUTE_MS,
        ],
        [{ kind: "operator", id: "operator" }, 30 * MINUTE_MS, 480 * MINUTE_MS],
      ] as const
    ) {
      const start = async () => {
        const by = holder.kind === "operator" ? { credential } : {};
        return (await admin.sessions.open(holder, by)).secret;
      };
      const isOpen = async (secret: string): Promise<boolean> =>
        await admin.sessions.find(secret, configured) !== undefined;
      const idle = await start();
      clock.ms += idleMs - 1;
      assert.equal(await isOpen(idle), true);
      clock.ms += idleMs;
      assert.equal(await isOpen(idle), false);
      const watched = await start();
      const looks = async (): Promise<boolean> =>
        await admin.sessions.find(watched, configured, false) !== undefined;
      clock.ms += idleMs - 1;
      assert.equal(await looks(), true);
      clock.ms += 1;
      assert.equal(await looks(), false, "a look of a page itself is no use");
      const busy = await start();
      const endMs = clock.ms + maxMs;
      while (clock.ms + idleMs / 2 < endMs) {
        clock.ms += idleMs / 2;
        assert.equal(await isOpen(busy), true);
      }
      clock.ms = endMs;
      assert.equal(await isOpen(busy), false);
    }
  });

  test("a session ends with the key, token or configured credential behind it", async (accounts) => {
    const { admin } = accounts;
    const key = await createTestCaller(accounts);
    const token = await issuedToken(accounts);
    const find = async (
      secret: string,
      configured = { key: "sk-configured", operator: "admin-token" },
    ) => (await admin.sessions.find(secret, configured))?.kind;
    const byKey = await admin.sessions.open({
      kind: "key",
      id: key.caller.keyId,
      accountId: key.accountId,
    });
    const byToken = await openSession(accounts, token.id);
    const byConfigured = await admin.sessions.open({
      kind: "key",
      id: "configured",
      accountId: "default",
    }, { credential: "sk-configured" });
    const byOperator = await admin.sessions.open(
      { kind: "operator", id: "operator" },
      { credential: "admin-token" },
    );
    assert.deepEqual(
      await Promise.all(
        [byKey, byToken, byConfigured, byOperator].map(({ secret }) =>
          find(secret)
        ),
      ),
      ["key", "manage", "key", "operator"],
    );
    await admin.keys.revoke(key.caller.keyId);
    await admin.tokens.revoke(token.id);
    const changed = { key: "sk-other", operator: "other-token" };
    for (const { secret } of [byKey, byToken, byConfigured, byOperator]) {
      assert.equal(await find(secret, changed), undefined);
    }
  });

  test("a session ends when it is ended, replaced, or ended by another of its account", async (accounts) => {
    const { admin, store } = accounts;
    const { id } = await issuedToken(accounts);
    const isOpen = async (secret: string): Promise<boolean> =>
      await admin.sessions.find(secret, {}) !== undefined;
    const first = await openSession(accounts, id);
    await assertNotStored(store, "console_sessions", first.secret);
    const second = await openSession(accounts, id, { replaces: first.secret });
    assert.equal(await isOpen(first.secret), false);
    assert.equal(await isOpen(second.secret), true);
    assert.deepEqual(
      (await admin.sessions.list("default")).map((one) => one.id),
      [second.session.id],
    );
    assert.equal(await admin.sessions.endOf("other", second.session.id), false);
    assert.equal(await isOpen(second.secret), true);
    assert.equal(
      await admin.sessions.endOf("default", second.session.id),
      true,
    );
    assert.equal(await isOpen(second.secret), false);
    const third = await openSession(accounts, id);
    await admin.sessions.end(third.secret);
    assert.equal(await isOpen(third.secret), false);
  });

  test("a credential keeps its hundred newest sessions", async (accounts) => {
    const { admin, store } = accounts;
    const { id } = await issuedToken(accounts);
    const other = await issuedToken(accounts);
    const kept = await openSession(accounts, other.id);
    const secrets: string[] = [];
    for (let i = 0; i < 105; i++) {
      secrets.push((await openSession(accounts, id)).secret);
      accounts.clock.ms += 1;
    }
    const found = await Promise.all(
      [...secrets, kept.secret].map((secret) =>
        admin.sessions.find(secret, {})
      ),
    );
    assert.deepEqual(
      found.map((one) => one !== undefined),
      found.map((_, at) => at >= 5),
    );
    const rows = await store.read("SELECT id FROM console_sessions");
    assert.equal(rows.length, 101);
  });
}
