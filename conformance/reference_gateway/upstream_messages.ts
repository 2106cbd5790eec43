/** Requests and streams of the reference gateway's upstreams in the message dialect. */
import { compact } from "@model-gateway/replay/compact";
import { at, numberAt, textAt } from "../evidence/json_path.ts";
import {
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import type {
  NeutralUsage,
  StopCause,
} from "@model-gateway/replay/neutral_reply";
import type { ModelRequest, Part, Turn, TurnPart } from "./part.ts";

const STOPS: Readonly<Record<string, StopCause>> = {
  end_turn: "end",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  tool_use: "tool_use",
  refusal: "refusal",
  pause_turn: "pause",
  model_context_window_exceeded: "context_window",
};

export function messagesBody(request: ModelRequest): JsonObject {
  const named = request.choice?.startsWith("tool:") === true;
  return {
    model: request.model,
    max_tokens: request.maxTokens ?? 4096,
    stream: true,
    messages: request.turns.map(turnBody),
    ...(request.system === "" ? {} : { system: request.system }),
    ...(request.temperature === undefined
      ? {}
      : { temperature: Math.min(request.temperature, 1) }),
    ...compact({ top_p: request.topP }),
    ...(request.stops.length === 0 ? {} : { stop_sequences: request.stops }),
    ...(request.user === undefined
      ? {}
      : { metadata: { user_id: request.user } }),
    ...(request.tools.length === 0 ? {} : {
      tools: request.tools.map(({ name, about, schema, strict }) => ({
        name,
        description: about,
        input_schema: schema,
        strict: strict === true ? strict : undefined,
      })),
    }),
    ...(request.choice === undefined && request.parallel ? {} : {
      tool_choice: {
        type: named ? "tool" : request.choice ?? "auto",
        name: named ? request.choice?.slice(5) : undefined,
        disable_parallel_tool_use: request.parallel ? undefined : true,
      },
    }),
    ...request.own.messages,
  };
}

function turnBody({ role, parts }: Turn): JsonObject {
  const [only] = parts;
  if (
    parts.length === 1 && only?.type === "text" && only.cached === undefined
  ) {
    return { role, content: only.text };
  }
  return { role, content: parts.map(blockBody) };
}

function blockBody(part: TurnPart): JsonObject {
  switch (part.type) {
    case "text":
      return part.cached === undefined
        ? { type: "text", text: part.text }
        : { type: "text", text: part.text, cache_control: part.cached };
    case "image":
      return {
        type: part.media.startsWith("image/") ? "image" : "document",
        source: { type: "base64", media_type: part.media, data: part.data },
      };
    case "image-url":
      return { type: "image", source: { type: "url", url: part.url } };
    case "call":
      return {
        type: "tool_use",
        id: part.id,
        name: part.name,
        input: part.args,
      };
    case "result":
      return {
        type: "tool_result",
        tool_use_id: part.id,
        content: part.text,
        is_error: part.failed === true ? true : undefined,
      };
    case "kept":
      return part.block;
  }
}

export function messagesParts(data: Json): Part[] {
  switch (at(data, "type")) {
    case "message_start":
      return [usagePart(at(data, "message.usage"))];
    case "content_block_start":
      return startParts(data);
    case "content_block_delta":
      return deltaParts(data);
    case "message_delta": {
      const reason = at(data, "delta.stop_reason");
      const sequence = at(data, "delta.stop_sequence");
      return [
        usagePart(at(data, "usage")),
        ...(typeof reason === "string"
          ? [{
            type: "stop" as const,
            cause: STOPS[reason] ?? "other",
            ...(typeof sequence === "string" ? { sequence } : {}),
          }]
          : []),
      ];
    }
    default:
      return [];
  }
}

function startParts(data: Json): Part[] {
  const block = at(data, "content_block");
  const call = numberAt(data, "index") ?? 0;
  switch (at(block, "type")) {
    case "tool_use":
      return [{
        type: "tool",
        call,
        id: textAt(block, "id"),
        name: textAt(block, "name"),
      }];
    case "redacted_thinking":
      return [{ type: "redacted", data: textAt(block, "data") }];
    default:
      return [];
  }
}

function deltaParts(data: Json): Part[] {
  const call = numberAt(data, "index") ?? 0;
  switch (at(data, "delta.type")) {
    case "text_delta":
      return [{ type: "text", text: textAt(data, "delta.text") }];
    case "thinking_delta":
      return [{ type: "thinking", text: textAt(data, "delta.thinking") }];
    case "signature_delta":
      return [{ type: "signature", value: textAt(data, "delta.signature") }];
    case "citations_delta": {
      const source = objectOf(at(data, "delta.citation"));
      return [{ type: "source", of: "messages", source }];
    }
    case "input_json_delta":
      return [{ type: "args", call, text: textAt(data, "delta.partial_json") }];
    default:
      return [];
  }
}

function usagePart(reported: Json | undefined): Part {
  const field = (
    key: keyof NeutralUsage,
    name: string,
  ): Partial<NeutralUsage> => {
    const count = numberAt(reported, name);
    return count === undefined ? {} : { [key]: count };
  };
  return {
    type: "usage",
    usage: {
      ...field("input", "input_tokens"),
      ...field("cacheRead", "cache_read_input_tokens"),
      ...field("cacheWrite", "cache_creation_input_tokens"),
      ...field("output", "output_tokens"),
      ...field("reasoning", "output_tokens_details.thinking_tokens"),
    },
  };
}
