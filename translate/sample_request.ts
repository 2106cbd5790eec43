/**
 * A small neutral request in nobody's words, for the dialects' tests only.
 *
 * @module
 */
import type { GenerationRequest, Part, Role, Turn } from "./request.ts";

/** A request that says "hi", with the given fields over it. The words are in capitals, so that a test sees where they go. */
export function sampleRequest(
  over: Partial<GenerationRequest> = {},
): GenerationRequest {
  return {
    model: "m",
    stream: false,
    system: [],
    turns: [turn("user", { type: "text", text: "hi" })],
    wantUsage: false,
    words: {
      messages: "MESSAGES",
      system: "SYSTEM",
      tools: "TOOLS",
      toolChoice: "TOOL_CHOICE",
      parallelTools: "PARALLEL",
      maxTokens: "MAX_TOKENS",
      temperature: "TEMPERATURE",
      topP: "TOP_P",
      topK: "TOP_K",
      stop: "STOP",
      format: "FORMAT",
      reasoning: "REASONING",
      user: "USER",
      serviceTier: "SERVICE_TIER",
      candidates: "CANDIDATES",
      seed: "SEED",
      presencePenalty: "PRESENCE",
      frequencyPenalty: "FREQUENCY",
      logprobs: "LOGPROBS",
    },
    unmapped: [],
    essential: [],
    ...over,
  };
}

/** A turn of the given parts. */
export function turn(role: Role, ...parts: Part[]): Turn {
  return { role, parts };
}
