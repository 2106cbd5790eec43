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
      for (const key of ["text", "thinking", "signature"]) {
        const piece = stringOf(delta[key]);
        if (piece !== undefined) {
          blocks.set(index, { ...block, [key]: `${block[key]}${piece}` });
        }
      }
      const partial = stringOf(delta["partial_json"]);
      if (partial !== undefined) {
        partials.set(index, (partials.get(index) ?? "") + partial);
      }
      if (delta["citation"] !== undefined) {
        const citations = [...arrayOf(block["citations"]), delta["citation"]];
        blocks.set(index, { ...block, citations });
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

/** The choices and the usage of the whole completion that is equivalent to a stream of chunks. */
export function foldChat(chunks: readonly JsonObject[]): JsonObject {
  const message: Record<string, Json> = {};
  const calls = new Map<number, JsonObject>();
  let finish: Json = null;
  let usage: Json = null;
  for (const chunk of chunks) {
    usage = chunk["usage"] ?? usage;
    const choice = objectOf(arrayOf(chunk["choices"])[0]);
    finish = choice["finish_reason"] ?? finish;
    const delta = objectOf(choice["delta"]);
    for (const key of ["content", "reasoning_content", "refusal"]) {
      const text = stringOf(delta[key]);
      if (text !== undefined) message[key] = `${message[key] ?? ""}${text}`;
    }
    if (Array.isArray(delta["annotations"])) {
      const before = arrayOf(message["annotations"]);
      message["annotations"] = [...before, ...delta["annotations"]];
    }
    arrayOf(delta["tool_calls"]).map(objectOf).forEach((call, at) => {
      const index = numberOf(call["index"]) ?? at;
      const before = calls.get(index) ?? {};
      const old = objectOf(before["function"]);
      const { name, arguments: args } = objectOf(call["function"]);
      const { index: _, ...members } = call;
      calls.set(index, {
        ...before,
        ...members,
        function: {
          name: `${old["name"] ?? ""}${stringOf(name) ?? ""}`,
          arguments: `${old["arguments"] ?? ""}${stringOf(args) ?? ""}`,
        },
      });
    });
  }
  if (calls.size > 0) message["tool_calls"] = [...calls.values()];
  return {
    choices: [{ message, finish_reason: finish }],
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
