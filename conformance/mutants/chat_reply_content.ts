/** Mutants for the checks of the area `chat_reply`: the text and the token counts of whole replies. */
import { at, listAt, numberAt } from "../evidence/json_path.ts";
import type { Part } from "../golden/part.ts";
import { type Json, objectOf } from "../replay/json.ts";
import { wholeReply } from "./change_reply.ts";
import type { Mutant } from "./mutant.ts";
import { put } from "./change_chat_reply.ts";

/** A mutant that changes the text of whole replies; nothing stays nothing. */
function said(
  name: string,
  about: string,
  change: (text: string) => Json,
): Mutant {
  const path = "choices.0.message.content";
  return put(name, about, path, (body) => {
    const content = at(body, path);
    return typeof content === "string" ? change(content) : content;
  });
}

/** A mutant that changes the usage of whole replies. */
function usage(
  name: string,
  about: string,
  change: (
    prompt: number,
    completion: number,
    cached: number,
  ) => readonly [prompt: number, completion: number],
): Mutant {
  return {
    name,
    about,
    hooks: wholeReply("chat", (body) => {
      const count = (path: string): number => numberAt(body, path) ?? 0;
      const [prompt, completion] = change(
        count("usage.prompt_tokens"),
        count("usage.completion_tokens"),
        count("usage.prompt_tokens_details.cached_tokens"),
      );
      return {
        ...body,
        usage: {
          ...objectOf(at(body, "usage")),
          prompt_tokens: prompt,
          completion_tokens: completion,
          total_tokens: prompt + completion,
        },
      };
    }),
  };
}

const CACHED = "usage.prompt_tokens_details.cached_tokens";

/** The mutants. */
export const CHAT_REPLY_CONTENT_MUTANTS: readonly Mutant[] = [
  usage("chat-usage-off-by-one", "One token too many", (input, output) => [
    input + 1,
    output,
  ]),
  usage("chat-usage-swapped", "Input and output change places", (
    input,
    output,
  ) => [output, input]),
  usage("chat-usage-zero", "All figures are 0", () => [0, 0]),
  usage("chat-completion-doubled", "The output counts twice", (
    input,
    output,
  ) => [input, 2 * output]),
  usage("chat-cache-not-counted", "Cached input is left out", (
    input,
    output,
    cached,
  ) => [input - cached, output]),
  usage("chat-cache-counted-twice", "Cached input counts twice", (
    input,
    output,
    cached,
  ) => [input + cached, output]),
  put("chat-cached-zero", "No cached input is told", CACHED, () => 0),
  put(
    "chat-cached-is-prompt",
    "All input is told as cached",
    CACHED,
    (body) => at(body, "usage.prompt_tokens"),
  ),
  put(
    "chat-cached-lost",
    "The details of the prompt are missing",
    "usage.prompt_tokens_details",
    () => undefined,
  ),
  said(
    "chat-text-trimmed",
    "The text is trimmed",
    (text) => text.trim().replace(/\.$/, ""),
  ),
  said(
    "chat-text-latin1",
    "The text is read as Latin-1",
    (text) =>
      [...new TextEncoder().encode(text)].map((byte) =>
        String.fromCharCode(byte)
      ).join(""),
  ),
  said(
    "chat-text-nfc",
    "The text is normalised",
    (text) => text.normalize("NFKD"),
  ),
  said("chat-text-cut", "Long text is cut", (text) => text.slice(0, 1024)),
  said("chat-text-doubled", "The text comes twice", (text) => text + text),
  said(
    "chat-text-escaped",
    "The text is escaped for HTML",
    (text) => text.replaceAll("'", "&#39;").replaceAll('"', "&quot;"),
  ),
  said("chat-text-replaced", "Characters outside the first plane are lost", (
    text,
  ) => text.replaceAll(/[\u{10000}-\u{10ffff}]/gu, "\ufffd")),
  {
    name: "chat-text-first-part",
    about: "Only the first piece of the text is told",
    hooks: {
      part: (part, { endpoint, stream, state }) => {
        if (endpoint !== "chat" || stream || part.type !== "text") {
          return [part];
        }
        if (state.has("told")) return [];
        state.set("told", true);
        return [part];
      },
    },
  },
  {
    name: "chat-thinking-leaks",
    about: "Thinking is told as text",
    hooks: {
      part: (part, { endpoint }): readonly Part[] =>
        endpoint === "chat" && part.type === "thinking"
          ? [{ type: "text", text: part.text }]
          : [part],
    },
  },
  put(
    "chat-call-invented",
    "A reply without calls has an empty call",
    "choices.0.message.tool_calls",
    (body) =>
      listAt(body, "choices.0.message.tool_calls").length > 0
        ? at(body, "choices.0.message.tool_calls")
        : [{
          id: "",
          type: "function",
          function: { name: "", arguments: "" },
        }],
  ),
];
