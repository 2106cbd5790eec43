/**
 * A gateway whose one model has candidates at scripted upstreams, for tests of what happens when some of them fail.
 *
 * @module
 */
import type { CandidateOverride } from "../gateway/upstream/catalogue_file.ts";
import type { LogEntry } from "../gateway/log.ts";
import {
  type ScriptedUpstream,
  startScriptedUpstream,
} from "./scripted_upstream.ts";
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "./test_gateway.ts";

/** The model's id for callers. */
export const MODEL = "house-model";

/** Price of the model: so many micro-dollars per million tokens that each token of a scripted answer costs something. */
export const PRICE = {
  input: 1_000_000,
  output: 3_000_000,
  cache_read: 1_000_000,
  cache_write: 1_000_000,
} as const;

/** A gateway and the upstreams behind it. */
export interface Candidates {
  /** The gateway; its model is {@linkcode MODEL}. */
  readonly gateway: TestGateway;
  /** Speaks the messages format. */
  readonly a: ScriptedUpstream;
  /** Speaks the chat format. */
  readonly b: ScriptedUpstream;
  /** Asks once; the caller is of the messages format where nothing else is said. */
  ask(how?: AskOptions): Promise<Response>;
  /** The log's entry for an answer. */
  entryOf(response: Response): Promise<LogEntry>;
}

/** How a caller asks. */
export interface AskOptions {
  /** Absent: `/v1/messages`. */
  readonly path?: string;
  /** Absent: whole. */
  readonly stream?: boolean;
  /** Further fields. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller's leaving. */
  readonly signal?: AbortSignal;
}

/** What differs from the first upstream before the second. */
export interface CandidatesOptions
  extends Omit<TestGatewayOptions, "realVendors" | "vendors"> {
  /** Of `a`; absent: priority 1. */
  readonly a?: Partial<CandidateOverride>;
  /** Of `b`; absent: priority 2. Null: there is no second candidate. */
  readonly b?: Partial<CandidateOverride> | null;
  /** Further vendors of the file. */
  readonly fileVendors?: Readonly<Record<string, unknown>>;
  /** Further fields of the model's row. */
  readonly model?: Readonly<Record<string, unknown>>;
}

/** Runs a test with two upstreams, and audits the books after it. */
export async function withCandidates(
  options: CandidatesOptions,
  run: (candidates: Candidates) => Promise<void>,
): Promise<void> {
  const a = startScriptedUpstream("a");
  const b = startScriptedUpstream("b");
  const gateway = await startTestGateway({
    ...options,
    realVendors: true,
    env: {
      GATEWAY_CONFIG: "gateway.json",
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
  try {
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
    const problems = await gateway.books.admin.audit();
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
  } finally {
    await gateway.close();
    await a.close();
    await b.close();
  }
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
