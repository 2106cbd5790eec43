/**
 * Maps finish reasons of this format to neutral stop reasons and back, for streams and whole
 * replies.
 */
import type { StopReason } from "../../model/reply.ts";

/**
 * Keys are in lower case. A Map, because a vendor's word may be `constructor`. From `eos` on the
 * words are vendor-specific, or words of another format that a proxy left unchanged. A word that is
 * not here means a failure, such as `abort`, `network_error` or `insufficient_system_resource`.
 */
const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["stop", "end"],
  ["length", "max_tokens"],
  ["tool_calls", "tool_use"],
  ["function_call", "tool_use"],
  ["content_filter", "refusal"],
  ["eos", "end"],
  ["eos_token", "end"],
  ["endoftext", "end"],
  ["complete", "end"],
  ["completed", "end"],
  ["normal", "end"],
  ["end_turn", "end"],
  ["max_tokens", "max_tokens"],
  ["model_length", "context_window"],
  ["tool_use", "tool_use"],
  ["tool_call", "tool_use"],
  ["max_output_tokens", "max_tokens"],
  ["model_context_window_exceeded", "context_window"],
  ["stop_sequence", "stop_sequence"],
  ["refusal", "refusal"],
  ["sensitive", "refusal"],
  ["safety", "refusal"],
  ["recitation", "refusal"],
  ["blocklist", "refusal"],
  ["prohibited_content", "refusal"],
  ["spii", "refusal"],
  ["content_filtered", "refusal"],
  ["guardrail_intervened", "refusal"],
]);

/** `length` is the format's only word for an incomplete reply. */
const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end: "stop",
  max_tokens: "length",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  refusal: "content_filter",
  pause: "length",
  context_window: "length",
  other: "length",
};

/**
 * The neutral stop reason for an upstream's finish reason, which may have more behind a colon;
 * undefined for an unknown word.
 */
export function decodeFinishReason(word: string): StopReason | undefined {
  const [first = ""] = word.toLowerCase().split(":");
  return STOP_REASONS.get(first.trim());
}

/** The finish reason to send. The deprecated form uses another word for calls. */
export function encodeFinishReason(
  reason: StopReason,
  legacy: boolean,
): string {
  return legacy && reason === "tool_use"
    ? "function_call"
    : FINISH_REASONS[reason];
}
