/**
 * Maps the ending of a reply (`status` and `incomplete_details.reason`) to neutral stop reasons
 * and back, for streams and whole replies.
 */
import type { BlockKind, StopReason } from "../../model/reply.ts";

/** Why a reply is incomplete. A Map, because a vendor's word may be `constructor`. */
const INCOMPLETE_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["max_output_tokens", "max_tokens"],
  ["length", "max_tokens"],
  ["max_tokens", "max_tokens"],
  ["max_messages", "max_tokens"],
  ["steered", "max_tokens"],
  ["max_prompt_tokens", "context_window"],
  ["model_context_window_exceeded", "context_window"],
  ["content_filter", "refusal"],
  ["refusal", "refusal"],
]);

/**
 * The reason to write for each stop reason; null if the reply is complete. Without a word of its
 * own, an incomplete reply is one that reached its limit.
 */
const INCOMPLETE_WORDS: Readonly<
  Record<StopReason, "max_output_tokens" | "content_filter" | null>
> = {
  end: null,
  max_tokens: "max_output_tokens",
  stop_sequence: null,
  tool_use: null,
  refusal: "content_filter",
  pause: "max_output_tokens",
  context_window: "max_output_tokens",
  other: "max_output_tokens",
};

/** The neutral stop reason of an incomplete reply; undefined for an unknown word. */
export function decodeIncomplete(word: string): StopReason | undefined {
  return INCOMPLETE_REASONS.get(word.toLowerCase());
}

/**
 * Why the reply is incomplete; null if it is complete. A refusal text counts as a complete reply,
 * except beside tool calls, which clients would run, and beside other text, which was cut short.
 */
export function encodeIncomplete(
  reason: StopReason,
  kinds: ReadonlySet<BlockKind>,
): "max_output_tokens" | "content_filter" | null {
  const isRefusal = reason === "refusal" && kinds.has("refusal") &&
    !kinds.has("tool") && !kinds.has("text");
  return isRefusal ? null : INCOMPLETE_WORDS[reason];
}
