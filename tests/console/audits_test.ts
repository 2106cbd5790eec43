/** The daily audit of the books, as account holders and operators see it. */
import assert from "node:assert/strict";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  startConsole,
  visit,
} from "../support/console/visitor.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { bearer } from "../support/clients/bearer.ts";

Deno.test("the proof is on the account's ledger, the operators' overview and in the metrics, and so is a difference", async () => {
  await using folder = await temporaryFolder();
  const DATABASE_URL = `sqlite:${folder.path}/gateway.sqlite3`;
  await using gateway = await startConsole({ env: { DATABASE_URL } });
  const { accounts, url } = gateway;
  const { admin } = accounts;
  await admin.accounts.create({ id: "acme" });
  await admin.accounts.topUp("acme", { microUsd: 5_000_000 });
  const { text: token } = await credentialOf(gateway, "read", "acme");
  const { text: key } = await credentialOf(gateway, "key", "acme");
  const reply = await gateway.call({}, key);
  await reply.text();
  await accounts.flush();
  const read = async (
    kind: "read" | "operator",
    path: string,
  ): Promise<string> => {
    const visitor = await visit(
      url,
      kind,
      kind === "read" ? token : ADMIN_TOKEN,
    );
    const html = await visitor.read(path);
    return html.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");
  };
  const metrics = async (): Promise<string> =>
    await (await fetch(`${url}/metrics`, bearer(ADMIN_TOKEN))).text();
  assert.match(await read("read", "/console/ledger"), /not audited yet/);
  assert.doesNotMatch(await metrics(), /^gateway_audit_findings \d/m);
  await accounts.runAudit();
  assert.match(
    await read("read", "/console/ledger"),
    /Audited [-\d]+ [:\d]+ UTC: balance = sum of 2 lines = sum of days\./,
  );
  for (const path of ["/console/operator/", "/console/operator/ledger"]) {
    assert.match(
      await read("operator", path),
      /Audited [-\d]+ [:\d]+ UTC: 2 accounts agree with the sum of 2 lines and of the days\./,
      path,
    );
  }
  assert.match(
    await read("operator", "/console/operator/ledger?account=acme"),
    /balance = sum of 2 lines/,
  );
  assert.match(await metrics(), /^gateway_audit_findings 0$/m);
  assert.match(await metrics(), /^gateway_audit_timestamp_seconds \d{10}$/m);
  const store = await openStore(DATABASE_URL);
  await store.write(async (sql) => {
    await sql.all(
      "UPDATE accounts SET balance_micro_usd = balance_micro_usd - 1 WHERE id = 'acme'",
    );
    // As on the next day.
    await sql.all("UPDATE audit_turn SET done_ms = 0");
  });
  await store.close();
  await accounts.runAudit();
  const difference =
    /the balance differs from the sum of the ledger: \d+ stored, \d+ computed/;
  assert.match(
    await read("operator", "/console/operator/"),
    /The last audit of the books found differences ?: ?acme: the balance/,
  );
  assert.match(
    await read("operator", "/console/operator/ledger?account=acme"),
    difference,
  );
  assert.match(await metrics(), /^gateway_audit_findings 1$/m);
  const alarm = gateway.events.find(({ type }) => type === "audit_differences");
  assert.match(JSON.stringify(alarm), difference);
  const { data } =
    await (await fetch(`${url}/admin/v1/audits`, bearer(ADMIN_TOKEN))).json();
  assert.deepEqual(
    data.map((audit: { kind: string; findings: string[] }) => [
      audit.kind,
      audit.findings.length,
    ]),
    [["daily", 1], ["daily", 0]],
  );
});
