/**
 * The fields of a reply other than its output. The format requires every reply to repeat most
 * settings of its request. A field without a value is null, never absent; only `user` may be
 * absent but not null.
 */
import type { EncodeContext } from "../../dialect.ts";
import {
  arrayOr,
  isObject,
  type JsonDraft,
  type JsonObject,
  objectOr,
  stringIn,
} from "../../bytes/json.ts";

/**
 * The reply's id. The gateway makes its own, because upstreams store nothing.
 */
export function replyId(context: EncodeContext): string {
  return `resp_${context.idSeed}`;
}

/** Whether the reply will be stored, and which one it continues. */
export function storedState({ stored }: EncodeContext): JsonObject {
  return {
    store: stored?.store ?? false,
    previous_response_id: stored?.previousId ?? null,
  };
}

/** The state of a reply that failed: it cannot be continued, so it is never stored. */
export const FAILED_STATE: JsonObject = { status: "failed", store: false };

/**
 * The reply before any output: the settings of the request, and defaults for settings that it
 * does not have.
 */
export function replyConfig(context: EncodeContext): JsonObject {
  const asked = context.echo ?? {};
  const or = (key: string, value: unknown): unknown => asked[key] ?? value;
  const tier = stringIn(asked["service_tier"]);
  return {
    id: replyId(context),
    access_programs: null,
    object: "response",
    created_at: context.created,
    status: "in_progress",
    background: false,
    completed_at: null,
    error: null,
    frequency_penalty: or("frequency_penalty", 0),
    incomplete_details: null,
    instructions: or("instructions", null),
    max_output_tokens: or("max_output_tokens", null),
    max_tool_calls: or("max_tool_calls", null),
    model: context.model,
    output: [],
    parallel_tool_calls: or("parallel_tool_calls", true),
    presence_penalty: or("presence_penalty", 0),
    prompt_cache_key: or("prompt_cache_key", null),
    reasoning: reasoningOf(asked["reasoning"]),
    safety_identifier: or("safety_identifier", null),
    service_tier: tier === undefined || tier === "auto" ? "default" : tier,
    ...storedState(context),
    temperature: or("temperature", 1),
    text: textOf(asked["text"]),
    tool_choice: or("tool_choice", "auto"),
    tools: arrayOr(asked["tools"]).map(toolOf),
    top_logprobs: or("top_logprobs", 0),
    top_p: or("top_p", 1),
    truncation: or("truncation", "disabled"),
    usage: null,
    ...(typeof asked["user"] === "string" ? { user: asked["user"] } : {}),
    metadata: or("metadata", {}),
  };
}

function reasoningOf(asked: unknown): JsonObject {
  return { effort: null, summary: null, ...objectOr(asked) };
}

function textOf(asked: unknown): JsonObject {
  const text = objectOr(asked);
  const format = objectOr(text["format"]);
  return {
    ...text,
    format: format["type"] === undefined ? { type: "text" } : {
      ...format,
      ...(format["type"] === "json_schema"
        ? {
          description: format["description"] ?? null,
          strict: format["strict"] ?? false,
        }
        : {}),
    },
    verbosity: text["verbosity"] ?? "medium",
  };
}

/**
 * A tool as replies contain it: a function's three optional fields are always present, also for
 * the functions of a group.
 */
function toolOf(tool: unknown): unknown {
  if (!isObject(tool)) return tool;
  if (tool["type"] === "namespace") {
    return { ...tool, tools: arrayOr(tool["tools"]).map(toolOf) };
  }
  if (tool["type"] !== "function") return tool;
  const written: JsonDraft = { ...tool };
  written["description"] = tool["description"] ?? null;
  written["parameters"] = tool["parameters"] ?? null;
  // The client's function was offered in another format, where absent means false.
  written["strict"] = tool["strict"] ?? false;
  return written;
}
