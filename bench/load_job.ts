/**
 * What the load generator is told and what it answers.
 *
 * @module
 */
import type { Expected } from "./reply_judge.ts";

/** Requests to be made, all alike. */
export interface LoadJob {
  /** Port on 127.0.0.1, or of `host`. */
  readonly port: number;
  /** Where the target is. */
  readonly host: string;
  /** With its query. */
  readonly path: string;
  /** Beside host, length and type. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  /** Connections, each with one request at a time. */
  readonly connections: number;
  /** When to begin no further request; each connection makes at least one. */
  readonly until:
    | { readonly ms: number }
    | { readonly requestsEach: number };
  /** Time over which the connections begin; 0: at once. */
  readonly spreadMs: number;
  /** True: says `{ open: true }` when each connection has had its stream's first bytes. */
  readonly tellsOpen?: boolean;
  /** What a reply has to be. */
  readonly expected: Expected;
  /** True: a reply with its whole text counts, whatever else is wrong with it. For gateways whose faults are known. */
  readonly lenient?: boolean;
}

/** Times in milliseconds. */
export interface Quantiles {
  /** The median. */
  readonly p50: number;
  /** What 99 of 100 stay below. */
  readonly p99: number;
}

/** What came of it. */
export interface LoadResult {
  /** Right replies. */
  readonly requests: number;
  /** Events in them. */
  readonly events: number;
  /** From the first request to the last reply. */
  readonly tookMs: number;
  /** From a request to its reply's end. */
  readonly waits: Quantiles;
  /** From an event's sending to its arrival; absent where the events were not paced. */
  readonly delays?: Quantiles;
  /** Wrong replies. */
  readonly faults: number;
  /** What was wrong, a few of them. */
  readonly told: readonly string[];
  /** What was overlooked for a lenient job. */
  readonly overlooked: readonly string[];
}
