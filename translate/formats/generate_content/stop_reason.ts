/**
 * Finish reasons of replies in this format. `wire.ts` has those of upstreams.
 */
import type { StopReason } from "../../model/reply.ts";

/**
 * The neutral stop reason → the format's. Calls end with `STOP` like everything that is complete;
 * `MAX_TOKENS` and `OTHER` are its words for an incomplete reply.
 */
export const WIRE_FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end: "STOP",
  max_tokens: "MAX_TOKENS",
  stop_sequence: "STOP",
  tool_use: "STOP",
  refusal: "SAFETY",
  pause: "OTHER",
  context_window: "MAX_TOKENS",
  other: "OTHER",
};
