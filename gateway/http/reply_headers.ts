/**
 * The headers of a generation reply, in addition to those that every response has.
 */
import type { Dialect } from "../../translate/dialect.ts";
import type { Limits } from "../accounts/accounts.ts";
import type { HeaderFields } from "./http_reply.ts";
import { rateLimitHeaders } from "./rate_limit_headers.ts";

interface ReplyHeaderOptions {
  readonly stream: boolean;
  /** The client's; decides the names of the rate limit headers, and the form of a stream. */
  readonly dialect: Pick<Dialect, "name" | "streamForm">;
  /** What describes the body in place of its usual form; absent: nothing. */
  readonly own?: HeaderFields;
  /** State of the key's rate limits. */
  readonly limits: Limits;
  /** Paths of the request fields that the upstream does not support. */
  readonly dropped: readonly string[];
  /** Whether the embedded replay upstream replied. */
  readonly replay: boolean;
  /** Unix time in milliseconds. */
  readonly nowMs: number;
}

/** Keep proxies from buffering the stream. */
const STREAM_HEADERS: HeaderFields = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

const WHOLE_HEADERS: HeaderFields = { "content-type": "application/json" };

/** The most paths that `x-gateway-dropped` lists. */
const MAX_DROPPED = 50;

export function replyHeaders(options: ReplyHeaderOptions): HeaderFields {
  const headers: Record<string, string> = {
    ...(options.stream ? STREAM_HEADERS : WHOLE_HEADERS),
    ...(options.dialect.streamForm === "json_array" ? WHOLE_HEADERS : {}),
    ...options.own,
    ...rateLimitHeaders(options.dialect.name, options.limits, options.nowMs),
  };
  if (options.dropped.length > 0) {
    headers["x-gateway-dropped"] = droppedHeader(options.dropped);
  }
  if (options.replay) headers["x-gateway-upstream"] = "replay";
  return headers;
}

/**
 * Paths contain names that the client chose: characters that a header cannot carry are
 * percent-encoded, and a long list is truncated.
 */
function droppedHeader(dropped: readonly string[]): string {
  const shown = dropped.slice(0, MAX_DROPPED).map((path) =>
    path.slice(0, 200).replaceAll(
      /[^\x21-\x2b\x2d-\x7e]+/g,
      (text) => encodeURIComponent(text.toWellFormed()),
    )
  );
  return [...shown, ...(dropped.length > MAX_DROPPED ? ["..."] : [])].join(",");
}
