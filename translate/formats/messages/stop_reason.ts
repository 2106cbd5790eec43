/**
 * Stop reasons of replies in the messages format.
 */
import type { StopReason } from "../../model/reply.ts";

/**
 * The dialect's stop reason → the neutral one; the last four are the chat format's, which some
 * proxies do not translate. A reply that ends with `compaction` holds a summary of the conversation
 * in place of an answer.
 */
const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["end_turn", "end"],
  ["max_tokens", "max_tokens"],
  ["stop_sequence", "stop_sequence"],
  ["tool_use", "tool_use"],
  ["pause_turn", "pause"],
  ["refusal", "refusal"],
  ["model_context_window_exceeded", "context_window"],
  ["compaction", "max_tokens"],
  ["stop", "end"],
  ["length", "max_tokens"],
  ["tool_calls", "tool_use"],
  ["content_filter", "refusal"],
]);

/** The neutral stop reason for an upstream's; undefined for an unknown one. */
export function readStopReason(word: string): StopReason | undefined {
  return STOP_REASONS.get(word.toLowerCase());
}

/** The neutral stop reason → the dialect's. `max_tokens` is its word for any incomplete reply. */
export const WIRE_STOP_REASONS: Readonly<Record<StopReason, string>> = {
  end: "end_turn",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  tool_use: "tool_use",
  refusal: "refusal",
  pause: "pause_turn",
  context_window: "model_context_window_exceeded",
  other: "max_tokens",
};
