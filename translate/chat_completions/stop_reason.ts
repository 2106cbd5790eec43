/**
 * Finish reasons of this format ↔ neutral stop reasons. One table for each direction, for streams and whole replies alike.
 *
 * @module
 */
import type { StopReason } from "../reply.ts";

/** A Map, for a vendor's word may be `constructor`. The last five are some vendors' own. */
const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["stop", "end"],
  ["length", "max_tokens"],
  ["tool_calls", "tool_use"],
  ["function_call", "tool_use"],
  ["content_filter", "refusal"],
  ["eos", "end"],
  ["end_turn", "end"],
  ["max_tokens", "max_tokens"],
  ["model_length", "context_window"],
  ["tool_use", "tool_use"],
]);

const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end: "stop",
  max_tokens: "length",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  refusal: "content_filter",
  pause: "stop",
  context_window: "length",
  other: "stop",
};

/** The neutral word for an upstream's finish reason; words that nobody knows are `other`. */
export function decodeFinishReason(word: string): StopReason {
  return STOP_REASONS.get(word) ?? "other";
}

/** The finish reason to tell. Callers of the old form know calls by another word. */
export function encodeFinishReason(
  reason: StopReason,
  legacy: boolean,
): string {
  return legacy && reason === "tool_use"
    ? "function_call"
    : FINISH_REASONS[reason];
}
