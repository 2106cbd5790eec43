/**
 * The messages that the load generator receives and sends.
 */
import type { Expected } from "./reply_judge.ts";

/** A number of identical requests to one target. */
export interface LoadJob {
  /** Port of the target. */
  readonly port: number;
  /** Name or address of the target. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
  /** Headers besides host, content-length and content-type. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that replace those above, one set for each request in turn; absent: none. */
  readonly inTurn?: readonly Readonly<Record<string, string>>[];
  /** Request body, as JSON. */
  readonly body: string;
  /** Connections, each with one request at a time. */
  readonly connections: number;
  /** Further targets on the same host, over which the connections are spread evenly. */
  readonly others?: readonly Pick<LoadJob, "port" | "headers">[];
  /**
   * When to stop starting requests. Without `perSecond` a connection starts a request when it has
   * the reply to the one before, and makes at least one. With it, requests are started at this rate
   * whatever the replies do, on the first connection that is free.
   */
  readonly until:
    | { readonly ms: number; readonly perSecond?: number }
    | { readonly requestsEach: number };
  /**
   * Time over which the starts of the connections are spread, in milliseconds; 0 starts all at
   * once.
   */
  readonly spreadMs: number;
  /**
   * True: sends the message `{ open: true }` when every connection has received the first bytes of
   * its stream.
   */
  readonly reportsOpen?: boolean;
  /** The expected reply. */
  readonly expected: Expected;
  /**
   * True: a reply with its complete text counts as correct. For gateways with known faults in the
   * rest of the reply.
   */
  readonly lenient?: boolean;
}

/** Times in milliseconds. */
export interface Quantiles {
  /** The median. */
  readonly p50: number;
  /** The 99th percentile. */
  readonly p99: number;
}

/** The result of a job. */
export interface LoadResult {
  /** Number of correct replies. */
  readonly requests: number;
  /** Number of events in them. */
  readonly events: number;
  /** From the first request to the last reply, in milliseconds. */
  readonly tookMs: number;
  /**
   * From a request to the end of its reply; with a rate, from the time at which the request was due
   * if no connection was free then.
   */
  readonly waits: Quantiles;
  /** From the same moment to the first bytes of the body. */
  readonly firsts: Quantiles;
  /** From the sending of an event to its arrival; absent when the events are not paced. */
  readonly delays?: Quantiles;
  /** Number of wrong replies. */
  readonly faults: number;
  /** The first distinct problems, at most three. */
  readonly problems: readonly string[];
  /** Distinct problems that were accepted because the job is lenient. */
  readonly overlooked: readonly string[];
}
