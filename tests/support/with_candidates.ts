/**
 * A gateway whose only model has candidates at two scripted upstreams, for tests of failover.
 */
import type { CandidateOverride } from "../../gateway/upstream/catalogue/catalogue_shape.ts";
import type { LogEntry } from "../../gateway/observability/log.ts";
import {
  type ScriptedUpstream,
  startScriptedUpstream,
} from "./upstreams/scripted_upstream.ts";
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "./test_gateway.ts";

export const MODEL = "house-model";

/**
 * The model's price in micro-dollars per million tokens: high enough that every token of a scripted
 * reply costs at least 1 micro-dollar.
 */
export const PRICE = {
  input: 1_000_000,
  output: 3_000_000,
  cache_read: 1_000_000,
  cache_write: 1_000_000,
} as const;

export interface Candidates {
  /** The gateway; its model is {@linkcode MODEL}. */
  readonly gateway: TestGateway;
  /** First candidate's upstream; uses the messages format. */
  readonly a: ScriptedUpstream;
  /** Second candidate's upstream; uses the chat format. */
  readonly b: ScriptedUpstream;
  /** Sends one call, to `/v1/messages` unless `how` contains another path. */
  ask(how?: AskOptions): Promise<Response>;
  entryOf(response: Response): Promise<LogEntry>;
}

export interface AskOptions {
  readonly path?: string;
  readonly stream?: boolean;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborts the call: the client disconnects. */
  readonly signal?: AbortSignal;
}

export interface CandidatesOptions
  extends Omit<TestGatewayOptions, "realVendors" | "vendors"> {
  /** Settings of candidate `a`; absent: priority 1. */
  readonly a?: Partial<CandidateOverride>;
  /** Settings of candidate `b`; absent: priority 2; null: no second candidate. */
  readonly b?: Partial<CandidateOverride> | null;
  readonly fileVendors?: Readonly<Record<string, unknown>>;
  readonly model?: Readonly<Record<string, unknown>>;
}

/** Runs a test with a gateway and two upstreams, then audits the ledger. */
export async function withCandidates(
  options: CandidatesOptions,
  run: (candidates: Candidates) => Promise<void>,
): Promise<void> {
  await using a = startScriptedUpstream("a");
  await using b = startScriptedUpstream("b");
  await using gateway = await startTestGateway({
    ...options,
    realVendors: true,
    env: {
      A_KEY: "key-a",
      B_KEY: "key-b",
      ...options.env,
    },
    configFile: JSON.stringify({
      vendors: {
        a: { kind: "vendora", base_url: a.url, api_key_env: "A_KEY" },
        b: { kind: "vendorb", base_url: `${b.url}/v1`, api_key_env: "B_KEY" },
        ...options.fileVendors,
      },
      models: {
        [MODEL]: {
          price: PRICE,
          candidates: [
            { vendor: "a", upstream_model: "model-a", ...options.a },
            ...(options.b === null ? [] : [{
              vendor: "b",
              upstream_model: "model-b",
              priority: 2,
              ...options.b,
            }]),
          ],
          ...options.model,
        },
      },
    }),
  });
  await run({
    gateway,
    a,
    b,
    ask: (how = {}) => asked(gateway, how),
    entryOf(response) {
      const id = response.headers.get("request-id");
      return gateway.logEntry((entry) => entry.request_id === id);
    },
  });
  const problems = await gateway.accounts.admin.audit();
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
}

function asked(gateway: TestGateway, how: AskOptions): Promise<Response> {
  const { path = "/v1/messages", stream = false, signal } = how;
  return gateway.post(
    path,
    {
      model: MODEL,
      max_tokens: 100,
      stream,
      messages: [{ role: "user", content: "Hi" }],
      ...how.body,
    },
    how.headers,
    signal,
  );
}
