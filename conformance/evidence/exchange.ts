/**
 * The evidence: what was sent, what came back and when, and what the target sent upstream meanwhile. Records only; the
 * recorder (`suite/lab.ts`) makes them, checks read them. No key is ever in them: see `redaction.ts`.
 */
import type { Json } from "../replay/json.ts";
import type { Dialect } from "../replay/call.ts";
import type { Ending as UpstreamEnding } from "../replay/journal.ts";

/** Which operation of the specification an exchange was meant for. */
export type Endpoint = "messages" | "chat" | "models" | "other";

/** A header as sent or received, name in lower case. */
export type Header = readonly [name: string, value: string];

/** A request as it was sent. */
export interface SentRequest {
  /** Which client sent it: `fetch`, or bytes over a socket. */
  readonly client: "fetch" | "raw";
  /** The method. */
  readonly method: string;
  /** Path and query under the base address. */
  readonly path: string;
  /** The headers that the suite set. */
  readonly headers: readonly Header[];
  /** The body as text; "" when there is none. */
  readonly body: string;
  /** With the raw client: the head exactly as written to the socket. */
  readonly rawHead?: string;
}

/** Status line and headers of a reply. */
export interface ResponseHead {
  /** The status. */
  readonly status: number;
  /** All headers in order. */
  readonly headers: readonly Header[];
  /** Milliseconds after the request was sent. */
  readonly atMs: number;
}

/** A piece of the body as it arrived. */
export interface Arrival {
  /** Milliseconds after the request was sent. */
  readonly atMs: number;
  /** Bytes of the body up to and with this piece. */
  readonly upTo: number;
}

/** One message of an event stream. */
export interface Frame {
  /** Position in the stream, from 0. */
  readonly at: number;
  /** Milliseconds after the request was sent. */
  readonly atMs: number;
  /** The event name; undefined when the frame has none. */
  readonly event: string | undefined;
  /** The data lines, joined. */
  readonly data: string;
  /** The data as JSON; undefined when it is not JSON. */
  readonly json: Json | undefined;
}

/** How a reply ended. */
export type Ending =
  /** The body ended properly. */
  | "complete"
  /** The connection broke, or ended without what the framing promised. */
  | "broken"
  /** The suite's time limit passed first. */
  | "timeout"
  /** The suite hung up on purpose. */
  | "hung-up"
  /** No status line came: connection refused, closed or reset. */
  | "no-reply";

/** A request that the target sent to the replay upstream. */
export interface UpstreamCall {
  /** Number in the replay server's journal. */
  readonly id: number;
  /** The dialect that the path belongs to. */
  readonly dialect: Dialect;
  /** The method. */
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text. */
  readonly body: string;
  /** The body as JSON; undefined when it is not JSON. */
  readonly json: Json | undefined;
  /** Status that the replay server answered with. */
  readonly status: number;
  /** Body segments that it had sent when the scenario ended. */
  readonly segmentsSent: number;
  /** How it ended; undefined when it still lasted as the scenario ended. */
  readonly ending: UpstreamEnding | undefined;
}

/** One request and everything that came of it. */
export interface Exchange {
  /** Name inside its scenario, such as `messages/whole`. */
  readonly label: string;
  /** The scenario that made it. */
  readonly scenario: string;
  /** The operation it was meant for. */
  readonly endpoint: Endpoint;
  /** The dialect its model is reached by; undefined when unknown. */
  readonly via: Dialect | undefined;
  /** The request as sent. */
  readonly request: SentRequest;
  /** Absent when no status line came. */
  readonly head?: ResponseHead;
  /** The body, transfer framing removed. */
  readonly body: Uint8Array;
  /** The body as text; broken UTF-8 shows as U+FFFD. */
  readonly text: string;
  /** False when the body is not valid UTF-8. */
  readonly validUtf8: boolean;
  /** The body as JSON; undefined when it is not JSON. */
  readonly json: Json | undefined;
  /** When the pieces arrived. */
  readonly arrivals: readonly Arrival[];
  /** The stream as a reader sees it that follows the standard to the letter. */
  readonly frames: readonly Frame[];
  /** The stream as a second, independent and lenient reader sees it: an unfinished last frame counts. */
  readonly witness: readonly Frame[];
  /** How it ended. */
  readonly ending: Ending;
  /** Milliseconds from the request to the end. */
  readonly endedMs: number;
  /** What went wrong on the wire, in words. */
  readonly problem?: string;
  /** Replay mode: what the target sent upstream for it, in order. */
  readonly upstream: readonly UpstreamCall[];
}

/** The value of a response header; undefined when it is not there. */
export function headerOf(exchange: Exchange, name: string): string | undefined {
  const found = exchange.head?.headers.filter(([key]) => key === name) ?? [];
  return found.length === 0
    ? undefined
    : found.map(([, value]) => value).join(", ");
}

/** True when the reply calls itself an event stream. */
export function isStream(exchange: Exchange): boolean {
  return /^text\/event-stream\b/i.test(
    headerOf(exchange, "content-type") ?? "",
  );
}
