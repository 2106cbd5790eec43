import assert from "node:assert/strict";
import { openAdmin } from "../repositories/admin.ts";
import { claimMessages } from "../rows/webhook_rows.ts";
import { openStore } from "./open_store.ts";
import { fileSeal, isSealed, passingSeal } from "./secret_seal.ts";
import { textOf } from "./store.ts";
import { temporaryFolder } from "../../../tests/support/temporary_folder.ts";

const SECRET = "whsec_0123456789";

Deno.test("a sealed secret opens with its key and for its record alone", () => {
  const seal = passingSeal();
  const sealed = seal.close("a", SECRET);
  assert.ok(isSealed(sealed) && !sealed.includes(SECRET));
  assert.notEqual(seal.close("a", SECRET), sealed);
  assert.equal(seal.open("a", sealed), SECRET);
  assert.equal(seal.open("b", sealed), undefined);
  assert.equal(passingSeal().open("a", sealed), undefined);
  assert.equal(seal.open("a", `${sealed.slice(0, -6)}AAAA==`), undefined);
  assert.equal(seal.open("a", SECRET), undefined);
});

Deno.test("secrets of webhooks are sealed in the file, those of older versions at the next start; without the key file they are lost", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/store.sqlite3`;
  const stored = async (): Promise<string> => {
    await using store = await openStore(`sqlite:${path}`);
    const [row = {}] = await store.read("SELECT secret FROM webhooks");
    return textOf(row, "secret");
  };
  /** The secret with which the next message is signed. */
  const used = async (): Promise<string | undefined> => {
    await using store = await openStore(`sqlite:${path}`);
    const admin = await openAdmin(store, () => true);
    await admin.webhooks.test("a");
    const [message] = await claimMessages(store, Date.now() + 1000, [0], [], 1);
    return message?.secret;
  };
  const store = await openStore(`sqlite:${path}`);
  const admin = await openAdmin(store, () => true);
  await admin.plans.create({ id: "p" });
  await admin.accounts.create({ id: "a", planId: "p" });
  const { secret = "" } = await admin.webhooks.set("a", "https://h.example/");
  await store.close();
  assert.ok(isSealed(await stored()));
  assert.equal(await used(), secret);

  const older = await openStore(`sqlite:${path}`);
  await older.write((sql) =>
    sql.all("UPDATE webhooks SET secret = $1", [SECRET])
  );
  await older.close();
  assert.ok(isSealed(await stored()));
  assert.equal(await used(), SECRET);

  await Deno.remove(`${path}-key`);
  assert.equal(await used(), undefined);
  await Deno.writeTextFile(`${path}-key`, "short");
  assert.throws(() => fileSeal(`${path}-key`), /32 bytes/);
});
