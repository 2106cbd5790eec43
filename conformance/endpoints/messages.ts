/** The message endpoint: how its replies are read and changed. */
import { at, inKeyOrder, numberAt, textAt } from "../evidence/json_path.ts";
import type { Exchange } from "../evidence/exchange.ts";
import { isObject, type JsonObject } from "@model-gateway/replay/json";
import { block, delta, event } from "../faults/change_messages.ts";
import { messageReply, withAt } from "../faults/change_reply.ts";
import { valueOf } from "../faults/field.ts";
import { compareUsage, stopSequenceMatches } from "./compare_messages.ts";
import { splitStream } from "./event_order.ts";
import {
  callsOf,
  fixtureContentOf,
  fixtureOf,
  joined,
  messageStreams,
  reasonOf,
  reasonsFor,
  scenariosOf,
  sequenceOf,
  tokens,
  wholeReplies,
} from "./read_messages.ts";
import { count, type Counts, type ReplyForm } from "./reply_form.ts";

type Usage = Pick<Counts, "input" | "output">;

const BOTH = {
  endpoint: "messages",
  idPrefix: "msg_",
  fixture: fixtureOf,
  content: fixtureContentOf,
  text: (x: Exchange) => joined(x, "text", "text"),
  // The words of a refusal are sent as text, or left out.
  texts: ({ text, refusal }) => refusal === "" ? [text] : [text, refusal],
  stop: (x: Exchange) => ({ value: reasonOf(x) }),
  stops: reasonsFor,
  stopWords: {
    end: "end_turn",
    max_tokens: "max_tokens",
    tool_use: "tool_use",
    stop_sequence: "stop_sequence",
  },
  usage: compareUsage,
  essence: (x: Exchange) =>
    JSON.stringify({
      text: joined(x, "text", "text"),
      thinking: joined(x, "thinking", "thinking"),
      signed: joined(x, "thinking", "signature") !== "",
      redacted: joined(x, "redacted_thinking", "data") !== "",
      tools: inKeyOrder(callsOf(x)),
      stop_reason: reasonOf(x) ?? null,
      stop_sequence: sequenceOf(x) ?? null,
      output_tokens: tokens(x, "output_tokens") ?? null,
    }),
  pieces: (x: Exchange) =>
    splitStream(x).blocks.flatMap(({ deltas }) => deltas).length,
  hasText: (data: JsonObject) => textAt(data, "delta.type") === "text_delta",
} satisfies Partial<ReplyForm>;

function changedUsage(
  holder: JsonObject,
  change: (counts: Counts) => Usage,
): JsonObject {
  const of = (name: string): number => numberAt(holder, `usage.${name}`) ?? 0;
  const { input, output } = change({
    input: of("input_tokens"),
    output: of("output_tokens"),
    cached: of("cache_read_input_tokens"),
  });
  const more = withAt(holder, "usage.input_tokens", input);
  return withAt(more, "usage.output_tokens", output);
}

export const MESSAGE_REPLY: ReplyForm = {
  ...BOTH,
  area: "message_reply",
  isStream: false,
  section: "Message reply (from `POST /v1/messages`, not streamed)",
  forms: ["text", ...scenariosOf("whole", "forms")],
  exact: ["text", ...scenariosOf("whole", "forms", "blocks")],
  unusual: { "-rare": scenariosOf("whole", "oddities", "sizes") },
  replies: wholeReplies,
  head: {
    objects: ({ json }) => [{ json }],
    put: (path, value) =>
      messageReply((body) => withAt(body, path, valueOf(value, body))),
  },
  alsoAtEnd: (x) => [stopSequenceMatches(x)],
  changeText: (change) => ({
    reply: (reply, x) =>
      block("text", (each, index) => ({
        ...each,
        text: change(textAt(each, "text"), index, x),
      })).reply?.(reply, x) ?? reply,
  }),
  changeStop: (from, to) =>
    messageReply((body) =>
      body["stop_reason"] === from ? { ...body, stop_reason: to } : body
    ),
  changeUsage: (change) => messageReply((body) => changedUsage(body, change)),
};

/** Streams of the message endpoint; `id` and `model` are in the message of the first event. */
export const MESSAGE_STREAM: ReplyForm = {
  ...BOTH,
  area: "message_stream",
  whole: MESSAGE_REPLY,
  isStream: true,
  section: "Message endpoint stream",
  forms: ["text", ...scenariosOf("stream", "forms")],
  exact: ["text", ...scenariosOf("stream", "forms", "blocks")],
  unusual: { "-rare": scenariosOf("stream", "oddities", "sizes") },
  replies: messageStreams,
  head: {
    objects: (x) =>
      splitStream(x).starts.map((frame) => ({
        json: at(frame.json, "message"),
        frame,
      })),
    put: (path, value) =>
      event("message_start", (data) => {
        const message = data["message"];
        return isObject(message)
          ? withAt(data, `message.${path}`, valueOf(value, message))
          : data;
      }),
  },
  changeText: (change) =>
    delta("text_delta", (each, x) => ({
      ...each,
      text: change(textAt(each, "text"), count(x, "texts"), x),
    })),
  changeStop: (from, to) =>
    event(
      "message_delta",
      (data) =>
        textAt(data, "delta.stop_reason") === from
          ? withAt(data, "delta.stop_reason", to)
          : data,
    ),
  changeUsage: (change) =>
    event("message_delta", (data) => changedUsage(data, change)),
};
