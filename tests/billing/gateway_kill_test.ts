/**
 * The gateway under kill -9, and two gateways on one store: no received reply is missing from the
 * ledger, and none is charged twice.
 */
import assert from "node:assert/strict";
import { openAdmin } from "../../gateway/accounts/repositories/admin.ts";
import type { Admin, LedgerEntry } from "../../gateway/accounts/mod.ts";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import type { Store } from "../../gateway/accounts/store/store.ts";
import {
  billedUsage,
  FORMAT_PAIRS,
  reportedUsage,
  requestBody,
  requestIdOf,
  type TokenCounts,
} from "../support/tables/billing.ts";
import { type Program, startProgram } from "../support/programs/program.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const CONFIGURED_KEY = "sk-0123456789abcdefghij";
const KILLS = 20;

function settings(databaseUrl: string): Parameters<typeof startProgram>[0] {
  return {
    folder: ".",
    env: {
      DATABASE_URL: databaseUrl,
      GATEWAY_KEY: CONFIGURED_KEY,
      GATEWAY_UPSTREAM: "replay",
    },
  };
}

async function startGateway(databaseUrl: string): Promise<Program> {
  const program = await startProgram(settings(databaseUrl));
  assert.notEqual(program.url, "", program.output());
  return program;
}

async function stop(program: Program): Promise<void> {
  program.signal("SIGTERM");
  assert.equal(await program.ended, 0, program.output());
}

/** Creates a store with a prepaid account, runs the test on it, then checks the final ledger. */
async function withBooks(
  microUsd: number,
  run: (databaseUrl: string, key: string) => Promise<void>,
  check: (admin: Admin, store: Store) => Promise<void>,
): Promise<void> {
  await using folder = await temporaryFolder();
  const databaseUrl = `sqlite:${folder.path}/gateway.sqlite3`;
  const opened = async (
    use: (admin: Admin, store: Store) => Promise<void>,
  ): Promise<void> => {
    await using store = await openStore(databaseUrl);
    await use(await openAdmin(store, () => true), store);
  };
  let key = "";
  await opened(async (admin) => {
    await admin.accounts.create({ id: "prepaid" });
    await admin.accounts.topUp("prepaid", { microUsd });
    // With limits that are never reached, so that the audit covers the key's own sums.
    const issued = await admin.keys.issue({
      accountId: "prepaid",
      requestsPerMinute: 1_000_000,
      tokensPerWeek: 1e12,
    });
    key = issued.text ?? "";
  });
  await run(databaseUrl, key);
  await opened(check);
}

async function chargesOf(
  admin: Admin,
  accountId: string,
): Promise<readonly LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  for await (
    const page of admin.allLedger({ accountId, kind: "charge" })
  ) entries.push(...page);
  return entries;
}

function sumOf(entries: readonly LedgerEntry[]): number {
  return entries.reduce((sum, { microUsd }) => sum + microUsd, 0);
}

/**
 * Makes calls to both endpoints, streamed and whole, in every pair of formats, until the gateway is
 * killed. Collects the usage of every complete reply.
 */
async function load(
  url: string,
  key: string,
  lane: number,
  onPiece: () => void,
  whole: Map<string, TokenCounts>,
): Promise<void> {
  for (let call = lane;; call++) {
    const pair = FORMAT_PAIRS[call % FORMAT_PAIRS.length] ?? FORMAT_PAIRS[0];
    assert.ok(pair !== undefined);
    let response: Response;
    let body = "";
    try {
      response = await fetch(url + pair.path, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify(
          requestBody(
            pair,
            call % 3 === 0 ? "[[fx:text-long]]" : "Hi",
            call % 4 < 2,
          ),
        ),
      });
      const pieces = response.body?.pipeThrough(new TextDecoderStream()) ?? [];
      for await (const piece of pieces) {
        body += piece;
        onPiece();
      }
    } catch {
      return;
    }
    assert.equal(response.status, 200, body);
    const isStream = response.headers.get("content-type")?.includes("event");
    if (isStream && !/event: message_stop|data: \[DONE\]/.test(body)) return;
    const id = requestIdOf(response);
    assert.ok(!whole.has(id), "two replies have one id");
    whole.set(id, reportedUsage(pair.path, body));
  }
}

Deno.test(`kill -9 under load, ${KILLS} times: every complete reply is in the ledger once, and the ledger balances`, async () => {
  const given = 1_000_000_000;
  const whole = new Map<string, TokenCounts>();
  // Numbers of pieces. Early moments are more frequent: what comes before a late one costs more
  // than the start.
  const moments = Array.from(
    { length: KILLS },
    () => 1 + Math.floor(Math.random() ** 2 * 1000),
  );
  await withBooks(given, async (databaseUrl, key) => {
    for (const moment of moments) {
      await using program = await startGateway(databaseUrl);
      let pieces = 0;
      const onPiece = (): void => {
        if (++pieces === moment) program.signal("SIGKILL");
      };
      const lanes = Array.from({ length: 8 }, (_, lane) =>
        load(
          program.url,
          lane % 2 === 0 ? key : CONFIGURED_KEY,
          lane,
          onPiece,
          whole,
        ));
      await Promise.all(lanes);
    }
    // The next start settles what the last kill left open.
    await using program = await startGateway(databaseUrl);
    await stop(program);
    await using audit = await startProgram({
      ...settings(databaseUrl),
      command: ["gateway/cli/cli.ts", "ledger", "audit"],
      until: /\n/,
    });
    await audit.ended;
    assert.equal(audit.output(), "The books balance.\n");
  }, async (admin, store) => {
    const prepaid = await chargesOf(admin, "prepaid");
    const postpaid = await chargesOf(admin, "default");
    const entries = [...prepaid, ...postpaid];
    const byId = new Map(entries.map((entry) => [entry.requestId, entry]));
    assert.equal(byId.size, entries.length, "a request is in the ledger twice");
    for (const [id, figures] of whole) {
      const entry = byId.get(id);
      assert.ok(
        entry !== undefined,
        `${id} is not in the ledger; killed at ${moments}`,
      );
      if (entry.ended === "lost") assert.equal(entry.estimated, true);
      else assert.deepEqual(billedUsage(entry), figures);
    }
    const account = await admin.accounts.get("prepaid");
    assert.equal(account.balanceMicroUsd, given + sumOf(prepaid));
    assert.equal(
      (await admin.accounts.get("default")).balanceMicroUsd,
      sumOf(postpaid),
    );
    assert.deepEqual(
      [account.reservedMicroUsd, account.openRequests],
      [0, 0],
    );
    assert.deepEqual(await store.read("SELECT * FROM open_calls"), []);
    assert.deepEqual(await admin.audit(), []);
    const lost = entries.filter(({ ended }) => ended === "lost");
    assert.ok(whole.size > KILLS, "hardly any reply came through");
    assert.ok(lost.length > 0, "no kill happened during a call");
  });
});

Deno.test("two processes on one SQLite file spend one balance completely and do not overdraw it", async () => {
  const given = 100_000;
  /**
   * More than the worst-case cost of a call: a short prompt and twenty output tokens, in
   * micro-dollars.
   */
  const worst = 700;
  const served = new Map<string, Set<string>>();
  await withBooks(given, async (databaseUrl, key) => {
    await using one = await startGateway(databaseUrl);
    await using two = await startGateway(databaseUrl);
    const spend = async (url: string, lane: number): Promise<void> => {
      for (let call = lane;; call++) {
        const path = call % 2 === 0 ? "/v1/messages" : "/v1/chat/completions";
        const response = await fetch(url + path, {
          method: "POST",
          headers: { "x-api-key": key, "content-type": "application/json" },
          body: JSON.stringify({
            ...requestBody(
              { path, model: "vendora-opus-4-8" },
              "Hi",
              call % 4 < 2,
            ),
            max_tokens: 20,
          }),
        });
        const body = await response.text();
        if (response.status === 403) {
          assert.match(body, /"code":"insufficient_balance"/);
          return;
        }
        assert.equal(response.status, 200, body);
        const ids = served.get(url) ?? new Set();
        served.set(url, ids.add(requestIdOf(response)));
      }
    };
    await Promise.all(
      [one, two].flatMap(({ url }) =>
        [0, 1, 2, 3].map((lane) => spend(url, lane))
      ),
    );
    await stop(one);
    // The balance that the first process had reserved is free again and is spent here.
    await spend(two.url, 0);
    await stop(two);
  }, async (admin) => {
    assert.equal(served.size, 2, "one of the two served nothing");
    const charges = await chargesOf(admin, "prepaid");
    const ids = [...served.values()].flatMap((set) => [...set]);
    assert.deepEqual(
      charges.map(({ requestId }) => requestId).toSorted(),
      ids.toSorted(),
    );
    const { balanceMicroUsd, reservedMicroUsd } = await admin.accounts.get(
      "prepaid",
    );
    assert.equal(balanceMicroUsd, given + sumOf(charges));
    assert.ok(
      balanceMicroUsd >= 0 && balanceMicroUsd < worst,
      `${balanceMicroUsd} is left`,
    );
    assert.equal(reservedMicroUsd, 0);
    assert.deepEqual(await admin.audit(), []);
  });
});
