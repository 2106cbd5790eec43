/** Requests and streams of the reference gateway's upstreams in the chat-completion dialect. */
import { compact } from "@model-gateway/replay/compact";
import { at, listAt, numberAt, textAt } from "../evidence/json_path.ts";
import {
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import type { StopCause } from "@model-gateway/replay/neutral_reply";
import type { ModelRequest, Part, Turn, TurnPart } from "./part.ts";

const STOPS: Readonly<Record<string, StopCause>> = {
  stop: "end",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

export function chatBody(request: ModelRequest): JsonObject {
  return {
    model: request.model,
    messages: [
      ...(request.system === ""
        ? []
        : [{ role: "system", content: request.system }]),
      ...request.turns.flatMap(turnBodies),
    ],
    stream: true,
    stream_options: { include_usage: true },
    ...compact({
      max_tokens: request.maxTokens,
      temperature: request.temperature,
      top_p: request.topP,
    }),
    ...(request.stops.length === 0 ? {} : { stop: request.stops }),
    ...compact({ user: request.user }),
    ...(request.tools.length === 0 ? {} : {
      tools: request.tools.map(({ name, about, schema, strict }) => ({
        type: "function",
        function: { name, description: about, parameters: schema, strict },
      })),
    }),
    ...(request.choice === undefined
      ? {}
      : { tool_choice: choiceBody(request.choice) }),
    ...(request.parallel ? {} : { parallel_tool_calls: false }),
    ...request.own.chat_completions,
  };
}

function choiceBody(choice: string): Json {
  if (choice === "any") return "required";
  if (!choice.startsWith("tool:")) return choice;
  return { type: "function", function: { name: choice.slice(5) } };
}

function turnBodies({ role, parts }: Turn): JsonObject[] {
  const results = parts.flatMap((part): JsonObject[] =>
    part.type === "result"
      ? [{ role: "tool", tool_call_id: part.id, content: part.text }]
      : []
  );
  const calls = parts.flatMap((part): JsonObject[] =>
    part.type === "call"
      ? [{
        id: part.id,
        type: "function",
        function: { name: part.name, arguments: JSON.stringify(part.args) },
      }]
      : []
  );
  const textParts = parts.flatMap(textBody);
  const isTextOnly = textParts.every((part) => part["type"] === "text");
  const content = isTextOnly
    ? textParts.map((part) => textAt(part, "text")).join("\n")
    : textParts;
  if (textParts.length === 0 && calls.length === 0) return results;
  return [...results, {
    role,
    content: textParts.length === 0 ? null : content,
    tool_calls: calls.length === 0 ? undefined : calls,
  }];
}

function textBody(part: TurnPart): JsonObject[] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type === "image-url") {
    return [{ type: "image_url", image_url: { url: part.url } }];
  }
  if (part.type !== "image") return [];
  const url = `data:${part.media};base64,${part.data}`;
  if (!part.media.startsWith("image/")) {
    return [{ type: "file", file: { filename: "file", file_data: url } }];
  }
  return [{ type: "image_url", image_url: { url } }];
}

export function chatParts(data: Json): Part[] {
  const choice = at(data, "choices.0");
  const parts: Part[] = [];
  const thought = textAt(choice, "delta.reasoning_content") ||
    textAt(choice, "delta.reasoning");
  if (thought !== "") parts.push({ type: "thinking", text: thought });
  const words = textAt(choice, "delta.content");
  const refusal = textAt(choice, "delta.refusal");
  if (words !== "") parts.push({ type: "text", text: words });
  else if (refusal !== "") {
    parts.push({ type: "text", text: refusal, refused: true });
  }
  for (const entry of listAt(choice, "delta.annotations")) {
    const source = objectOf(entry);
    parts.push({ type: "source", of: "chat_completions", source });
  }
  for (const [index, entry] of listAt(choice, "delta.tool_calls").entries()) {
    const call = numberAt(entry, "index") ?? index;
    const name = textAt(entry, "function.name");
    if (name !== "") {
      parts.push({ type: "tool", call, id: textAt(entry, "id"), name });
    }
    const text = textAt(entry, "function.arguments");
    if (text !== "") parts.push({ type: "args", call, text });
  }
  const usage = at(data, "usage") ?? at(data, "x_groq.usage");
  const input = numberAt(usage, "prompt_tokens");
  if (input !== undefined) {
    const cacheRead = numberAt(usage, "prompt_tokens_details.cached_tokens") ??
      0;
    parts.push({
      type: "usage",
      usage: {
        input: input - cacheRead,
        cacheRead,
        output: numberAt(usage, "completion_tokens") ?? 0,
        reasoning:
          numberAt(usage, "completion_tokens_details.reasoning_tokens") ?? 0,
      },
    });
  }
  const reason = textAt(choice, "finish_reason");
  if (reason !== "") {
    const refused = textAt(choice, "delta.refusal") !== "";
    parts.push({
      type: "stop",
      cause: refused ? "refusal" : STOPS[reason] ?? "other",
    });
  }
  return parts;
}
