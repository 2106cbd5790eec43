/**
 * A small neutral request in another dialect's words, for this folder's tests only.
 *
 * @module
 */
import { type Capabilities, DEFAULT_CAPABILITIES } from "../capabilities.ts";
import type { EncodeContext } from "../dialect.ts";
import type { GenerationRequest, Part, Role, Turn } from "../request.ts";

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

/** A model with a reasoning budget. */
export const BUDGET: Capabilities = DEFAULT_CAPABILITIES.messages;

/** A newer model: adaptive reasoning, no sampling, no prefill, system turns anywhere. */
export const ADAPTIVE: Capabilities = {
  ...BUDGET,
  reasoning: "adaptive",
  efforts: ["low", "medium", "high", "max"],
  sampling: "none",
  prefill: false,
  systemAnywhere: true,
};

/** A caller's side of a reply. */
export const CALLER: EncodeContext = {
  model: "asked-for",
  created: 1,
  idSeed: "0123456789abcdefghijABCD",
  wantUsage: false,
  legacyFunctions: false,
  inputEstimate: 7,
};
