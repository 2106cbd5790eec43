/**
 * What a process reports of itself for operators: version, configuration, connections, and the
 * health of its candidates. No key, no address.
 */
import { z } from "zod";
import type { Config } from "../settings/config.ts";
import type { CandidateRates } from "../upstream/health/candidate_rates.ts";
import { candidateReports } from "../upstream/health/candidate_report.ts";
import type { UpstreamClient } from "../upstream/http/http_client.ts";
import type { Candidate } from "../upstream/catalogue/model_registry.ts";
import { VERSION } from "../version.ts";

const TIME = z.string().describe("ISO 8601");

const CANDIDATE = z.object({
  model: z.string(),
  upstream: z.string().describe("vendor/model, with the vendor's own id"),
  state: z.enum(["closed", "open", "half_open"]),
  since: TIME.nullable().describe("null: never changed"),
  resting_until: TIME.nullable().describe(
    "a pause that the upstream asked for",
  ),
  probe_at: TIME.exactOptional().describe(
    "when an open breaker lets a call through as a probe; absent: it is not open",
  ),
  credential: z.object({
    usable: z.boolean(),
    failing_since: TIME,
    reason: z.string(),
  }).exactOptional(),
  refused: z.object({ since: TIME, reason: z.string() }).exactOptional()
    .describe(
      "the last call was refused for what belongs to the operator, such as the credential",
    ),
  was_called: z.boolean().exactOptional().describe(
    "since the process started; absent: not told",
  ),
  calls: z.int().describe("attempts that ended in the last 15 minutes"),
  failed: z.int().describe("those that failed at the upstream"),
  errors: z.record(z.string(), z.int()).describe(
    "failures by status, or by kind of error",
  ),
  first_token_p50_ms: z.int().nullable().describe(
    "of the newest 64 streams; null: no stream",
  ),
  first_token_p95_ms: z.int().nullable(),
});

const STATE = {
  version: z.string(),
  started_at: TIME,
  configuration: z.object({
    hash: z.string().nullable().describe("null: no configuration file"),
    loaded_at: TIME,
  }),
  calls: z.object({
    under_way: z.int(),
    limit: z.int(),
    streams: z.int(),
  }),
  connections: z.object({
    open: z.int().describe("to upstreams"),
    busy: z.int(),
  }),
  ledger_backlog: z.int().describe("writes that wait for the store"),
  unpriced_calls: z.record(z.string(), z.int()).exactOptional().describe(
    "by model, since the start: calls with a part that the model's price has no rate for; absent: none",
  ),
  bounded_calls: z.record(z.string(), z.int()).exactOptional().describe(
    "by model, since the start: calls whose upstream reported more than they can have used; absent: none",
  ),
  clock_ahead_ms: z.int().exactOptional().describe(
    "by how much the process's clock is ahead of the store's, which dates calls; negative: behind",
  ),
  upstreams: z.array(CANDIDATE),
  upstreams_left_out: z.int().describe(
    "candidates without calls whose breaker is closed",
  ),
};

/** Checks the report of another process, whose version may be another one. */
export const PROCESS_STATE: z.ZodType<ProcessState> = z.object(STATE);

/** The state of a process, in its JSON form. */
export type ProcessState = Readonly<
  z.infer<z.ZodObject<typeof STATE>>
>;

export type CandidateState = z.infer<typeof CANDIDATE>;

/** JSON form of the states of all processes. */
export const processesReply: z.ZodType = z.object({
  object: z.literal("list"),
  complete: z.boolean().describe(
    "false: the store does not answer, and only this process is listed",
  ),
  data: z.array(z.object({
    id: z.string(),
    this: z.boolean().describe("whether this process replies"),
    reported_at: TIME,
    age_seconds: z.number().describe("age of the report"),
    ...STATE,
  })),
});

/** What {@linkcode processState} reads. */
interface StateSource {
  /** Unix time in milliseconds. */
  readonly startedAtMs: number;
  /** Unix time in milliseconds of the configuration in force. */
  readonly configuredAtMs: number;
  readonly config: Pick<Config, "configHash" | "maxConcurrent">;
  readonly candidates: readonly Candidate[];
  readonly rates: CandidateRates;
  readonly connections: ReturnType<UpstreamClient["connections"]>;
  /** Calls being served, and how many of them stream. */
  readonly calls: { readonly underWay: number; readonly streams: number };
  /** Writes that wait for the store. */
  readonly backlog: number;
  /** Calls with a part that the model's price has no rate for, by model. */
  readonly unpriced: ReadonlyMap<string, number>;
  /** Calls whose upstream reported more than they can have used, by model. */
  readonly bounded: ReadonlyMap<string, number>;
  /** Milliseconds by which the process's clock is ahead of the store's. */
  readonly clockAheadMs: number;
}

/** The state at a Unix time in milliseconds, with all candidates. */
export function processState(
  { config, rates, calls, ...source }: StateSource,
  nowMs: number,
): ProcessState {
  const candidates = candidateReports(source.candidates, nowMs)
    .map((report): CandidateState => {
      const { calls, failed, errors, firstTokenMs } = rates.rate(
        report.model,
        report.upstream,
      );
      return {
        ...report,
        was_called: rates.wasCalled(report.model, report.upstream),
        calls,
        failed,
        errors: { ...errors },
        first_token_p50_ms: firstTokenMs?.p50 ?? null,
        first_token_p95_ms: firstTokenMs?.p95 ?? null,
      };
    });
  return {
    version: VERSION,
    started_at: new Date(source.startedAtMs).toISOString(),
    configuration: {
      hash: config.configHash ?? null,
      loaded_at: new Date(source.configuredAtMs).toISOString(),
    },
    calls: {
      under_way: calls.underWay,
      limit: config.maxConcurrent,
      streams: calls.streams,
    },
    connections: source.connections,
    ledger_backlog: source.backlog,
    ...(source.unpriced.size === 0
      ? {}
      : { unpriced_calls: Object.fromEntries(source.unpriced) }),
    ...(source.bounded.size === 0
      ? {}
      : { bounded_calls: Object.fromEntries(source.bounded) }),
    clock_ahead_ms: Math.round(source.clockAheadMs),
    upstreams: candidates,
    upstreams_left_out: 0,
  };
}

/** Most candidates in a report to other processes. */
const MAX_CANDIDATES = 300;

/** The state as other processes receive it: candidates with calls or problems, problems first. */
export function shortState(state: ProcessState): ProcessState {
  const notable = state.upstreams
    .filter((one) => hasProblem(one) || one.calls > 0)
    .toSorted((a, b) => Number(hasProblem(b)) - Number(hasProblem(a)))
    .slice(0, MAX_CANDIDATES);
  return {
    ...state,
    upstreams: notable,
    upstreams_left_out: state.upstreams.length - notable.length,
  };
}

/** Whether a candidate's breaker is not closed, it rests, or its credential fails or is refused. */
export function hasProblem(
  { state, resting_until, credential, refused }: Pick<
    CandidateState,
    "state" | "resting_until" | "credential" | "refused"
  >,
): boolean {
  return state !== "closed" || resting_until !== null ||
    credential !== undefined || refused !== undefined;
}

/** Changes whenever the health of a candidate does. */
export function healthText(
  candidates: readonly Candidate[],
  nowMs: number,
): string {
  let text = "";
  for (const { model, name, health, credential } of candidates) {
    const state = health.state(nowMs);
    const isResting = health.coolingDownUntilMs(nowMs) !== undefined;
    const fails = credential.state().failure !== undefined;
    const reason = health.refusal?.reason ?? "";
    if (state === "closed" && !isResting && !fails && reason === "") continue;
    text += `${model.id} ${name} ${state} ${isResting} ${fails} ${reason}\n`;
  }
  return text;
}
