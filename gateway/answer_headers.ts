/**
 * The headers of a generation's answer, beside those that every answer has.
 *
 * @module
 */
import type { DialectName } from "../translate/request.ts";
import type { Limits } from "./accounts/accounts.ts";
import type { HeaderFields } from "./answer.ts";
import { rateLimitHeaders } from "./rate_limit_headers.ts";

/** What the headers tell. */
export interface AnswerHeaders {
  /** Whether the answer is a stream. */
  readonly stream: boolean;
  /** The caller's: rate limits are told in its words. */
  readonly dialect: DialectName;
  /** Where the caller stands. */
  readonly limits: Limits;
  /** Paths of what the upstream that answered was not told. */
  readonly losses: readonly string[];
  /** Whether the replay upstream answered. */
  readonly replay: boolean;
  /** Unix time in milliseconds. */
  readonly nowMs: number;
}

/** The headers that keep intermediaries from holding a stream back. */
const STREAM_HEADERS: HeaderFields = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

const WHOLE_HEADERS: HeaderFields = { "content-type": "application/json" };

/** The most paths that `x-gateway-dropped` names. */
const MAX_DROPPED = 50;

/** The headers. */
export function answerHeaders(told: AnswerHeaders): HeaderFields {
  const headers: Record<string, string> = {
    ...(told.stream ? STREAM_HEADERS : WHOLE_HEADERS),
    ...rateLimitHeaders(told.dialect, told.limits, told.nowMs),
  };
  if (told.losses.length > 0) {
    headers["x-gateway-dropped"] = droppedHeader(told.losses);
  }
  if (told.replay) headers["x-gateway-upstream"] = "replay";
  return headers;
}

/** Paths hold names that the caller chose: what a header cannot carry is percent-encoded, and a long list is cut. */
function droppedHeader(losses: readonly string[]): string {
  const shown = losses.slice(0, MAX_DROPPED).map((path) =>
    path.slice(0, 200).replaceAll(
      /[^\x21-\x2b\x2d-\x7e]+/g,
      (text) => encodeURIComponent(text.toWellFormed()),
    )
  );
  return [...shown, ...(losses.length > MAX_DROPPED ? ["..."] : [])].join(",");
}
