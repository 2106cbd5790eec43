/**
 * The live list under load: a steady rate of calls, in turns without and with viewers. Prints what
 * viewers cost a call, and what each of them receives: `deno task bench live --rate=1000
 * --viewers=5 --rounds=3 --seconds=10`.
 */
import { parseArgs } from "node:util";
import { createParser } from "eventsource-parser";
import type { Bench, BenchContext } from "../bench.ts";
import { startChild } from "../load/child.ts";
import { startMock } from "../mock/start_mock.ts";
import { openCpuClock, residentBytes } from "../measure/cpu_time.ts";
import { readLoopBlocks } from "../measure/loop_probe.ts";
import { jobFor, measureJob, type Sample } from "../measure/measure.ts";
import { DEFAULT_PLAN } from "../load/reply_plan.ts";
import { scenarioOf } from "../measure/scenarios.ts";
import { median } from "../report/statistics.ts";
import { prepare } from "../targets/own_gateway.ts";

const ADMIN_TOKEN = "an-admin-token-of-a-benchmark";
const UPSTREAM_MS = 50;
const WARM_UP_MS = 2000;
/** A session may have so many live lists open. */
const VIEWERS_OF_SESSION = 4;
const DIRECTION = { caller: "messages", upstream: "messages" } as const;

/** `deno task bench live`. */
export const live: Bench = {
  about: "a steady rate of calls without and with viewers of the live list",
  takesFlags: true,
  run: (context, flags) => runLive(flags, context),
};

async function runLive(
  flags: readonly string[],
  { print, record }: BenchContext,
): Promise<number> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      rate: { type: "string", default: "1000" },
      viewers: { type: "string", default: "5" },
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "10" },
    },
  });
  const rate = Number(values.rate);
  const viewers = Number(values.viewers);
  const ms = Number(values.seconds) * 1000;
  const scenario = scenarioOf({
    name: "live",
    about: "whole replies at a steady rate",
    unit: "request",
    plan: { ...DEFAULT_PLAN, waitMs: UPSTREAM_MS },
    stream: false,
    promptBytes: 100,
    connections: Math.ceil(4 * rate * UPSTREAM_MS / 1000),
    measures: "wait",
  }, DIRECTION);
  await using stack = new AsyncDisposableStack();
  const upstream = await startMock(stack);
  const site = stack.use(
    await prepare(upstream, {
      folder: new URL("../../", import.meta.url).pathname,
      env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN, GATEWAY_CONSOLE: "all" },
    }),
  );
  const target = stack.use(await site.start({ probed: true }));
  const address = target.address(DIRECTION);
  const { pid, probeUrl } = target;
  if (address === undefined || pid === undefined || probeUrl === undefined) {
    throw new Error("the gateway cannot be observed");
  }
  const url = `http://${address.host}:${address.port}`;
  const clock = stack.use(openCpuClock());
  const load = stack.use(startChild("load/load.ts"));
  const job = { ...jobFor(address, scenario, ms), lenient: false };
  const calls = (roundMs: number): Promise<Sample> =>
    measureJob(
      { load, clock },
      target,
      { ...job, until: { ms: roundMs, perSecond: rate } },
      "request",
    );
  await calls(WARM_UP_MS);
  const cpu: Record<"without" | "with", number[]> = { without: [], with: [] };
  let faults = 0;
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const kind of ["without", "with"] as const) {
      const open = await openViewers(url, kind === "with" ? viewers : 0);
      await readLoopBlocks(probeUrl);
      const { result, cpuMicros, perSecond } = await calls(ms);
      const { longestMs } = await readLoopBlocks(probeUrl);
      const seen = await Promise.all(open.map((viewer) => viewer.close()));
      faults += result.faults;
      if (cpuMicros !== undefined) cpu[kind].push(cpuMicros);
      const figures = {
        viewers: open.length,
        callsPerSecond: perSecond,
        cpuMicros,
        waitMs: result.waits,
        longestBlockMs: longestMs,
        residentBytes: residentBytes(pid),
        faults: result.faults,
        seen,
      };
      record?.(figures);
      print(
        `${open.length} viewers: ${perSecond.toFixed(0)} calls/s, ${
          (cpuMicros ?? 0).toFixed(0)
        } µs of processor a call, p50 ${result.waits.p50.toFixed(1)} ms, p99 ${
          result.waits.p99.toFixed(1)
        } ms, longest block ${longestMs.toFixed(0)} ms, ${
          (residentBytes(pid) / 1e6).toFixed(0)
        } MB, ${result.faults} faults`,
      );
      for (const { events, bytes, longestGapMs, leftOut } of seen) {
        print(
          `  a viewer: ${events} events, ${
            (bytes / 1000 / Math.max(1, events)).toFixed(0)
          } kB each, ${
            longestGapMs.toFixed(0)
          } ms apart at most, ${leftOut} of them counted calls that they left out`,
        );
      }
    }
  }
  const least = (kind: "without" | "with"): number => Math.min(...cpu[kind]);
  print(
    `processor time a call, least: ${least("without").toFixed(0)} µs without, ${
      least("with").toFixed(0)
    } µs with viewers; median ${median(cpu.without).toFixed(0)} and ${
      median(cpu.with).toFixed(0)
    } µs`,
  );
  return faults === 0 ? 0 : 1;
}

/** What a viewer received. */
interface Seen {
  readonly events: number;
  readonly bytes: number;
  readonly longestGapMs: number;
  /** Events that counted calls instead of listing them. */
  readonly leftOut: number;
}

interface OpenViewer {
  close(): Promise<Seen>;
}

async function openViewers(
  url: string,
  count: number,
): Promise<readonly OpenViewer[]> {
  const viewers: OpenViewer[] = [];
  let cookie = "";
  for (let at = 0; at < count; at++) {
    if (at % VIEWERS_OF_SESSION === 0) cookie = await signIn(url);
    viewers.push(await openViewer(url, cookie));
  }
  return viewers;
}

async function signIn(url: string): Promise<string> {
  const reply = await fetch(`${url}/console/operator/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ credential: ADMIN_TOKEN }),
  });
  await reply.body?.cancel();
  const cookie = reply.headers.get("set-cookie")?.split(";")[0];
  if (cookie === undefined) {
    throw new Error(`the sign-in was refused: ${reply.status}`);
  }
  return cookie;
}

async function openViewer(url: string, cookie: string): Promise<OpenViewer> {
  const reply = await fetch(`${url}/console/operator/live/events`, {
    headers: { cookie, "sec-fetch-site": "same-origin" },
  });
  if (reply.status !== 200 || reply.body === null) {
    await reply.body?.cancel();
    throw new Error(`the live list was refused: ${reply.status}`);
  }
  const seen = { events: 0, bytes: 0, longestGapMs: 0, leftOut: 0 };
  let lastMs = performance.now();
  const note = (): void => {
    const nowMs = performance.now();
    seen.longestGapMs = Math.max(seen.longestGapMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  const parser = createParser({
    onEvent({ event, data }) {
      if (event !== "calls") return;
      note();
      seen.events++;
      seen.bytes += data.length;
      if (data.includes("are left out")) seen.leftOut++;
    },
  });
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  const ended = (async () => {
    for (let next = await reader.read(); !next.done;) {
      parser.feed(next.value);
      next = await reader.read();
    }
  })();
  return {
    async close() {
      note();
      await reader.cancel();
      await ended;
      return seen;
    },
  };
}
