/** `GET /v1/account/ledger/export`: the file of an account, and of no other. */
import assert from "node:assert/strict";
import { csvRows } from "../support/console/csv_rows.ts";
import {
  ADMIN_TOKEN,
  startConsole,
  visit,
} from "../support/console/visitor.ts";
import { startTestGateway } from "../support/test_gateway.ts";
import { bearer } from "../support/clients/bearer.ts";

Deno.test("the export has every line of the token's account, and no other's", async () => {
  await using gateway = await startTestGateway();
  const { admin } = gateway.accounts;
  const lines = new Map<string, readonly string[]>();
  for (const name of ["mine", "other"]) {
    const { id } = await admin.accounts.create({ id: name });
    const first = await admin.accounts.topUp(id, { microUsd: 5 });
    const second = await admin.accounts.topUp(id, { microUsd: 7 });
    lines.set(name, [first.requestId, second.requestId]);
  }
  const { text: token = "" } = await admin.tokens.issue({
    accountId: "mine",
    scope: "read",
  });
  const get = (query: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/account/ledger/export${query}`, bearer(token));
  const whole = await get("");
  assert.equal(
    whole.headers.get("content-type"),
    "application/jsonl; charset=utf-8",
  );
  const ids = (await whole.text()).trimEnd().split("\n").map((line) => {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "object" && entry !== null &&
      "request_id" in entry && entry.request_id;
  });
  assert.deepEqual(ids, lines.get("mine"));
  const [, second = ""] = lines.get("mine") ?? [];
  const csv = await get(`?format=csv&request_id=${second}`);
  assert.equal(csv.headers.get("content-type"), "text/csv; charset=utf-8");
  const [head = "", line = "", ...rest] = (await csv.text()).trimEnd().split(
    /\r?\n/,
  );
  assert.match(head, /request_id/);
  assert.ok(line.includes(second));
  assert.deepEqual(rest, []);
  const refused = await get("?account=other");
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /account/);
});

Deno.test("in FOCUS columns operators see the vendor that served a call, and its account does not", async () => {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  await (await gateway.call({ model: "vendorb-5" })).text();
  await gateway.recorded();
  const { text: token = "" } = await admin.tokens.issue({
    accountId: "default",
    scope: "read",
  });
  const operator = await visit(gateway.url, "operator", ADMIN_TOKEN);
  const holder = await visit(gateway.url, "read", token);
  const get = (path: string, credential: string): Promise<Response> =>
    fetch(`${gateway.url}${path}?format=focus`, bearer(credential));
  for (
    const [reply, provider] of [
      [get("/admin/v1/ledger/export", ADMIN_TOKEN), "vendorb"],
      [operator.get("/console/operator/ledger.csv?format=focus"), "vendorb"],
      [get("/v1/account/ledger/export", token), "Model Gateway"],
      [holder.get("/console/ledger.csv?format=focus"), "Model Gateway"],
    ] as const
  ) {
    const file = await reply;
    const text = await file.text();
    assert.equal(file.status, 200, text);
    const rows = csvRows(text);
    assert.ok(rows.length > 0);
    for (const row of rows) {
      assert.equal(row["ProviderName"], provider);
      assert.equal(row["PublisherName"], provider);
      assert.equal(row["InvoiceIssuerName"], "Model Gateway");
    }
  }
});
