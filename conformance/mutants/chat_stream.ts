/** Mutants for the checks of the area `chat_stream`. */
import type { Hooks } from "../golden/hooks.ts";
import { at, textAt } from "../evidence/json_path.ts";
import type { JsonObject } from "../replay/json.ts";
import { frames, withAt } from "./change_reply.ts";
import type { Mutant } from "./mutant.ts";

/** Changes the end mark of chat streams. */
function done(
  change: () => readonly { readonly data: JsonObject | string }[],
): Hooks {
  return {
    frame: (frame, { endpoint }) =>
      endpoint === "chat" && frame.data === "[DONE]" ? change() : [frame],
  };
}

const finishes = (data: JsonObject): boolean =>
  textAt(data, "choices.0.finish_reason") !== "";

/** The mutants. */
export const CHAT_STREAM_MUTANTS: readonly Mutant[] = [
  {
    name: "chat-done-missing",
    about: "The end mark is missing",
    hooks: done(() => []),
  },
  {
    name: "chat-done-twice",
    about: "The end mark comes twice",
    hooks: done(() => [{ data: "[DONE]" }, { data: "[DONE]" }]),
  },
  {
    name: "chat-done-as-json",
    about: "The end mark is a JSON string",
    hooks: done(() => [{ data: '"[DONE]"' }]),
  },
  {
    name: "chat-event-lines",
    about: "Chunks have an event line",
    hooks: frames("chat", (data) => [{ event: "chunk", data }]),
  },
  {
    name: "chat-chunk-broken-json",
    about: "The JSON of each chunk lacks its last brace",
    hooks: {
      wire: (text, { endpoint }) =>
        endpoint === "chat" ? text.replace(/\}\n\n$/, "\n\n") : text,
    },
  },
  {
    name: "chat-finish-missing",
    about: "The finishing chunk is left out",
    hooks: frames("chat", (data) => finishes(data) ? undefined : data),
  },
  {
    name: "chat-finish-with-text",
    about: "The finishing chunk has content",
    hooks: frames(
      "chat",
      (data) =>
        finishes(data)
          ? withAt(data, "choices.0.delta", { content: "" })
          : data,
    ),
  },
  {
    name: "chat-finish-twice",
    about: "The finishing chunk comes twice",
    hooks: frames(
      "chat",
      (data, _, frame) =>
        finishes(data) && at(data, "choices.0") !== undefined
          ? [frame, frame]
          : data,
    ),
  },
];
