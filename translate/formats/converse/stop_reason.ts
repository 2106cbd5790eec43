import type { StopReason } from "../../model/reply.ts";

const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ["end_turn", "end"],
  ["max_tokens", "max_tokens"],
  ["stop_sequence", "stop_sequence"],
  ["tool_use", "tool_use"],
  ["guardrail_intervened", "refusal"],
  ["content_filtered", "refusal"],
  ["model_context_window_exceeded", "context_window"],
]);

/**
 * The neutral stop reason for an upstream's; undefined for an unknown one and for failures, such as
 * `malformed_model_output` and `malformed_tool_use`.
 */
export function readStopReason(word: string): StopReason | undefined {
  return STOP_REASONS.get(word);
}
