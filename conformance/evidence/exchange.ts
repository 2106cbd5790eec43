/**
 * The evidence: each request, its reply with arrival times, and the requests upstream that it
 * caused. The recorder (`suite/recorder.ts`) creates these records, and checks read them. They
 * never contain a key: see `redaction.ts`.
 */
import type { Json } from "@model-gateway/replay/json";
import type { DialectName } from "@model-gateway/replay/parse_request";
import type { Ending as UpstreamEnding } from "@model-gateway/replay";

/** The operation of the specification that an exchange is meant for. */
export type Endpoint =
  | "messages"
  | "chat"
  | "models"
  /** Beyond the base specification; with all paths below `/v1/responses`. */
  | "responses"
  /** Beyond it, too; with all paths below `/v1beta/models`. */
  | "generate_content"
  | "embeddings"
  | "other";

/** A header as sent or received, name in lower case. */
export type Header = readonly [name: string, value: string];

export interface RecordedRequest {
  /** The client that sent it: `fetch`, or bytes over a socket. */
  readonly client: "fetch" | "raw";
  readonly method: string;
  /** Path and query, relative to the base URL. */
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
  readonly status: number;
  /** All headers in order. */
  readonly headers: readonly Header[];
  /** Milliseconds after the request was sent. */
  readonly atMs: number;
  /** True for HTTP/1.0, as far as the client sees the version. */
  readonly isOld?: boolean;
}

/** A piece of the body as it arrived. */
export interface Arrival {
  /** Milliseconds after the request was sent. */
  readonly atMs: number;
  /** Bytes of the body up to and including this piece. */
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

export type Ending =
  /** The body ended properly. */
  | "complete"
  /** The connection broke, or ended before the framing did. */
  | "broken"
  /** The suite's time limit passed. */
  | "timeout"
  /** The suite closed the connection on purpose. */
  | "hung-up"
  /** No status line came: connection refused, closed or reset. */
  | "no-reply";

/** A request that the target sent to the replay upstream. */
export interface UpstreamCall {
  /** Its number in the replay server's request log. */
  readonly id: number;
  /** The dialect that the path belongs to. */
  readonly dialect: DialectName;
  readonly method: string;
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body as JSON; undefined when it is not JSON. */
  readonly json: Json | undefined;
  /** Status that the replay server answered with. */
  readonly status: number;
  /** Body segments that had been sent when the scenario ended. */
  readonly segmentsSent: number;
  /** How it ended; undefined when it was still open at the end of the scenario. */
  readonly ending: UpstreamEnding | undefined;
}

/** A request with its reply and everything else that it caused. */
export interface Exchange {
  /** Name within its scenario, such as `messages/whole`. */
  readonly label: string;
  readonly scenario: string;
  /** The operation it was meant for. */
  readonly endpoint: Endpoint;
  /** The dialect of the model's upstream; undefined when unknown. */
  readonly via: DialectName | undefined;
  readonly request: RecordedRequest;
  /** Absent when no status line came. */
  readonly head?: ResponseHead;
  /** The body, transfer framing removed. */
  readonly body: Uint8Array;
  /** The body as text; invalid UTF-8 becomes U+FFFD. */
  readonly text: string;
  /** False when the body is not valid UTF-8. */
  readonly validUtf8: boolean;
  /** The body as JSON; undefined when it is not JSON. */
  readonly json: Json | undefined;
  /** When the pieces arrived. */
  readonly arrivals: readonly Arrival[];
  /** The frames of a reader that follows the standard strictly. */
  readonly frames: readonly Frame[];
  /**
   * The frames of a second, independent and lenient reader, which counts an unfinished last frame.
   */
  readonly witness: readonly Frame[];
  readonly ending: Ending;
  /** Milliseconds from the request to the end. */
  readonly endedMs: number;
  /** Description of a failure on the wire; absent when there was none. */
  readonly problem?: string;
  /** In a replay run: the requests upstream that the target sent for it, in order. */
  readonly upstream: readonly UpstreamCall[];
}

/** The value of a response header; undefined when it is absent. */
export function headerOf(
  exchange: Pick<Exchange, "head">,
  name: string,
): string | undefined {
  const found = exchange.head?.headers.filter(([key]) => key === name) ?? [];
  return found.length === 0
    ? undefined
    : found.map(([, value]) => value).join(", ");
}

/**
 * True when the reply announces that the connection closes after it, or does not keep it: HTTP/1.0
 * closes by default (RFC 9112, 9.3).
 */
export function announcesClose(exchange: Exchange): boolean {
  const connection = headerOf(exchange, "connection") ?? "";
  return /(?:^|,)\s*close\s*(?:,|$)/i.test(connection) ||
    (exchange.head?.isOld === true && !/keep-alive/i.test(connection));
}

/** True when the content type of the reply is an event stream. */
export function isStream(exchange: Exchange): boolean {
  return /^text\/event-stream\b/i.test(
    headerOf(exchange, "content-type") ?? "",
  );
}
