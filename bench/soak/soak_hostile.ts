/**
 * What one party can do to all others, beside right calls: bodies that cost much to read, reports,
 * a log that is left unread, a store that is locked, a process that is stopped for a while. The
 * calls stay right meanwhile.
 */
import { DatabaseSync } from "node:sqlite";
import type { Child } from "../load/child.ts";
import type { SoakGateway } from "./soak_gateway.ts";
import type { RightCall, RightCalls } from "../load/right_calls.ts";
import { behaviourTag } from "./soak_upstream.ts";
import { quantile } from "../report/statistics.ts";

/** Longer than the gateway waits for the store. */
const LOCKED_MS = 5_000;
const LOCK_EVERY_MS = 15_000;
/** Longer than an upstream may take to begin. */
const FROZEN_MS = 2_600;
const FREEZE_EVERY_MS = 25_000;
const STALL_MS = 3_000;
const STALL_EVERY_MS = 10_000;
/** After an outage or a freeze, what waited for it comes first. */
const SETTLED_MS = 1_000;
const RIGHT_EVERY_MS = 100;
const LIES_EVERY_MS = 500;
const REPORTERS = 8;
/**
 * Between two reports, and two bodies, of a hostile party: it is to disturb, not to use all
 * processor time.
 */
const REPORT_PAUSE_MS = 200;
const BODY_PAUSE_MS = 300;
/** Parts of the run whose calls are timed apart. */
const PARTS = 5;
/**
 * The right calls are as fast at the end when neither of the last two parts is that much slower
 * than both of the first two.
 */
const SLOWER = 2;
const SLACK_MS = 50;

/** What is attacked. */
interface HostileSoak {
  readonly gateway: SoakGateway;
  /** A process of `right_calls.ts`. */
  readonly rightCalls: Child;
  /** The key of the account of the right calls, and that of one that attacks. */
  readonly keys: readonly [string, string];
  /** The SQLite file. */
  readonly file: string;
  readonly seconds: number;
}

/** From when until when, in milliseconds since 1970. */
interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What the hostile run found. */
interface HostileResult {
  /** Calls that have a line in the log. */
  readonly calls: number;
  readonly lines: readonly string[];
  readonly findings: readonly string[];
}

const HI = '[{"role":"user","content":"hi"}]';
const many = (count: number, one: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => one(i)).join();
const BODIES: readonly Uint8Array<ArrayBuffer>[] = [
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
].map((fields) =>
  new TextEncoder().encode(`{"model":"vendorb-5","max_tokens":9,${fields}}`)
);
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
};
/** Outcomes of right calls while the store is locked. */
const OUTAGE = ["200, error", "503"];

/** Attacks until the time is over. */
export async function runHostile(
  { gateway, rightCalls, keys, file, seconds }: HostileSoak,
): Promise<HostileResult> {
  const startMs = performance.now();
  const isOver = (): boolean => performance.now() - startMs > seconds * 1000;
  const counts = new Map<string, number>();
  const findings: string[] = [];
  let calls = 0;
  const outages: Span[] = [];
  const freezes: Span[] = [];
  const isIn = (spans: readonly Span[], { atMs, tookMs }: RightCall): boolean =>
    spans.some(({ fromMs, untilMs }) =>
      atMs < untilMs && atMs + tookMs > fromMs
    );

  const ask = async (
    kind: keyof typeof EXPECTED,
    path: string,
    body?: string | Uint8Array<ArrayBuffer>,
  ): Promise<void> => {
    try {
      const response = await fetch(gateway.url + path, {
        headers: { "x-api-key": keys[1], "content-type": "application/json" },
        ...(body === undefined ? {} : { method: "POST", body }),
      });
      const text = await response.text();
      const name = `${kind} ${response.status}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (!EXPECTED[kind].includes(response.status)) {
        findings.push(`${name}: ${text.slice(0, 200)}`);
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
  const lies = JSON.stringify({
    model: "vendora-opus-4-8",
    max_tokens: 10,
    stream: true,
    messages: [{ role: "user", content: behaviourTag("lies", "beside") }],
  });
  const job: RightCalls = {
    url: gateway.url,
    key: keys[0],
    seconds,
    everyMs: RIGHT_EVERY_MS,
    stream: true,
  };
  const fromMs = Date.now();
  await rightCalls.send(job);
  await Promise.all([
    every(LIES_EVERY_MS, () => {
      calls++;
      return ask("lies", "/v1/messages", lies);
    }),
    ...["/v1/messages", "/v1/chat/completions"].map(async (path, lane) => {
      for (let at = lane; !isOver(); at++) {
        calls++;
        await ask("body", path, BODIES[at % BODIES.length]);
        await pause(BODY_PAUSE_MS);
      }
    }),
    ...Array.from({ length: REPORTERS }, async (_, lane) => {
      for (let at = lane; !isOver(); at++) {
        await ask("report", REPORTS[at % REPORTS.length] ?? "");
        await pause(REPORT_PAUSE_MS);
      }
    }),
    every(STALL_EVERY_MS, () => gateway.stallLog(STALL_MS)),
    every(FREEZE_EVERY_MS, async () => {
      const freeze = { fromMs: Date.now(), untilMs: Infinity };
      freezes.push(freeze);
      gateway.process.kill("SIGSTOP");
      await pause(FROZEN_MS);
      gateway.process.kill("SIGCONT");
      freeze.untilMs = Date.now() + SETTLED_MS;
    }),
    every(LOCK_EVERY_MS, async () => {
      const other = new DatabaseSync(file);
      try {
        other.exec("PRAGMA busy_timeout = 1000; BEGIN IMMEDIATE");
        const outage = { fromMs: Date.now(), untilMs: Infinity };
        outages.push(outage);
        await pause(LOCKED_MS);
        other.exec("ROLLBACK");
        outage.untilMs = Date.now() + SETTLED_MS;
      } finally {
        other.close();
      }
    }),
  ]);
  // The shape is that of right_calls.ts.
  const right = await rightCalls.receive() as readonly RightCall[];
  const took: number[][] = Array.from({ length: PARTS }, () => []);
  for (const call of right) {
    const { atMs, tookMs, outcome } = call;
    const name = `right ${outcome}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const isOutage = isIn(outages, call);
    if (
      outcome !== "200" &&
      !(isOutage && OUTAGE.some((one) => outcome.startsWith(one)))
    ) {
      findings.push(
        `a right call: ${outcome}, ${atMs - fromMs} ms in, ${tookMs} ms`,
      );
    }
    const part = Math.floor((atMs - fromMs) / (seconds * 1000) * PARTS);
    if (!isOutage && !isIn(freezes, call)) took[part]?.push(tookMs);
  }
  const p99 = took.map((part) => quantile(part, 0.99));
  const least = Math.min(...p99.slice(-2));
  if (least > SLOWER * Math.max(...p99.slice(0, 2)) + SLACK_MS) {
    findings.push(`right calls became slower: p99 ${least.toFixed(1)} ms`);
  }
  const rows = [...counts].toSorted(([a], [b]) => a < b ? -1 : 1);
  return {
    calls: calls + right.length,
    findings,
    lines: [
      ...rows.map(([what, count]) => `${what.padEnd(18)} ${count}`),
      ...took.map((part, at) =>
        `right calls, part ${at + 1} of ${PARTS}: ${part.length}` +
        [0.5, 0.9, 0.99, 1].map((share) =>
          `, p${share * 100} ${quantile(part, share).toFixed(1)} ms`
        ).join("")
      ),
    ],
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
