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

/** The neutral stop reason for an upstream's; an unknown one is `other`. */
export function readStopReason(word: string): StopReason {
  return STOP_REASONS.get(word) ?? "other";
}
