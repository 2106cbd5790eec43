/**
 * What reports over ten million ledger entries cost the calls of another account: how long they
 * take without reports, and beside many. Rounds measure all cases forwards and backwards in turn.
 */
import { adminPost } from "../load/admin_post.ts";
import type { BenchContext } from "../bench.ts";
import { startBooksGateway } from "./books_gateway.ts";
import { type Child, startChild } from "../load/child.ts";
import { readLoopBlocks } from "../measure/loop_probe.ts";
import type { ReportCalls, ReportReplies } from "../load/report_callers.ts";
import type { RightCall, RightCalls } from "../load/right_calls.ts";
import { quantile } from "../report/statistics.ts";

const ROUNDS = 6;
const SECONDS = 15;
const EVERY_MS = 20;
/** Goal of the p99, in milliseconds. */
const GOAL_MS = 2;
const REPORTS: readonly string[] = [
  "/v1/usage?by=user",
  "/v1/usage?by=day,model,user",
];
/** Callers of the report at the same time. */
const CALLERS: readonly (readonly [string | undefined, number])[] = [
  [undefined, 0],
  ...REPORTS.flatMap((path) =>
    [10, 100].map((callers) => [path, callers] as const)
  ),
];

/** Measures calls beside reports of an account with much usage. */
export async function measureBeside(
  databaseUrl: string,
  accountId: string,
  { print, record }: Pick<BenchContext, "print" | "record">,
): Promise<void> {
  await using calls = startChild("load/right_calls.ts");
  await using reports = startChild("load/report_callers.ts");
  // The message's shape is defined in right_calls.ts.
  const upstream = await calls.receive() as { readonly port: number };
  await using gateway = await startBooksGateway(databaseUrl, {
    VENDORD_API_KEY: "d",
    VENDORD_BASE_URL: `http://127.0.0.1:${upstream.port}`,
  });
  const { url, loopUrl } = gateway;
  // A new key of the account would have nothing to report on.
  const { token: reader } = await adminPost(url, "tokens", {
    account: accountId,
    scope: "read",
  });
  const { id } = await adminPost(url, "accounts", {
    plan: "p",
    billing: "postpaid",
  });
  const { key } = await adminPost(url, "keys", { account: id });
  const job = { url, key, everyMs: EVERY_MS, stream: false };
  // The first calls compile code.
  await callAll(calls, { ...job, seconds: 3 });
  const all = CALLERS.map(([path, callers]) => ({
    path,
    callers,
    took: [] as number[],
    p99s: [] as number[],
    busiestMs: 0,
    replies: {} as Record<string, number>,
  }));
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of round % 2 === 0 ? all : all.toReversed()) {
      const { path, callers } = one;
      await readLoopBlocks(loopUrl);
      if (path !== undefined) {
        const asked: ReportCalls = {
          url: url + path,
          key: reader,
          callers,
          seconds: SECONDS,
        };
        await reports.send(asked);
      }
      const took = await callAll(calls, { ...job, seconds: SECONDS });
      if (path !== undefined) {
        // The shape is that of report_callers.ts.
        const replies = await reports.receive() as ReportReplies;
        for (const [status, count] of Object.entries(replies)) {
          one.replies[status] = (one.replies[status] ?? 0) + count;
        }
      }
      const { busiestMs = NaN } = await readLoopBlocks(loopUrl);
      one.took.push(...took);
      one.p99s.push(quantile(took, 0.99));
      one.busiestMs = Math.max(one.busiestMs, busiestMs);
    }
  }
  const alone = quantile(all[0]?.took ?? [], 0.99);
  for (const { path, callers, took, p99s, busiestMs, replies } of all) {
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(took, share));
    record?.({ beside: path ?? "nothing", callers, p50, p99, p99s, busiestMs });
    const ms = (value = NaN): string => value.toFixed(1);
    print(
      `${(path ?? "no report").padEnd(28)} ${
        String(callers).padStart(3)
      } callers: ${took.length} calls, p50 ${ms(p50)} ms, p99 ${ms(p99)} ms (${
        ms((p99 ?? NaN) - alone)
      } more, goal ${GOAL_MS}; rounds ${
        p99s.map(ms).join(", ")
      }), longest turn ${ms(busiestMs)} ms of processor time; replies ${
        JSON.stringify(replies)
      }`,
    );
  }
}

async function callAll(
  child: Child,
  job: RightCalls,
): Promise<readonly number[]> {
  await child.send(job);
  // The shape is that of right_calls.ts.
  const calls = await child.receive() as readonly RightCall[];
  const wrong = calls.find(({ outcome }) => outcome !== "200");
  if (wrong !== undefined) throw new Error(`a right call: ${wrong.outcome}`);
  return calls.map(({ tookMs }) => tookMs);
}
