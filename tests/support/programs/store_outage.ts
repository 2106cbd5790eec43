/**
 * Gateway processes under load while their store fails: what clients receive, and whether the
 * ledger agrees with it.
 */
import assert from "node:assert/strict";
import { openAdmin } from "../../../gateway/accounts/repositories/admin.ts";
import type { LedgerEntry } from "../../../gateway/accounts/mod.ts";
import { withCorrections } from "../../../gateway/accounts/ledger/correction.ts";
import { openStore } from "../../../gateway/accounts/store/open_store.ts";
import { compact } from "../../../translate/bytes/compact.ts";
import { type Program, startProgram } from "./program.ts";
import { withTimeout } from "../with_timeout.ts";
import {
  billedUsage,
  FORMAT_PAIRS,
  type FormatPair,
  reportedUsage,
  requestBody,
  requestIdOf,
  type TokenCounts,
} from "../tables/billing.ts";

/** The key of the default account. */
export const CONFIGURED_KEY = "sk-0123456789abcdefghij";
const GIVEN_MICRO_USD = 1_000_000_000;
/** Parallel calls at each process. */
export const LANES = 4;

/** Gateway processes under load, and the replies that their clients received. */
export interface Load {
  readonly programs: readonly Program[];
  /**
   * Adds the complete reply of a call made by the test itself to the comparison with the ledger.
   */
  keep(path: FormatPair["path"], response: Response, body: string): void;
  /** Resolves once each process has given `replies` more complete replies. */
  served(replies: number): Promise<void>;
  /** Resolves once each process has refused `calls` more calls with 503; absent: one. */
  refused(calls?: number): Promise<void>;
}

interface Watch {
  readonly kind: "served" | "refused";
  readonly left: number[];
  readonly reached: () => void;
}

/**
 * Sends calls to every process until `run` ends; fails at once if a process ends or a reply is
 * wrong. Returns the usage of every complete reply, by request id.
 */
async function underLoad(
  programs: readonly Program[],
  keys: readonly string[],
  run: (load: Load) => Promise<void>,
): Promise<ReadonlyMap<string, TokenCounts>> {
  const whole = new Map<string, TokenCounts>();
  const watches = new Set<Watch>();
  let over = false;
  const note = (kind: Watch["kind"], program: number): void => {
    for (const watch of [...watches]) {
      if (watch.kind !== kind) continue;
      watch.left[program] = (watch.left[program] ?? 0) - 1;
      if (watch.left.every((left) => left <= 0)) watch.reached();
    }
  };
  const until = (kind: Watch["kind"], times: number): Promise<void> =>
    new Promise((resolve) => {
      const watch: Watch = {
        kind,
        left: programs.map(() => times),
        reached: () => {
          watches.delete(watch);
          resolve();
        },
      };
      watches.add(watch);
    });
  const keep: Load["keep"] = (path, response, body) => {
    const id = requestIdOf(response);
    assert.ok(!whole.has(id), "two replies have one id");
    whole.set(id, reportedUsage(path, body));
  };
  const lane = async (index: number, at: number): Promise<void> => {
    const url = programs[at]?.url ?? "";
    const key = keys[index % keys.length] ?? "";
    for (let call = index; !over; call++) {
      const pair = FORMAT_PAIRS[call % FORMAT_PAIRS.length] ?? FORMAT_PAIRS[0];
      assert.ok(pair !== undefined);
      const isLong = call % 3 === 0;
      const response = await fetch(url + pair.path, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify(
          requestBody(pair, isLong ? "[[fx:text-long]]" : "Hi", call % 4 < 2),
        ),
      });
      const body = await response.text();
      if (response.status === 503) {
        assert.match(response.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
        assert.match(body, /the accounts cannot be reached/);
        note("refused", at);
        await new Promise((resolve) => setTimeout(resolve, 20));
        continue;
      }
      assert.equal(response.status, 200, body);
      // A stream that has begun runs to its end even if the database fails.
      const isStream = response.headers.get("content-type")?.includes("event");
      if (isStream) {
        assert.match(body, /event: message_stop|data: \[DONE\]/, body);
      }
      keep(pair.path, response, body);
      note("served", at);
    }
  };
  const lanes = programs.flatMap((_, at) =>
    Array.from({ length: LANES }, (_, index) => lane(index, at))
  );
  const ended = Promise.race(programs.map(async (program) => {
    const code = await program.ended;
    assert.ok(over, `a program ended with ${code}:\n${program.output()}`);
  }));
  try {
    await Promise.race([
      run({
        programs,
        keep,
        served: (replies) => until("served", replies),
        refused: (calls = 1) => until("refused", calls),
      }),
      Promise.all(lanes),
      ended,
    ]);
  } finally {
    over = true;
    await Promise.allSettled(lanes);
  }
  await Promise.all(lanes);
  return whole;
}

interface OutageOptions {
  /** `DATABASE_URL` of the gateway processes. */
  readonly databaseUrl: string;
  /** `DATABASE_URL` for the test itself at the end; absent: the same. */
  readonly adminUrl?: string;
  /** The same before the start; absent: as at the end. */
  readonly setUpUrl?: string;
  readonly programs: number;
  /** See {@linkcode ProgramOptions.starter}. */
  readonly starter?: readonly string[];
}

/**
 * Starts the processes, lets `run` disturb their store under load, stops them with SIGTERM, and
 * compares the clients' replies with the ledger.
 */
export async function ledgerStaysExact(
  {
    databaseUrl,
    adminUrl = databaseUrl,
    setUpUrl = adminUrl,
    programs: count,
    starter,
  }: OutageOptions,
  run: (load: Load) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const programs: Program[] = [];
  try {
    const setUp = await openStore(setUpUrl);
    const admin = await openAdmin(setUp, () => true);
    await admin.accounts.create({ id: "prepaid" });
    await admin.accounts.topUp("prepaid", { microUsd: GIVEN_MICRO_USD });
    const { text: key = "" } = await admin.keys.issue({ accountId: "prepaid" });
    await setUp.close();
    while (programs.length < count) {
      programs.push(
        await startProgram({
          folder,
          env: {
            DATABASE_URL: databaseUrl,
            GATEWAY_KEY: CONFIGURED_KEY,
            GATEWAY_UPSTREAM: "replay",
            GATEWAY_LOG: "none",
          },
          ...compact({ starter }),
        }),
      );
    }
    for (const program of programs) {
      assert.notEqual(program.url, "", program.output());
    }
    const whole = await underLoad(programs, [key, CONFIGURED_KEY], run);
    for (const program of programs) {
      program.signal("SIGTERM");
      assert.equal(
        await withTimeout(program.ended, "the end"),
        0,
        program.output(),
      );
    }
    await compareWithLedger(adminUrl, whole);
  } finally {
    for (const program of programs) await program[Symbol.asyncDispose]();
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Every complete reply is in the ledger once, with the usage that its client received; nothing else
 * was charged.
 */
async function compareWithLedger(
  adminUrl: string,
  whole: ReadonlyMap<string, TokenCounts>,
): Promise<void> {
  await using store = await openStore(adminUrl);
  const admin = await openAdmin(store, () => true);
  assert.deepEqual(await admin.audit(), []);
  const byId = new Map<string, LedgerEntry>();
  let spent = 0;
  const charges: LedgerEntry[] = [];
  for await (const page of admin.allLedger({ kind: "charge" })) {
    charges.push(...page);
  }
  // A process that stalled may find that another one has charged its calls by estimate.
  for (const entry of withCorrections(charges)) {
    assert.ok(!byId.has(entry.requestId), "charged twice");
    byId.set(entry.requestId, entry);
    if (entry.accountId === "prepaid") spent += entry.microUsd;
  }
  for (const [id, figures] of whole) {
    const entry = byId.get(id);
    assert.ok(entry !== undefined, `${id} is not in the ledger`);
    assert.deepEqual(billedUsage(entry), figures);
  }
  // A call refused because its reservation was uncertain is reversed, or charged nothing.
  for (const [id, entry] of byId) {
    if (!whole.has(id)) assert.equal(entry.microUsd, 0, id);
  }
  const account = await admin.accounts.get("prepaid");
  assert.equal(account.balanceMicroUsd, GIVEN_MICRO_USD + spent);
  assert.deepEqual([account.reservedMicroUsd, account.openRequests], [
    0,
    0,
  ]);
  assert.deepEqual(await store.read("SELECT * FROM open_calls"), []);
}
