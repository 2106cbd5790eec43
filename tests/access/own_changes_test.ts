/** The changes that an account sees: its own, without the names and sessions of its operators. */
import assert from "node:assert/strict";
import { csvRows } from "../support/console/csv_rows.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  startConsole,
  visit,
} from "../support/console/visitor.ts";
import { bearer } from "../support/clients/bearer.ts";
import { statusOf } from "../support/status_of.ts";

Deno.test("an account sees who changed its keys and access, and nothing of another account", async () => {
  await using gateway = await startConsole();
  const { url, accounts: { admin } } = gateway;
  const operator = await visit(url, "operator", ADMIN_TOKEN);
  for (const id of ["ours", "theirs"]) {
    assert.equal(
      await statusOf(operator.post("/console/operator/accounts/new", {
        id,
        plan: "unlimited",
        idempotency_key: crypto.randomUUID(),
      })),
      303,
    );
  }
  const their = await admin.keys.issue({ accountId: "theirs", name: "T" });
  const { text: token, id: tokenId } = await credentialOf(
    gateway,
    "manage",
    "ours",
  );
  const visitor = await visit(url, "manage", token);
  assert.equal(
    await statusOf(visitor.post("/console/keys/new", {
      name: "<b>=1+1</b>",
      idempotency_key: crypto.randomUUID(),
    })),
    200,
  );
  const expected = [
    "key.issue",
    "session.start",
    "token.issue",
    "account.create",
  ];
  const reply = await fetch(`${url}/v1/account/changes`, bearer(token));
  const { data } = await reply.json();
  assert.deepEqual(
    data.map(({ action }: { action: string }) => action),
    expected,
  );
  assert.equal(data[0].actor_id, tokenId);
  const created = data.at(-1);
  assert.equal(created.actor_kind, "operator");
  assert.deepEqual(
    [created.session, created.actor_name ?? null, created.actor_id ?? null],
    [null, null, null],
  );
  const file = csvRows(
    await visitor.read("/console/changes.csv"),
  );
  assert.deepEqual(
    file.map(({ action }) => action),
    expected.filter((action) => action !== "session.start"),
  );
  const html = await visitor.read("/console/changes");
  assert.match(html, /&lt;b>=1\+1&lt;\/b>/);
  assert.ok(!html.includes("/console/operator"));
  const other = await visitor.get(
    `/console/changes?target=${their.record.id}`,
  );
  assert.match(await other.text(), /No changes match these filters/);
  const refused = await visitor.get("/console/changes?account=theirs");
  assert.equal(refused.status, 400);
  assert.match(
    await refused.text(),
    /This page has no parameter &quot;account/,
  );
});
