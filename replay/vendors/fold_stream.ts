/**
 * Merges the deltas of a stream into the equivalent whole reply: messages, chat completions and
 * generate content.
 */
import { createParser } from "eventsource-parser";
import {
  arrayOf,
  type Json,
  type JsonObject,
  numberOf,
  objectOf,
  parseJson,
  stringOf,
} from "../json.ts";

/**
 * The JSON of every event of an event stream, except `[DONE]`.
 * @throws {SyntaxError} when the data of an event is not JSON
 */
export function eventsIn(stream: string): JsonObject[] {
  const events: JsonObject[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== "[DONE]") events.push(JSON.parse(data));
    },
  });
  parser.feed(stream);
  return events;
}

/** The whole message that is equivalent to a stream of events. */
export function foldMessages(events: readonly JsonObject[]): JsonObject {
  const blocks = new Map<number, JsonObject>();
  const partials = new Map<number, string>();
  let message: JsonObject = {};
  for (const event of events) {
    const index = numberOf(event["index"]) ?? 0;
    const delta = objectOf(event["delta"]);
    if (event["type"] === "message_start") message = objectOf(event["message"]);
    if (event["type"] === "content_block_start") {
      blocks.set(index, objectOf(event["content_block"]));
    }
    if (event["type"] === "content_block_delta") {
      const block = blocks.get(index) ?? {};
      const [text, thinking, partial] = ["text", "thinking", "partial_json"]
        .map((key) => stringOf(delta[key]));
      if (text !== undefined) {
        blocks.set(index, { ...block, text: `${block["text"]}${text}` });
      }
      if (thinking !== undefined) {
        blocks.set(index, {
          ...block,
          thinking: `${block["thinking"]}${thinking}`,
        });
      }
      if (partial !== undefined) {
        partials.set(index, (partials.get(index) ?? "") + partial);
      }
    }
    if (event["type"] === "message_delta") {
      message = {
        ...message,
        ...delta,
        usage: { ...objectOf(message["usage"]), ...objectOf(event["usage"]) },
      };
    }
  }
  const content = [...blocks].map(([index, block]): Json => {
    const json = partials.get(index);
    return json === undefined
      ? block
      : { ...block, input: parseJson(json === "" ? "{}" : json) };
  });
  return { ...message, content };
}

/**
 * The whole completion that is equivalent to a stream of chunks; it has only the fields that
 * `content_of.ts` reads.
 */
export function foldChat(chunks: readonly JsonObject[]): JsonObject {
  const message: Record<string, string> = {};
  const calls = new Map<number, { name: string; arguments: string }>();
  let finish: Json = null;
  let usage: Json = null;
  for (const chunk of chunks) {
    usage = chunk["usage"] ?? usage;
    const choice = objectOf(arrayOf(chunk["choices"])[0]);
    finish = choice["finish_reason"] ?? finish;
    const delta = objectOf(choice["delta"]);
    for (const key of ["content", "reasoning_content", "refusal"]) {
      const text = stringOf(delta[key]);
      if (text !== undefined) message[key] = (message[key] ?? "") + text;
    }
    arrayOf(delta["tool_calls"]).map(objectOf).forEach((call, at) => {
      const index = numberOf(call["index"]) ?? at;
      const before = calls.get(index) ?? { name: "", arguments: "" };
      const { name, arguments: args } = objectOf(call["function"]);
      calls.set(index, {
        name: before.name + (stringOf(name) ?? ""),
        arguments: before.arguments + (stringOf(args) ?? ""),
      });
    });
  }
  const tool_calls = [...calls.values()].map((called): Json => ({
    function: { ...called },
  }));
  return {
    choices: [{ message: { ...message, tool_calls }, finish_reason: finish }],
    usage,
  };
}

/** The whole reply of generate content that is equivalent to its chunks. */
export function foldGenerateContent(chunks: readonly JsonObject[]): JsonObject {
  const last = chunks.at(-1) ?? {};
  const candidates = chunks.flatMap(({ candidates }) => arrayOf(candidates))
    .map(objectOf);
  const candidate = candidates.at(-1);
  if (candidate === undefined) return last;
  const parts = candidates.flatMap(({ content }) =>
    arrayOf(objectOf(content)["parts"]).map(objectOf)
  ).reduce(joinPart, []);
  const { role } = objectOf(candidate["content"]);
  const content = parts.length === 0 ? { role } : { parts, role };
  return { ...last, candidates: [{ ...candidate, content }] };
}

/** Adds a part, or its text to the part before; an empty text stays where it has a signature. */
function joinPart(
  parts: readonly JsonObject[],
  part: JsonObject,
): JsonObject[] {
  const { text } = part;
  const before = parts.at(-1);
  if (text === "") {
    return "thoughtSignature" in part ? [...parts, part] : [...parts];
  }
  const joins = text !== undefined && before?.["text"] !== undefined &&
    before["thought"] === part["thought"];
  return joins
    ? [...parts.slice(0, -1), {
      ...before,
      ...part,
      text: `${before["text"]}${text}`,
    }]
    : [...parts, part];
}
