/** Mutants for the checks of the area `chat_stream`: lines and ends. */
import {
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import { at, textAt } from "../../evidence/json_path.ts";
import type {
  Context,
  Hooks,
  OutFrame,
} from "../../reference_gateway/hooks.ts";
import { frames, withAt } from "../../reference_gateway/change_reply.ts";

/** Changes the frame `[DONE]` of chat streams. */
export function done(
  change: (x: Context) => readonly OutFrame[],
): Hooks {
  return {
    frame: (frame, x) =>
      x.endpoint === "chat" && frame.data === "[DONE]" ? change(x) : [frame],
  };
}

/** Changes the text of the frames of chat streams. */
export function wire(change: (text: string, x: Context) => string): Hooks {
  return { wire: (text, x) => x.endpoint === "chat" ? change(text, x) : text };
}

/** Changes finishing chunks. */
export function finish(
  change: (
    data: JsonObject,
  ) => JsonObject | readonly OutFrame[] | undefined,
): Hooks {
  return frames(
    "chat",
    (data) =>
      textAt(data, "choices.0.finish_reason") === "" ? data : change(data),
  );
}

export const END: OutFrame = { data: "[DONE]" };

/** A chunk with that choice and nothing else. */
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
  return frames(
    "chat",
    (data) =>
      at(data, "choices.0.finish_reason") === null
        ? withAt(data, "choices.0.finish_reason", value)
        : data,
  );
}

export function objectOfFrame({ data }: OutFrame): JsonObject {
  return typeof data === "string" ? {} : objectOf(data);
}
