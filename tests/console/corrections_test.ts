/** Corrected charges and wrong clocks, as account holders and operators see them. */
import assert from "node:assert/strict";
import {
  chargeFor,
  chargeForLost,
} from "../../gateway/accounts/charges/charge.ts";
import type { LedgerEvent } from "../../gateway/accounts/ledger/events.ts";
import { applyEvents } from "../../gateway/accounts/ledger/transaction.ts";
import { processReports } from "../../gateway/accounts/reports/process_reports.ts";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import type { Store } from "../../gateway/accounts/store/store.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  startConsole,
  visit,
} from "../support/console/visitor.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

type Read = (kind: "read" | "operator", path: string) => Promise<string>;

/** Runs a test with a console, and the store as another process opens it. */
async function withStore(
  run: (gateway: TestGateway, store: Store, read: Read) => Promise<void>,
): Promise<void> {
  await using folder = await temporaryFolder();
  const DATABASE_URL = `sqlite:${folder.path}/gateway.sqlite3`;
  await using gateway = await startConsole({ env: { DATABASE_URL } });
  await using store = await openStore(DATABASE_URL);
  await gateway.accounts.admin.accounts.create({ id: "acme" });
  const { text } = await credentialOf(gateway, "read", "acme");
  await run(gateway, store, async (kind, path) => {
    const visitor = await visit(
      gateway.url,
      kind,
      kind === "read" ? text : ADMIN_TOKEN,
    );
    const html = await visitor.read(path);
    return html.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");
  });
}

Deno.test("the ledger and the page of a call show that an estimate was corrected, and by what arithmetic", () =>
  withStore(async (_gateway, store, read) => {
    const call = {
      requestId: "req_0mw0000000lost",
      accountId: "acme",
      keyId: "key_1",
      model: "vendora-opus-4-8",
      inputTokens: 10,
      maxOutputTokens: 100,
      price: {
        input: 1_000_000,
        cacheRead: 0,
        cacheWrite: 0,
        output: 2_000_000,
      },
      reservedMicroUsd: 210,
      reservedTokens: 110,
      atMs: Date.now(),
    };
    const settle = (charge: ReturnType<typeof chargeFor>): LedgerEvent => ({
      type: "settle",
      call,
      charge,
      atMs: call.atMs,
    });
    for (
      const charge of [
        chargeForLost(call, 100),
        chargeFor(call, {
          usage: { input: 7, output: 90 },
          generatedChars: 360,
          ended: "complete",
        }),
      ]
    ) {
      await store.write((sql) =>
        applyEvents(sql, store.dialect, [settle(charge)])
      );
    }
    const ledger = await read("read", "/console/ledger");
    assert.match(ledger, /estimate corrected\s*req_0mw0000000lost/);
    assert.match(ledger, /−?-?\$0\.00021/);
    const page = await read("read", "/console/calls/req_0mw0000000lost");
    assert.match(page, /First charged by estimate/);
    assert.match(page, /\$0\.000187/);
  }));

Deno.test("the operators' overview names a process whose clock is wrong", () =>
  withStore(async (gateway, store, read) => {
    assert.doesNotMatch(await read("operator", "/console/operator/"), /clock/);
    const reports = processReports(store, Date.now());
    const state = {
      version: "1",
      started_at: "2026-11-22T00:00:00.000Z",
      configuration: { hash: null, loaded_at: "2026-11-22T00:00:00.000Z" },
      calls: { under_way: 0, limit: 10, streams: 0 },
      connections: { open: 0, busy: 0 },
      ledger_backlog: 0,
      clock_ahead_ms: -60_000,
      upstreams: [],
      upstreams_left_out: 0,
    };
    await reports.put(
      "state",
      gateway.accounts.storeClock.now(),
      JSON.stringify(state),
    );
    assert.ok(
      (await read("operator", "/console/operator/notices")).includes(
        `${reports.processId} by 60 s behind`,
      ),
    );
  }));
