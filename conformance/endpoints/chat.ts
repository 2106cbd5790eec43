/** The chat endpoint: how its replies are read and changed. */
import { at, brief, numberAt, textAt } from "../evidence/json_path.ts";
import { contentOf } from "../evidence/content.ts";
import type { Exchange, Frame } from "../evidence/exchange.ts";
import {
  isObject,
  type Json,
  type JsonObject,
} from "@model-gateway/replay/json";
import { chatFrames, chatReply, withAt } from "../faults/change_reply.ts";
import { valueOf } from "../faults/field.ts";
import type { Hooks } from "../reference_gateway/hooks.ts";
import {
  allowedFinishReasons,
  chatReplies,
  chatStreams,
  chunksOf,
  chunksWithChoice,
  finishes,
  fixtureContentOf,
  fixtureOf,
  textOfReply,
  textOfStream,
  usageFacts,
} from "./read_chat.ts";
import {
  count,
  type Counts,
  type ReplyForm,
  type TextChange,
} from "./reply_form.ts";

const FINISH = "choices.0.finish_reason";
const DELTA_TEXT = "choices.0.delta.content";

const BOTH = {
  endpoint: "chat",
  idPrefix: "chatcmpl-",
  forms: ["text", "chat-forms"],
  exact: ["text", "chat-forms", "chat-contents"],
  unusual: {
    "-odd-upstreams": ["chat-oddities"],
    "-long": ["chat-sizes"],
  },
  fixture: fixtureOf,
  content: fixtureContentOf,
  texts: ({ text, refusal }) => [text + refusal],
  stops: (x: Exchange) => allowedFinishReasons(x),
  stopWords: {
    end: "stop",
    max_tokens: "length",
    tool_use: "tool_calls",
    refusal: "content_filter",
  },
} satisfies Partial<ReplyForm>;

/** Words, thoughts and reason; a fixture without a reason lets the gateway choose one. */
function essence(x: Exchange, text: string, reason: Json | undefined): string {
  const words = [text, contentOf(x).thinking];
  return brief(
    fixtureOf(x) === "done-no-finish" ? words : [...words, reason ?? null],
    1e6,
  );
}

function changed(
  body: JsonObject,
  path: string,
  change: TextChange,
  number: number,
  x: Parameters<TextChange>[2],
): JsonObject {
  const text = at(body, path);
  return typeof text === "string" && text !== ""
    ? withAt(body, path, change(text, number, x))
    : body;
}

function changedUsage(
  body: JsonObject,
  change: (counts: Counts) => Pick<Counts, "input" | "output">,
): JsonObject {
  if (!isObject(body["usage"])) return body;
  const of = (path: string): number => numberAt(body, `usage.${path}`) ?? 0;
  const { input, output } = change({
    input: of("prompt_tokens"),
    output: of("completion_tokens"),
    cached: of("prompt_tokens_details.cached_tokens"),
  });
  return {
    ...body,
    usage: {
      ...body["usage"],
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
    },
  };
}

function stopped(body: JsonObject, from: string, to: Json): JsonObject {
  return textAt(body, FINISH) === from ? withAt(body, FINISH, to) : body;
}

export const CHAT_REPLY: ReplyForm = {
  ...BOTH,
  area: "chat_reply",
  isStream: false,
  section:
    "Chat completion reply (from `POST /v1/chat/completions`, not streamed)",
  replies: chatReplies,
  head: {
    objects: ({ json }) => [{ json }],
    put: (path, value) =>
      chatReply((body) => withAt(body, path, valueOf(value, body))),
  },
  text: textOfReply,
  stop: (x) => ({ value: at(x.json, FINISH) }),
  usage: (x) => usageFacts(x, at(x.json, "usage")),
  essence: (x) => essence(x, textOfReply(x), at(x.json, FINISH)),
  pieces: () => 1,
  hasText: () => false,
  changeText: (change): Hooks => ({
    reply: (reply, x) =>
      chatReply((body) =>
        changed(body, "choices.0.message.content", change, 0, x)
      ).reply?.(reply, x) ?? reply,
  }),
  changeStop: (from, to) => chatReply((body) => stopped(body, from, to)),
  changeUsage: (change) => chatReply((body) => changedUsage(body, change)),
};

export function usageChunk(x: Exchange): Frame | undefined {
  return chunksOf(x).findLast(({ json }) => isObject(at(json, "usage")));
}

function last(x: Exchange): Frame | undefined {
  return chunksWithChoice(x).findLast(finishes);
}

/** Streams of the chat endpoint; `id` and `model` are in every chunk. */
export const CHAT_STREAM: ReplyForm = {
  ...BOTH,
  area: "chat_stream",
  whole: CHAT_REPLY,
  isStream: true,
  section: "Chat completion endpoint stream",
  replies: chatStreams,
  head: {
    objects: (x) => chunksOf(x).map((frame) => ({ json: frame.json, frame })),
    put: (path, value) =>
      chatFrames((data) => withAt(data, path, valueOf(value, data))),
  },
  text: textOfStream,
  stop: (x) => ({ value: at(last(x)?.json, FINISH), frame: last(x) }),
  usage: (x) => {
    const chunk = usageChunk(x);
    return usageFacts(x, at(chunk?.json, "usage"), chunk);
  },
  essence: (x) => essence(x, textOfStream(x), at(last(x)?.json, FINISH)),
  pieces: (x) =>
    chunksWithChoice(x).filter(({ json }) => textAt(json, DELTA_TEXT) !== "")
      .length,
  hasText: (data) => textAt(data, DELTA_TEXT) !== "",
  changeText: (change) =>
    chatFrames((data, x) =>
      textAt(data, DELTA_TEXT) === ""
        ? data
        : changed(data, DELTA_TEXT, change, count(x, "texts"), x)
    ),
  changeStop: (from, to) => chatFrames((data) => stopped(data, from, to)),
  changeUsage: (change) => chatFrames((data) => changedUsage(data, change)),
};
