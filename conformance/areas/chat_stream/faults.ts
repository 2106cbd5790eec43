/** What the faults of the area `chat_stream` are built from, and those that several checks have. */
import { CHAT_STREAM } from "../../endpoints/chat.ts";
import { chunksOf, inFrames } from "../../endpoints/read_chat.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import {
  everyChunk,
  finishing,
  later,
  numberOf,
  put,
} from "../../faults/change_chunks.ts";
import { fieldOf, type Right } from "../../faults/field.ts";
import type { Misses } from "../../suite/check.ts";
import type { Finding } from "../../suite/finding.ts";
import { chatFrames, withAt } from "../../faults/change_reply.ts";
import type {
  Context,
  Hooks,
  OutFrame,
} from "../../reference_gateway/hooks.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import {
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";

export function errors(
  change: (data: JsonObject, x: Context) => readonly OutFrame[],
): Hooks {
  return chatFrames((data, x) =>
    at(data, "error") === undefined ? data : change(data, x)
  );
}

export const END: OutFrame = { data: "[DONE]" };

/** Changes the frame `[DONE]` of chat streams. */
export function done(
  change: (x: Context) => readonly OutFrame[],
): Hooks {
  return {
    frame: (frame, x) =>
      x.endpoint === "chat" && frame.data === "[DONE]" ? change(x) : [frame],
  };
}

export function wire(change: (text: string, x: Context) => string): Hooks {
  return { wire: (text, x) => x.endpoint === "chat" ? change(text, x) : text };
}

export function finish(
  change: (
    data: JsonObject,
  ) => JsonObject | readonly OutFrame[] | undefined,
): Hooks {
  return chatFrames((data) =>
    textAt(data, "choices.0.finish_reason") === "" ? data : change(data)
  );
}

export function chunk(choice: JsonObject): OutFrame {
  return {
    data: {
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1_780_000_000,
      model: "some-model",
      choices: [{ index: 0, ...choice }],
    },
  };
}

/** Chunks before the end with a finish reason that is not null. */
export function finishBefore(value: Json): Hooks {
  return chatFrames((data) =>
    at(data, "choices.0.finish_reason") === null
      ? withAt(data, "choices.0.finish_reason", value)
      : data
  );
}

export function objectOfFrame({ data }: OutFrame): JsonObject {
  return typeof data === "string" ? {} : objectOf(data);
}

const CONTENT = "choices.0.delta.content";

function texts(
  change: (
    text: string,
    data: JsonObject,
    x: Context,
  ) => JsonObject | readonly { readonly data: JsonObject }[] | undefined,
): Hooks {
  return chatFrames((data, x) => {
    const text = textAt(data, CONTENT);
    return text === "" ? data : change(text, data, x);
  });
}

export function words(change: (text: string, x: Context) => string): Hooks {
  return texts((text, data, x) => withAt(data, CONTENT, change(text, x)));
}

/** A rule about a field with one value in all chunks; `other` makes right values that differ. */
export function inAllChunks(
  path: string,
  right: Right,
  other: (number: number) => Json,
): { each: (x: Exchange) => Finding[]; misses: Misses } {
  const { each, misses } = fieldOf(CHAT_STREAM.head, path, right);
  return {
    each: (x) => {
      const chunks = chunksOf(x);
      const first = at(chunks[0]?.json, path);
      return [
        each(x),
        inFrames(x, chunks, path).mustBe(
          "the same in all chunks",
          ({ json }) => at(json, path) === first,
        ),
      ];
    },
    misses: {
      ...misses,
      "differs": put(everyChunk, path, (_, x) => other(numberOf(x))),
      "later-other": put(later, path, other(0)),
      "later-absent": put(later, path, undefined),
      "last-other": put(finishing, path, other(0)),
    },
  };
}
