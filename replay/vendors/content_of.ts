/**
 * Extracts the content of a vendor's reply, streamed or whole, so that a fixture's bytes can be
 * compared with its declared content.
 */
import type { Content } from "../fixtures/fixture.ts";
import type { DialectName } from "../parse_request.ts";
import { foldChat, foldMessages } from "./fold_stream.ts";
import {
  arrayOf,
  type Json,
  type JsonObject,
  numberOf,
  objectOf,
  parseJson,
  stringOf,
} from "../json.ts";
import type { NeutralUsage, StopCause } from "./neutral_reply.ts";

/** Content with every field present. */
export interface ReadContent {
  readonly text: string;
  /** All visible thinking, joined. */
  readonly thinking: string;
  /** Refusal text that is separate from the answer's text (chat only). */
  readonly refusal: string;
  readonly tools: readonly { readonly name: string; readonly args: Json }[];
  readonly stop: StopCause;
  /** The stop string that was matched; null when none is reported. */
  readonly stopSequence: string | null;
  /** Tokens; zero where nothing is reported. */
  readonly usage: NeutralUsage;
}

/** A fixture's declared content with its absent fields filled in. */
export function completeContent(content: Content): ReadContent {
  return {
    text: content.text,
    thinking: content.thinking ?? "",
    refusal: content.refusal ?? "",
    tools: content.tools ?? [],
    stop: content.stop,
    stopSequence: content.stopSequence ?? null,
    usage: content.usage ?? NO_USAGE,
  };
}

export function contentOfStream(
  dialect: DialectName,
  events: readonly JsonObject[],
): ReadContent {
  switch (dialect) {
    case "messages":
      return contentOfWhole(dialect, foldMessages(events));
    case "chat_completions":
      return contentOfWhole(dialect, foldChat(events));
    case "generate_content":
      return readGemini(events);
    case "responses":
      return readResponse(
        objectOf(events.findLast(({ response }) => response)?.["response"]),
      );
  }
}

export function contentOfWhole(
  dialect: DialectName,
  body: JsonObject,
): ReadContent {
  switch (dialect) {
    case "messages":
      return readMessage(body);
    case "chat_completions":
      return readChat(body);
    case "generate_content":
      return readGemini([body]);
    case "responses":
      return readResponse(body);
  }
}

const NO_USAGE: NeutralUsage = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0,
};

const STOPS: Readonly<Record<string, StopCause>> = {
  end_turn: "end",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  tool_use: "tool_use",
  refusal: "refusal",
  pause_turn: "pause",
  model_context_window_exceeded: "context_window",
  stop: "end",
  length: "max_tokens",
  tool_calls: "tool_use",
  STOP: "end",
  MAX_TOKENS: "max_tokens",
  CONTINUATION: "max_tokens",
  SAFETY: "refusal",
  completed: "end",
  max_output_tokens: "max_tokens",
  content_filter: "refusal",
};

/**
 * A normal stop after tool calls counts as `tool_use`: generate content has no stop reason for it.
 */
function stopOf(
  reason: Json | undefined,
  tools: readonly unknown[],
): StopCause {
  const stop = STOPS[stringOf(reason) ?? ""] ?? "other";
  return stop === "end" && tools.length > 0 ? "tool_use" : stop;
}

function joined(
  blocks: readonly JsonObject[],
  type: string,
  field: string,
): string {
  return blocks.filter((block) => block["type"] === type)
    .map((block) => stringOf(block[field]) ?? "").join("");
}

function count(value: Json | undefined): number {
  return numberOf(value) ?? 0;
}

function readMessage(body: JsonObject): ReadContent {
  const blocks = arrayOf(body["content"]).map(objectOf);
  const tools = blocks.filter((block) => block["type"] === "tool_use")
    .map(({ name, input }) => ({
      name: stringOf(name) ?? "",
      args: input ?? null,
    }));
  const usage = objectOf(body["usage"]);
  return {
    text: joined(blocks, "text", "text"),
    thinking: joined(blocks, "thinking", "thinking"),
    refusal: "",
    tools,
    stop: stopOf(body["stop_reason"], tools),
    stopSequence: stringOf(body["stop_sequence"]) ?? null,
    usage: {
      input: count(usage["input_tokens"]),
      cacheRead: count(usage["cache_read_input_tokens"]),
      cacheWrite: count(usage["cache_creation_input_tokens"]),
      output: count(usage["output_tokens"]),
      reasoning: count(
        objectOf(usage["output_tokens_details"])["thinking_tokens"],
      ),
    },
  };
}

function readChat(body: JsonObject): ReadContent {
  const choice = objectOf(arrayOf(body["choices"])[0]);
  const message = objectOf(choice["message"]);
  const tools = arrayOf(message["tool_calls"]).map((call) => {
    const called = objectOf(objectOf(call)["function"]);
    return {
      name: stringOf(called["name"]) ?? "",
      args: parseJson(stringOf(called["arguments"]) ?? "") ?? null,
    };
  });
  const usage = objectOf(body["usage"]);
  const details = objectOf(usage["prompt_tokens_details"]);
  const cacheRead = count(details["cached_tokens"]);
  const cacheWrite = count(details["cache_write_tokens"]);
  return {
    text: stringOf(message["content"]) ?? "",
    thinking: stringOf(message["reasoning_content"]) ?? "",
    refusal: stringOf(message["refusal"]) ?? "",
    tools,
    stop: stopOf(choice["finish_reason"], tools),
    stopSequence: null,
    usage: {
      input: count(usage["prompt_tokens"]) - cacheRead - cacheWrite,
      cacheRead,
      cacheWrite,
      output: count(usage["completion_tokens"]),
      reasoning: count(
        objectOf(usage["completion_tokens_details"])["reasoning_tokens"],
      ),
    },
  };
}

function readResponse(body: JsonObject): ReadContent {
  const items = arrayOf(body["output"]).map(objectOf);
  const parts = items.flatMap((item) =>
    [...arrayOf(item["summary"]), ...arrayOf(item["content"])].map(objectOf)
  );
  const tools = items.filter(({ type }) =>
    type === "function_call" || type === "custom_tool_call"
  ).map((call) => ({
    name: stringOf(call["name"]) ?? "",
    args: call["input"] ?? parseJson(stringOf(call["arguments"]) ?? "") ?? null,
  }));
  const usage = objectOf(body["usage"]);
  const details = objectOf(usage["input_tokens_details"]);
  const cacheRead = count(details["cached_tokens"]);
  const cacheWrite = count(details["cache_write_tokens"]);
  return {
    text: joined(parts, "output_text", "text"),
    thinking: joined(parts, "summary_text", "text"),
    refusal: joined(parts, "refusal", "refusal"),
    tools,
    stop: stopOf(
      objectOf(body["incomplete_details"])["reason"] ?? body["status"],
      tools,
    ),
    stopSequence: null,
    usage: {
      input: count(usage["input_tokens"]) - cacheRead - cacheWrite,
      cacheRead,
      cacheWrite,
      output: count(usage["output_tokens"]),
      reasoning: count(
        objectOf(usage["output_tokens_details"])["reasoning_tokens"],
      ),
    },
  };
}

function readGemini(chunks: readonly JsonObject[]): ReadContent {
  const candidates = chunks.map((chunk) =>
    objectOf(arrayOf(chunk["candidates"])[0])
  );
  const parts = candidates.flatMap((one) =>
    arrayOf(objectOf(one["content"])["parts"])
  ).map(objectOf);
  const textOf = (thought: boolean): string =>
    parts.filter((part) => (part["thought"] === true) === thought)
      .map((part) => stringOf(part["text"]) ?? "").join("");
  const tools = parts.flatMap((part) =>
    part["functionCall"] === undefined ? [] : [objectOf(part["functionCall"])]
  )
    .map(({ name, args }) => ({
      name: stringOf(name) ?? "",
      args: args ?? null,
    }));
  const last = chunks.at(-1) ?? {};
  const blocked = objectOf(last["promptFeedback"])["blockReason"] !== undefined;
  const reason = candidates.findLast((one) => one["finishReason"] !== undefined)
    ?.["finishReason"];
  const usage = objectOf(last["usageMetadata"]);
  const cacheRead = count(usage["cachedContentTokenCount"]);
  return {
    text: textOf(false),
    thinking: textOf(true),
    refusal: "",
    tools,
    stop: blocked ? "refusal" : stopOf(reason, tools),
    stopSequence: null,
    usage: {
      input: count(usage["promptTokenCount"]) +
        count(usage["toolUsePromptTokenCount"]) - cacheRead,
      cacheRead,
      cacheWrite: 0,
      output: count(usage["candidatesTokenCount"]) +
        count(usage["thoughtsTokenCount"]),
      reasoning: count(usage["thoughtsTokenCount"]),
    },
  };
}
