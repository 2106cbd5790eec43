/**
 * How clients of each format keep a conversation with tools: what they ask, what they keep of a
 * whole reply and of a stream, and how they return results.
 */
import {
  arrayOr,
  isObject,
  type JsonDraft,
  type JsonObject,
  objectOr,
} from "../bytes/json.ts";
import type { ClientFormat } from "../mod.ts";

/** The entries of a history: messages, items or contents. */
type Entries = readonly JsonObject[];

/** A client of one format. */
export interface KeepingClient {
  /** The request that asks on, with one tool and visible reasoning. */
  request(history: Entries): JsonObject;
  ask(text: string): Entries;
  kept(reply: JsonObject): Entries;
  /** The entries of a streamed reply, as the official library keeps it. */
  keptFrames(frames: Entries): Entries;
  /** The ids of an entry's calls. */
  calls(entry: JsonObject): readonly string[];
  /** The results of calls, a text each. */
  results(ids: readonly string[], texts: readonly string[]): Entries;
}

const SCHEMA = { type: "object", properties: { n: { type: "string" } } };
const TOOL = { name: "look", description: "Looks." };

const strings = (values: readonly unknown[]): readonly string[] =>
  values.filter((value) => typeof value === "string");

const messages: KeepingClient = {
  request: (messages) => ({
    model: "m",
    max_tokens: 4000,
    thinking: { type: "enabled", budget_tokens: 2000 },
    tools: [{ ...TOOL, input_schema: SCHEMA }],
    messages,
  }),
  ask: (content) => [{ role: "user", content }],
  kept: ({ content }) => [{ role: "assistant", content }],
  keptFrames(frames) {
    const blocks: JsonDraft[] = [];
    let json = "";
    for (const frame of frames) {
      const { type } = frame;
      const at = blocks.length - 1;
      const block = blocks[at] ?? {};
      if (type === "content_block_start") {
        blocks.push({ ...objectOr(frame["content_block"]) });
        json = "";
      } else if (type === "content_block_delta") {
        const { type: kind, ...delta } = objectOr(frame["delta"]);
        if (kind === "input_json_delta") {
          json += delta["partial_json"];
          block["input"] = JSON.parse(json);
        } else if (kind === "signature_delta") Object.assign(block, delta);
        else {
          const key = kind === "text_delta" ? "text" : "thinking";
          block[key] = `${block[key]}${delta[key]}`;
        }
      }
    }
    return [{ role: "assistant", content: blocks }];
  },
  calls: ({ content }) =>
    strings(
      arrayOr(content).map(objectOr).filter(({ type }) => type === "tool_use")
        .map(({ id }) => id),
    ),
  results: (ids, texts) => [{
    role: "user",
    content: ids.map((tool_use_id, at) => ({
      type: "tool_result",
      tool_use_id,
      content: texts[at],
    })),
  }],
};

/** The message that a client assembles from chunks; of other fields the library keeps the last. */
function gathered(frames: Entries): JsonObject {
  const message: JsonDraft = { role: "assistant", content: "" };
  const calls: JsonDraft[] = [];
  for (const frame of frames) {
    const delta = objectOr(objectOr(arrayOr(frame["choices"])[0])["delta"]);
    const { content, role: _, tool_calls: pieces, ...others } = delta;
    if (typeof content === "string") {
      message["content"] = `${message["content"]}${content}`;
    }
    Object.assign(message, others);
    for (const piece of arrayOr(pieces).filter(isObject)) {
      const { index, function: part, ...rest } = piece;
      const call = calls[Number(index)] ??= {};
      const known = objectOr(call["function"]);
      const more = objectOr(part);
      Object.assign(call, rest, {
        function: {
          ...known,
          ...more,
          arguments: `${known["arguments"] ?? ""}${more["arguments"] ?? ""}`,
        },
      });
    }
  }
  return { ...message, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}

const chat: KeepingClient = {
  request: (messages) => ({
    model: "m",
    reasoning_effort: "medium",
    tools: [{ type: "function", function: { ...TOOL, parameters: SCHEMA } }],
    messages,
  }),
  ask: (content) => [{ role: "user", content }],
  kept: ({ choices }) => [
    objectOr(objectOr(arrayOr(choices)[0])["message"]),
  ],
  keptFrames: (frames) => [gathered(frames)],
  calls: ({ tool_calls: calls }) =>
    strings(arrayOr(calls).map((call) => objectOr(call)["id"])),
  results: (ids, texts) =>
    ids.map((tool_call_id, at) => ({
      role: "tool",
      tool_call_id,
      content: texts[at],
    })),
};

const responses: KeepingClient = {
  request: (input) => ({
    model: "m",
    reasoning: { effort: "medium", summary: "auto" },
    store: false,
    include: ["reasoning.encrypted_content"],
    tools: [{ type: "function", ...TOOL, parameters: SCHEMA, strict: false }],
    input,
  }),
  ask: (content) => [{ role: "user", content }],
  kept: ({ output }) => arrayOr(output).map(objectOr),
  keptFrames: (frames) =>
    frames.filter(({ type }) => type === "response.output_item.done")
      .map(({ item }) => objectOr(item)),
  calls: ({ call_id: id }) => strings([id]),
  results: (ids, texts) =>
    ids.map((call_id, at) => ({
      type: "function_call_output",
      call_id,
      output: texts[at],
    })),
};

const generateContent: KeepingClient = {
  request: (contents) => ({
    generationConfig: {
      thinkingConfig: { includeThoughts: true, thinkingLevel: "high" },
    },
    tools: [{ functionDeclarations: [{ ...TOOL, parameters: SCHEMA }] }],
    contents,
  }),
  ask: (text) => [{ role: "user", parts: [{ text }] }],
  kept: ({ candidates }) => [
    objectOr(objectOr(arrayOr(candidates)[0])["content"]),
  ],
  // The chats of `@google/genai` keep the content of each chunk.
  keptFrames: (frames) =>
    frames.flatMap((frame) => generateContent.kept(frame)),
  calls: ({ parts }) =>
    strings(
      arrayOr(parts).map((part) =>
        objectOr(objectOr(part)["functionCall"])["id"]
      ),
    ),
  results: (ids, texts) => [{
    role: "user",
    parts: ids.map((id, at) => ({
      functionResponse: { id, name: "look", response: { output: texts[at] } },
    })),
  }],
};

/** A client of each format. */
export const KEEPING_CLIENTS: Readonly<Record<ClientFormat, KeepingClient>> = {
  messages,
  chat_completions: chat,
  responses,
  generate_content: generateContent,
};
