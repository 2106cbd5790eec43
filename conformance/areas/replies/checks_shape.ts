/** Rules for the replies of every endpoint: the bytes, the ids and the model. */
import { latin1 } from "../../clients/raw_client.ts";
import { changeHeaders, type ReplyForm } from "../../endpoints/reply_form.ts";
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import { isObject, parseJson } from "@model-gateway/replay/json";
import { changeRequest } from "../../faults/change_request.ts";
import {
  fieldOf,
  IS_WORD,
  literal,
  prefixed,
  words,
} from "../../faults/field.ts";
import { finishing, later, put } from "../../faults/change_chunks.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { Check, Rule } from "../../suite/check.ts";
import { compare, factOf } from "../../suite/finding.ts";
import { onEvery } from "./on_every.ts";

const JSON_BODIES: Rule = {
  section: "Endpoints",
  text: "All bodies are JSON (`content-type: application/json`).",
};
const STREAM_TYPE: Rule = {
  section: "Events",
  text:
    "Setting `stream` to true makes the response content type `text/event-stream`.",
};
const ID_IN_PATHS: Rule = {
  source: "Clients keep replies by their ids, in paths and file names",
  text: "An id is one word of letters, digits and `_-.:`.",
};
const UNIQUE: Rule = {
  source: "Clients keep replies by their ids",
  text: "No two replies have the same id.",
};
const CONTENT_MODEL: Rule = {
  section: "Generate content reply",
  text: "`modelVersion` is the id that the request named.",
};
const CHUNKS =
  "https://platform.openai.com/docs/api-reference/chat-streaming/streaming, the chat completion chunk object";
const SSE = "https://html.spec.whatwg.org/multipage/server-sent-events.html";
const UTF8_JSON: Rule = {
  source: "RFC 8259, 8.1",
  text: "JSON is UTF-8, and no character is replaced by U+FFFD.",
};
const UTF8_STREAM: Rule = {
  source: SSE,
  text: "Event streams are UTF-8, and no character is replaced by U+FFFD.",
};
const FRAMES: Rule = {
  source: SSE,
  text:
    "A frame without a blank line after it is dropped, and two frames without a blank line between them are read as one.",
};

/** A content type of that kind; its charset, when given, must be UTF-8. */
function isType(kind: string, type: string | undefined): boolean {
  const [mediaType = "", ...parameters] = (type ?? "").toLowerCase().split(";")
    .map((part) => part.trim());
  return mediaType === kind &&
    parameters.every((parameter) =>
      !parameter.startsWith("charset") ||
      /^charset="?utf-?8"?$/.test(parameter)
    );
}

const typeOf = ({ isStream, contentType }: ReplyForm): string =>
  contentType ?? (isStream ? "text/event-stream" : "application/json");

/** The members of a reply with its id and its model. */
const idOf = ({ names }: ReplyForm): string => names?.id ?? "id";
const modelAt = ({ names }: ReplyForm): string => names?.model ?? "model";

/** stream: false is read as true. */
const FALSE_IS_TRUE: Hooks = changeRequest((_, { request }) =>
  request.body.includes('"stream":false') ? { stream: true } : {}
);

/** Pieces of the upstream's stream are decoded one by one. */
const CHARACTERS_LOST: Hooks = {
  upstreamBytes: async function* (bytes, { stream }) {
    for await (const piece of bytes) {
      yield stream
        ? new TextEncoder().encode(new TextDecoder().decode(piece))
        : piece;
    }
  },
};

/** Streams are encoded as Latin-1. */
const BYTES_LOST: Hooks = {
  writer: (writer, { stream }) =>
    stream
      ? {
        ...writer,
        piece: (bytes) => writer.piece(latin1(new TextDecoder().decode(bytes))),
      }
      : writer,
};

/** Replies of an endpoint whose requests have `stream: false`. */
function unstreamed(
  id: string,
  text: string,
  endpoint: string,
): readonly Check[] {
  return onEvery({
    ids: { [id]: { section: SECTIONS[endpoint] ?? "", text } },
    mode: "both",
    reads: () => [`${endpoint === "chat" ? "chat" : "message"}-stream-false`],
    of: (_, e) => e.matching(`${endpoint}/*/whole`),
    each: () => (x) =>
      factOf("reply", `${x.head?.status}: ${x.text.slice(0, 160)}`).mustBe(
        "one JSON object",
        x.head?.status === 200 && isObject(x.json) && x.frames.length === 0,
      ),
    faults: () => ({ streams: FALSE_IS_TRUE }),
  });
}

const SECTIONS: Readonly<Record<string, string>> = {
  messages: "POST /v1/messages",
  chat: "POST /v1/chat/completions (operation `createChatCompletion`)",
};

function modelOf({ request }: Exchange): string {
  const [, inPath] = /^\/v1beta\/models\/([^/:]+)/.exec(request.path) ?? [];
  return inPath === undefined
    ? textAt(parseJson(request.body), "model")
    : decodeURIComponent(inPath);
}

export const SHAPE_CHECKS: readonly Check[] = [
  ...onEvery({
    ids: {
      "message_reply.json": JSON_BODIES,
      "message_stream.content-type": STREAM_TYPE,
      "chat_reply.content-type": JSON_BODIES,
      "chat_stream.content-type": STREAM_TYPE,
      "generate_content_reply.content-type":
        "A whole reply is one JSON object under `application/json`.",
      "generate_content_stream.content-type":
        "With `alt=sse` a stream is server-sent events under `text/event-stream`.",
      "generate_content_array.content-type":
        "Without `alt` a stream is one JSON array under `application/json`.",
    },
    mode: "both",
    reads: "forms",
    each: (form) => (x) => {
      const type = headerOf(x, "content-type");
      return [
        factOf("content-type", type).mustBe(
          typeOf(form),
          isType(typeOf(form), type),
        ),
        compare("body", x.ending, "complete"),
      ];
    },
    faults: (form) => {
      const typed = (type: string): Hooks =>
        changeHeaders(
          form,
          (headers) => ({ ...headers, "content-type": type }),
        );
      return {
        "text": typed("text/plain"),
        "other-form": typed(
          typeOf(form) === "application/json"
            ? "text/event-stream"
            : "application/json",
        ),
        "latin1": typed(`${typeOf(form)}; charset=iso-8859-1`),
        "similar": typed("application/x-ndjson"),
        "absent": changeHeaders(
          form,
          ({ "content-type": _, ...headers }) => headers,
        ),
      };
    },
  }),
  ...unstreamed(
    "message_reply.stream-false",
    "| stream | boolean | no | Default false. true returns server-sent events |",
    "messages",
  ),
  ...unstreamed(
    "chat_reply.stream-false",
    "| stream | boolean | no | Default false. true returns event chunks |",
    "chat",
  ),
  ...onEvery({
    ids: {
      "message_reply.id": "| id | string | Message identifier, prefix `msg_` |",
      "message_stream.start-id": {
        source: "Whole replies of this format have the prefix `msg_`",
        text: "The id of message_start has the prefix of whole replies.",
      },
      "chat_reply.id": "| id | string | Identifier, prefix `chatcmpl-` |",
    },
    mode: "both",
    reads: "forms",
    each: (form) => fieldOf(form.head, "id", prefixed(form.idPrefix)).each,
    faults: (form) => fieldOf(form.head, "id", prefixed(form.idPrefix)).misses,
  }),
  ...onEvery({
    ids: {
      "message_reply.id-is-a-word": ID_IN_PATHS,
      "chat_reply.id-is-a-word": ID_IN_PATHS,
      "generate_content_reply.id-is-a-word": ID_IN_PATHS,
      "generate_content_stream.id-is-a-word": ID_IN_PATHS,
      "generate_content_array.id-is-a-word": ID_IN_PATHS,
    },
    mode: "both",
    reads: "forms",
    each: (form) => fieldOf(form.head, idOf(form), IS_WORD).each,
    faults: (form) => fieldOf(form.head, idOf(form), IS_WORD).misses,
  }),
  ...onEvery({
    ids: {
      "message_reply.id-unique": UNIQUE,
      "message_stream.id-unique": UNIQUE,
      "chat_reply.id-unique": UNIQUE,
      "chat_stream.id-unique": UNIQUE,
      "generate_content_reply.id-unique": UNIQUE,
      "generate_content_stream.id-unique": UNIQUE,
      "generate_content_array.id-unique": UNIQUE,
    },
    mode: "both",
    reads: "forms",
    // The replay upstream uses one id whenever it plays a fixture in a dialect, and a gateway may
    // pass it on: no fixture is requested twice on a route.
    all: (form, replies) => {
      const seen = new Map<string, string>();
      return replies.map((x) => {
        const [head] = form.head.objects(x);
        const id = JSON.stringify(at(head?.json, idOf(form)));
        const first = seen.get(id);
        seen.set(id, first ?? x.label);
        return factOf(
          "id",
          first === undefined ? id : `${id}, as in ${first}`,
          x,
          head?.frame,
        ).mustBe("an id that no other reply has", first === undefined);
      });
    },
    faults: (form) => ({
      constant: form.head.put(idOf(form), `${form.idPrefix}1`),
      absent: form.head.put(idOf(form), undefined),
    }),
  }),
  ...onEvery({
    ids: {
      "message_reply.role": "| role | string | `assistant` |",
    },
    mode: "both",
    reads: "forms",
    each: (form) => fieldOf(form.head, "role", literal("assistant")).each,
    faults: (form) => fieldOf(form.head, "role", literal("assistant")).misses,
  }),
  ...onEvery({
    ids: {
      "generate_content_reply.model": CONTENT_MODEL,
      "generate_content_stream.model": CONTENT_MODEL,
      "generate_content_array.model": CONTENT_MODEL,
    },
    level: "contract",
    mode: "both",
    reads: "forms",
    each: (form) => (x) =>
      fieldOf(form.head, modelAt(form), literal(modelOf(x))).each(x),
    faults: (form) => ({
      ...fieldOf(form.head, modelAt(form), literal("some-model")).misses,
      "dated": dated(form),
    }),
  }),
  ...onEvery({
    ids: {
      "chat_reply.model": "| model | string | Model id used |",
      "chat_stream.model": {
        source: CHUNKS,
        text: "The model to generate the completion.",
      },
    },
    reads: "forms",
    each: (form) => (x) =>
      fieldOf(form.head, "model", literal(modelOf(x))).each(x),
    faults: (form) => ({
      ...fieldOf(form.head, "model", literal("some-model")).misses,
      "dated": dated(form),
      "upper": form.head.put(
        "model",
        (body) => textAt(body, "model").toUpperCase(),
      ),
      ...(form.isStream
        ? {
          "later-other": put(later, "model", "some-model"),
          "last-other": put(finishing, "model", "some-model"),
        }
        : {}),
    }),
  }),
  ...onEvery({
    ids: {
      "message_reply.model": "| model | string | Model id used |",
      "chat_reply.model-told": "| model | string | Model id used |",
    },
    mode: "both",
    reads: "forms",
    // A real vendor may reply with the dated name of the requested model.
    each: (form) => (x, e) =>
      fieldOf(
        form.head,
        "model",
        e.mode === "replay" ? literal(modelOf(x)) : words("a model id"),
      ).each(x),
    faults: (form) => ({
      ...fieldOf(form.head, "model", words("a model id")).misses,
      // A run with a real model cannot see it.
      ...(form.area === "message_reply" ? { dated: dated(form) } : {}),
    }),
  }),
  ...onEvery({
    ids: {
      "message_reply.characters": UTF8_JSON,
      "message_stream.characters": UTF8_STREAM,
    },
    mode: "both",
    reads: "forms",
    each: () => utf8,
    faults: replaced,
  }),
  ...onEvery({
    ids: {
      "chat_reply.utf8": UTF8_JSON,
      "chat_stream.utf8": UTF8_STREAM,
      "generate_content_reply.utf8": UTF8_JSON,
      "generate_content_stream.utf8": UTF8_STREAM,
      "generate_content_array.utf8": UTF8_JSON,
    },
    each: () => utf8,
    faults: (form) => ({
      ...replaced(form),
      // Only the replies to these clients come in pieces that split characters.
      ...(form.area === "chat_stream"
        ? { "characters-lost": CHARACTERS_LOST, "bytes-lost": BYTES_LOST }
        : {}),
    }),
  }),
  ...onEvery({
    ids: {
      "message_stream.blank-line-last": FRAMES,
      "chat_stream.blank-line-last": FRAMES,
      "generate_content_stream.blank-line-last": FRAMES,
    },
    mode: "both",
    reads: "forms",
    each: () => (x) =>
      factOf("frames", `${x.frames.length}`).mustBe(
        `${x.witness.length} finished frames of one line`,
        x.frames.length === x.witness.length &&
          x.frames.every(({ data }) => !data.includes("\n")),
      ),
    faults: ({ endpoint }) => {
      const wire = (change: (text: string) => string): Hooks => ({
        wire: (text, x) => x.endpoint === endpoint ? change(text) : text,
      });
      return {
        "last-unfinished": wire((text) =>
          /\[DONE\]|^event: message_stop|"finishReason"/.test(text)
            ? text.slice(0, -1)
            : text
        ),
        "none": wire((text) => text.slice(0, -1)),
      };
    },
  }),
];

/** The model has the name of a version. */
function dated(form: ReplyForm): Hooks {
  const model = modelAt(form);
  return form.head.put(model, (body) => `${textAt(body, model)}-20260101`);
}

/** No character was damaged or replaced. */
function utf8(
  x: Exchange,
): ReturnType<ReturnType<typeof factOf>["mustBe"]> {
  return factOf(
    "characters",
    x.validUtf8 ? x.text.slice(0, 200) : "no UTF-8",
  )
    .mustBe(
      "UTF-8 without U+FFFD",
      x.validUtf8 && !/\ufffd|\\ufffd/i.test(x.text),
    );
}

function replaced(form: ReplyForm): Record<string, Hooks> {
  return {
    added: form.changeText((text) => `${text}\uFFFD`),
    replaced: form.changeText((text) => text.replace(/[^]/u, "\uFFFD")),
  };
}
