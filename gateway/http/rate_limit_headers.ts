/**
 * The state of a key's rate limits, in the headers that the client libraries of its dialect read.
 */
import type { DialectName } from "../../translate/model/request.ts";
import type { Limits, LimitState } from "../accounts/accounts.ts";
import type { HeaderFields } from "./http_reply.ts";

/** The headers for the limits that are set; none for the others. */
export function rateLimitHeaders(
  dialect: DialectName,
  limits: Limits,
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
      headers[`anthropic-ratelimit-${kind}-reset`] = rfc3339Seconds(
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

/** Cache of the latest result: the reset times of concurrent calls are mostly equal. */
let latest = { second: NaN, text: "" };

/** A time in RFC 3339, in whole seconds. */
function rfc3339Seconds(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== latest.second) {
    const text = new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
    latest = { second, text };
  }
  return latest.text;
}

/** The time until a reset, as the chat format writes it: `1s`, `6m0s`, `1h0m0s`. */
function duration(state: LimitState, nowMs: number): string {
  const seconds = Math.max(0, Math.ceil((state.resetAtMs - nowMs) / 1000));
  const [h, m, s] = [
    Math.floor(seconds / 3600),
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ];
  return h > 0 ? `${h}h${m}m${s}s` : m > 0 ? `${m}m${s}s` : `${s}s`;
}
