/**
 * What one party can do to all others, beside right calls: bodies that cost much to read, reports, a
 * log that is left unread, a store that is locked. The calls stay right meanwhile.
 *
 * @module
 */
import { DatabaseSync } from "node:sqlite";
import type { SoakGateway } from "./soak_gateway.ts";
import { behaviourTag } from "./soak_upstream.ts";
import { quantile } from "./statistics.ts";

/** Longer than the gateway waits for the store. */
const LOCKED_MS = 5_000;
const LOCK_EVERY_MS = 15_000;
const STALL_MS = 3_000;
const STALL_EVERY_MS = 10_000;
const RIGHT_EVERY_MS = 100;
const LIES_EVERY_MS = 500;
const REPORTERS = 8;
/** Between two reports, and two bodies, of a hostile party: it is to disturb, not to use all processor time. */
const REPORT_PAUSE_MS = 200;
const BODY_PAUSE_MS = 300;
/** Parts of the run whose calls are timed apart. */
const PARTS = 5;

/** What is attacked. */
export interface HostileSoak {
  readonly gateway: SoakGateway;
  /** Of the account of the right calls, and of one that attacks. */
  readonly keys: readonly [string, string];
  /** The SQLite file. */
  readonly file: string;
  readonly seconds: number;
}

/** What came of it. */
export interface HostileResult {
  /** Calls that have a line in the log. */
  readonly calls: number;
  readonly lines: readonly string[];
  readonly findings: readonly string[];
}

const HI = '[{"role":"user","content":"hi"}]';
const many = (count: number, one: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => one(i)).join();
const BODIES: readonly string[] = [
  `"messages":${HI},${many(990, (i) => `"k${i}":1`)}`,
  `"messages":${HI},${many(200_000, (i) => `"k${i}":1`)}`,
  `"messages":[${many(30_000, () => '{"role":"user","content":"a"}')}]`,
  `"messages":[${many(20_000, () => '{"role":7,"content":{}}')}]`,
  `"messages":[{"role":"user","content":"${'\\"'.repeat(4e6)}"}]`,
  `"messages":${HI},"x":${"[".repeat(90_000)}${"]".repeat(90_000)}`,
  `"messages":${HI},"metadata":{"a":${"1".repeat(5e5)}}`,
  `"messages":${HI},"messages":${HI}`,
  `"messages":${HI},"Model":"b"`,
  `"messages":${HI},"a":"${"x".repeat(3e6)}`,
  `"messages":${HI},"tools":[{"name":"f","input_schema":{"properties":{${
    many(30_000, (i) => `"p${i}":{}`)
  }}}}]`,
];
const REPORTS: readonly string[] = [
  "/v1/usage?by=user",
  "/v1/usage?by=day,model,user",
  "/v1/calls?limit=100",
];
const EXPECTED = {
  // The upstream shares the machine, and its time is short.
  body: [200, 400, 413, 429, 503, 504],
  lies: [200, 503],
  report: [200, 429, 503],
  right: [200, 503],
};

/** Attacks until the time is over. */
export async function runHostile(
  { gateway, keys, file, seconds }: HostileSoak,
): Promise<HostileResult> {
  const startMs = performance.now();
  const isOver = (): boolean => performance.now() - startMs > seconds * 1000;
  const counts = new Map<string, number>();
  const findings: string[] = [];
  let calls = 0;
  let isLocked = false;
  const times: { readonly atMs: number; readonly tookMs: number }[] = [];

  const ask = async (
    kind: keyof typeof EXPECTED,
    key: string,
    path: string,
    body?: string,
  ): Promise<void> => {
    const locked = isLocked;
    const atMs = performance.now();
    try {
      const response = await fetch(gateway.url + path, {
        headers: { "x-api-key": key, "content-type": "application/json" },
        ...(body === undefined ? {} : { method: "POST", body }),
      });
      const text = await response.text();
      const { status } = response;
      // A stream that began with a ping before its reservation was durable.
      const isError = status === 200 && text.includes("event: error");
      const name = `${kind} ${status}${isError ? ", error" : ""}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (!EXPECTED[kind].includes(status)) {
        findings.push(`${name}: ${text.slice(0, 200)}`);
      }
      if (kind !== "right") return;
      if (status === 200 && !isError && !text.includes("message_stop")) {
        findings.push("a right call has no end");
      }
      if (status === 503 && !locked && !isLocked) {
        findings.push("a right call was refused while the store was there");
      }
      if (!locked && !isLocked) {
        times.push({ atMs: atMs - startMs, tookMs: performance.now() - atMs });
      }
    } catch (error) {
      findings.push(`${kind}: ${error}`);
    }
  };
  const every = async (ms: number, work: () => unknown): Promise<void> => {
    while (!isOver()) {
      await pause(ms);
      if (!isOver()) await work();
    }
  };
  const streamed = (behaviour: "good" | "lies"): string =>
    JSON.stringify({
      model: "vendora-opus-4-8",
      max_tokens: 10,
      stream: true,
      messages: [{ role: "user", content: behaviourTag(behaviour, "beside") }],
    });
  const pending = new Set<Promise<void>>();
  await Promise.all([
    every(RIGHT_EVERY_MS, () => {
      calls++;
      const call = ask("right", keys[0], "/v1/messages", streamed("good"));
      pending.add(call);
      call.finally(() => pending.delete(call));
    }),
    every(LIES_EVERY_MS, () => {
      calls++;
      return ask("lies", keys[1], "/v1/messages", streamed("lies"));
    }),
    ...["/v1/messages", "/v1/chat/completions"].map(async (path, lane) => {
      for (let at = lane; !isOver(); at++) {
        calls++;
        const fields = BODIES[at % BODIES.length] ?? "";
        await ask(
          "body",
          keys[1],
          path,
          `{"model":"vendorb-5","max_tokens":9,${fields}}`,
        );
        await pause(BODY_PAUSE_MS);
      }
    }),
    ...Array.from({ length: REPORTERS }, async (_, lane) => {
      for (let at = lane; !isOver(); at++) {
        await ask("report", keys[1], REPORTS[at % REPORTS.length] ?? "");
        await pause(REPORT_PAUSE_MS);
      }
    }),
    every(STALL_EVERY_MS, () => gateway.stallLog(STALL_MS)),
    every(LOCK_EVERY_MS, async () => {
      const other = new DatabaseSync(file);
      try {
        other.exec("PRAGMA busy_timeout = 1000; BEGIN IMMEDIATE");
        isLocked = true;
        await pause(LOCKED_MS);
        other.exec("ROLLBACK");
        // What waited for it comes first.
        await pause(1_000);
      } finally {
        isLocked = false;
        other.close();
      }
    }),
  ]);
  await Promise.all(pending);
  const rows = [...counts].toSorted(([a], [b]) => a < b ? -1 : 1);
  return {
    calls,
    findings,
    lines: [
      ...rows.map(([what, count]) => `${what.padEnd(18)} ${count}`),
      ...Array.from({ length: PARTS }, (_, part) => {
        const took = times.filter(({ atMs }) =>
          Math.floor(atMs / (seconds * 1000) * PARTS) === part
        ).map(({ tookMs }) => tookMs);
        const [p50 = NaN, p99 = NaN] = [0.5, 0.99].map((share) =>
          quantile(took, share)
        );
        return `right calls, part ${part + 1} of ${PARTS}: ${took.length}, ` +
          `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
      }),
    ],
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
