/**
 * Telling a caller where it stands, in the headers that its format's client libraries read.
 *
 * @module
 */
import type { DialectName } from "../translate/request.ts";
import type { LimitState, Reservation } from "./accounts/accounts.ts";
import type { HeaderFields } from "./answer.ts";

/** The headers for the limits that exist. */
export function rateLimitHeaders(
  dialect: DialectName,
  limits: Reservation["limits"],
  nowMs: number,
): HeaderFields {
  const headers: Record<string, string> = {};
  for (const kind of ["requests", "tokens"] as const) {
    const state = limits[kind];
    if (state === undefined) continue;
    if (dialect === "messages") {
      headers[`anthropic-ratelimit-${kind}-limit`] = String(state.limit);
      headers[`anthropic-ratelimit-${kind}-remaining`] = String(
        state.remaining,
      );
      headers[`anthropic-ratelimit-${kind}-reset`] = secondText(
        state.resetAtMs,
      );
    } else {
      headers[`x-ratelimit-limit-${kind}`] = String(state.limit);
      headers[`x-ratelimit-remaining-${kind}`] = String(state.remaining);
      headers[`x-ratelimit-reset-${kind}`] = duration(state, nowMs);
    }
  }
  return headers;
}

/** The second that was written last: calls that come together mostly tell the same. */
let written = { second: NaN, text: "" };

/** A time as RFC 3339 writes it, to the second. */
function secondText(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== written.second) {
    const text = new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
    written = { second, text };
  }
  return written.text;
}

/** The chat format's way of saying how long: `1s`, `6m0s`, `1h0m0s`. */
function duration(state: LimitState, nowMs: number): string {
  const seconds = Math.max(0, Math.ceil((state.resetAtMs - nowMs) / 1000));
  const [h, m, s] = [
    Math.floor(seconds / 3600),
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ];
  return h > 0 ? `${h}h${m}m${s}s` : m > 0 ? `${m}m${s}s` : `${s}s`;
}
