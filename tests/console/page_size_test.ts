/** However much there is, a page has a bounded number of lines, bars and bytes. */
import assert from "node:assert/strict";
import { storeCharges } from "../../gateway/accounts/testing/stored_charges.ts";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import {
  credentialOf,
  startConsole,
  visit,
  visitAs,
} from "../support/console/visitor.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const GROUPS = 400;
const DAYS = 20;
const DAY_MS = 86_400_000;
const MAX_BYTES = 150_000;

function count(text: string, part: string | RegExp): number {
  return text.split(part).length - 1;
}

Deno.test("pages of many keys, models, end users and calls show the first ones, and the sums of all", async (t) => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${folder.path}/books.sqlite3`;
  await using gateway = await startConsole({ env: { DATABASE_URL: url } });
  const store = await openStore(url);
  const nowMs = Date.now();
  await storeCharges(
    store,
    Array.from({ length: GROUPS * DAYS }, (_, at) => ({
      requestId: `req_${(nowMs - at % DAYS * DAY_MS).toString(36)}${
        String(at).padStart(8, "0")
      }`,
      keyId: `key_${at % GROUPS}`,
      model: `model_${at % GROUPS}`,
      user: `user_${at % GROUPS}`,
      tokens: { input: 1000, cacheRead: 0, cacheWrite: 0, output: 0 },
      price: { input: 1_000_000, cacheRead: 0, cacheWrite: 0, output: 0 },
      atMs: nowMs - at % DAYS * DAY_MS,
    })),
  );
  const { admin } = gateway.accounts;
  const { record } = await admin.keys.issue({ accountId: "default" });
  // The ids of all of these come before those of real keys.
  const others = Array.from({ length: 1100 }, (_, at) => `key_0${at}`);
  await storeCharges(
    store,
    [...others, record.id].map((keyId, at) => ({
      requestId: `req_of_a_key_${at}`,
      keyId,
      model: "model_0",
      tokens: { input: 0, cacheRead: 0, cacheWrite: 0, output: 1 },
      price: { input: 0, cacheRead: 0, cacheWrite: 0, output: 7e12 },
      atMs: nowMs,
    })),
  );
  await store.close();
  await t.step("the cost of a key among many", async () => {
    const { text } = await credentialOf(gateway, "read");
    const { get } = await visit(gateway.url, "read", text);
    const reply = await get("/console/keys");
    assert.match(
      await reply.text(),
      new RegExp(`key=${record.id}&amp;kind=charge"><data value="7000000">`),
    );
  });
  const { get } = await visitAs(gateway, "operator");
  const read = async (path: string): Promise<string> => {
    const reply = await get(`/console/operator${path}`);
    assert.equal(reply.status, 200);
    return await reply.text();
  };
  for (
    const by of ["key", "model", "user&account=default", "account", "day"]
  ) {
    await t.step(`usage by ${by}`, async () => {
      const html = await read(`/usage?by=${by}`);
      assert.ok(html.length < MAX_BYTES, `${html.length} bytes`);
      const lines = count(html.split("<tbody>")[1] ?? "", "<tr>") - 1;
      assert.equal(lines, by === "account" ? 1 : by === "day" ? DAYS : 100);
      // Of 30 days those with usage have a bar of at most seven parts.
      assert.ok(count(html, /<rect class="s\d"/) <= 31 * 7 + 7 + 1);
      assert.ok(html.includes("8,000"), "the sum of all lines");
    });
  }
  for (const path of ["/", "/ledger", "/calls", "/keys", "/accounts"]) {
    await t.step(path, async () => {
      const html = await read(path);
      assert.ok(html.length < MAX_BYTES, `${html.length} bytes`);
    });
  }
});
