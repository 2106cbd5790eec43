/** Requests and streams of the reference gateway's upstreams in the Responses dialect. */
import { listAt, numberAt, textAt } from "../evidence/json_path.ts";
import {
  arrayOf,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import type { ModelRequest, Part } from "./part.ts";

/** Fewest output tokens that this vendor accepts. */
const LEAST_TOKENS = 16;

/**
 * The body of a request. Only clients of the Responses endpoint reach these upstreams, so that the
 * body is the client's, with the items of earlier replies and without what is kept here.
 */
export function responsesBody(request: ModelRequest): JsonObject {
  const { previous_response_id: _, ...asked } = request.asked ?? {};
  const input = asked["input"] ?? null;
  const tools = arrayOf(asked["tools"]).filter((tool) =>
    ["function", "custom", "namespace"].includes(textAt(tool, "type"))
  );
  return {
    ...asked,
    stream: true,
    store: false,
    ...(request.maxTokens === undefined
      ? {}
      : { max_output_tokens: Math.max(LEAST_TOKENS, request.maxTokens) }),
    ...(tools.length === 0 ? { tools: undefined } : { tools }),
    input: Array.isArray(input) ? input.flatMap(itemBody) : input,
  };
}

/** An item without its id; reasoning that this gateway did not get from here is left out. */
function itemBody(item: Json): Json[] {
  const { id: _, ...rest } = objectOf(item);
  if (rest["type"] === "reasoning") return [];
  return [
    rest["type"] === "function_call" && rest["arguments"] === ""
      ? { ...rest, arguments: "{}" }
      : rest,
  ];
}

export function responsesParts(data: Json): Part[] {
  const call = numberAt(data, "output_index") ?? 0;
  const delta = textAt(data, "delta");
  switch (textAt(data, "type").replace("response.", "")) {
    case "output_text.delta":
      return [{ type: "text", text: delta }];
    case "refusal.delta":
      return [{ type: "text", text: delta, refused: true }];
    case "reasoning_summary_text.delta":
      return [{ type: "thinking", text: delta }];
    case "function_call_arguments.delta":
      return [{ type: "args", call, text: delta }];
    case "output_item.added": {
      const id = textAt(data, "item.call_id");
      const called = textAt(data, "item.name");
      const group = textAt(data, "item.namespace");
      const name = group === "" ? called : `${group}__${called}`;
      return id === "" ? [] : [{ type: "tool", call, id, name }];
    }
    case "custom_tool_call_input.done": {
      const text = JSON.stringify({ input: textAt(data, "input") });
      return [{ type: "args", call, text }];
    }
    case "completed":
    case "incomplete":
      return endParts(objectOf(objectOf(data)["response"]));
    default:
      return [];
  }
}

function endParts(reply: JsonObject): Part[] {
  const count = (path: string): number => numberAt(reply, `usage.${path}`) ?? 0;
  const cacheRead = count("input_tokens_details.cached_tokens");
  const reason = textAt(reply, "incomplete_details.reason");
  const isCalled = listAt(reply, "output").some((item) =>
    textAt(item, "call_id") !== ""
  );
  return [
    {
      type: "usage",
      usage: {
        input: count("input_tokens") - cacheRead,
        cacheRead,
        output: count("output_tokens"),
        reasoning: count("output_tokens_details.reasoning_tokens"),
      },
    },
    {
      type: "stop",
      cause: reason === "max_output_tokens"
        ? "max_tokens"
        : reason === "content_filter"
        ? "refusal"
        : isCalled
        ? "tool_use"
        : "end",
    },
  ];
}
