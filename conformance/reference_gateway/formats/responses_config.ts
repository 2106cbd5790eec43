/** What replies of the Responses format hold beside their output. */
import {
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import type { NeutralUsage } from "@model-gateway/replay/neutral_reply";

export function usageBody(usage: NeutralUsage): JsonObject {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
}

export function seconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** The members of a reply that its request determines, before any output. */
export function configOf(
  seed: string,
  model: string,
  asked: JsonObject,
): JsonObject {
  const or = (name: string, value: Json): Json => asked[name] ?? value;
  const format = objectOf(objectOf(asked["text"])["format"]);
  return {
    id: `resp_${seed}`,
    object: "response",
    created_at: seconds(),
    status: "in_progress",
    completed_at: null,
    incomplete_details: null,
    error: null,
    model,
    previous_response_id: or("previous_response_id", null),
    instructions: or("instructions", null),
    output: [],
    tools: (Array.isArray(asked["tools"]) ? asked["tools"] : []).map(
      (tool: Json) => {
        const written = objectOf(tool);
        return written["type"] === "function"
          ? {
            ...written,
            description: written["description"] ?? null,
            parameters: written["parameters"] ?? null,
            strict: written["strict"] ?? false,
          }
          : tool;
      },
    ),
    tool_choice: or("tool_choice", "auto"),
    truncation: or("truncation", "disabled"),
    parallel_tool_calls: or("parallel_tool_calls", true),
    text: {
      ...objectOf(asked["text"]),
      format: format["type"] === undefined ? { type: "text" } : format,
    },
    top_p: or("top_p", 1),
    temperature: or("temperature", 1),
    presence_penalty: or("presence_penalty", 0),
    frequency_penalty: or("frequency_penalty", 0),
    top_logprobs: or("top_logprobs", 0),
    reasoning: { effort: null, summary: null, ...objectOf(asked["reasoning"]) },
    usage: null,
    max_output_tokens: or("max_output_tokens", null),
    max_tool_calls: or("max_tool_calls", null),
    store: or("store", true),
    background: false,
    service_tier: "default",
    metadata: or("metadata", {}),
    safety_identifier: or("safety_identifier", null),
    prompt_cache_key: or("prompt_cache_key", null),
  };
}
