/**
 * Mutants for the checks of the area `chat_reply`: the text and the token counts of whole replies.
 */
import { at, listAt, numberAt } from "../../evidence/json_path.ts";
import type { Part } from "../../reference_gateway/part.ts";
import { type Json, objectOf } from "@model-gateway/replay/json";
import { wholeReply } from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { put } from "../../reference_gateway/change_chat_reply.ts";

/** A mutant that changes the text of whole replies; null stays null. */
function changeText(
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

/** Part of `CHAT_REPLY_MUTANTS`. */
export const CHAT_REPLY_CONTENT_MUTANTS: readonly Mutant[] = [
  usage(
    "chat-usage-off-by-one",
    "The output is one token too high",
    (input, output) => [
      input + 1,
      output,
    ],
  ),
  usage("chat-usage-swapped", "Input and output are swapped", (
    input,
    output,
  ) => [output, input]),
  usage("chat-usage-zero", "All figures are 0", () => [0, 0]),
  usage("chat-completion-doubled", "The output is counted twice", (
    input,
    output,
  ) => [input, 2 * output]),
  usage("chat-cache-not-counted", "Cached input is not counted", (
    input,
    output,
    cached,
  ) => [input - cached, output]),
  usage("chat-cache-counted-twice", "Cached input is counted twice", (
    input,
    output,
    cached,
  ) => [input + cached, output]),
  put("chat-cached-zero", "Cached input is not reported", CACHED, () => 0),
  put(
    "chat-cached-is-prompt",
    "All input is reported as cached",
    CACHED,
    (body) => at(body, "usage.prompt_tokens"),
  ),
  put(
    "chat-cached-lost",
    "The details of the prompt are missing",
    "usage.prompt_tokens_details",
    () => undefined,
  ),
  changeText(
    "chat-text-trimmed",
    "The text is trimmed",
    (text) => text.trim().replace(/\.$/, ""),
  ),
  changeText(
    "chat-text-latin1",
    "The text is decoded as Latin-1",
    (text) =>
      [...new TextEncoder().encode(text)].map((byte) =>
        String.fromCharCode(byte)
      ).join(""),
  ),
  changeText(
    "chat-text-nfc",
    "The text is normalised",
    (text) => text.normalize("NFKD"),
  ),
  changeText(
    "chat-text-cut",
    "Long text is truncated",
    (text) => text.slice(0, 1024),
  ),
  changeText(
    "chat-text-doubled",
    "The text is repeated",
    (text) => text + text,
  ),
  changeText(
    "chat-text-escaped",
    "The text is escaped for HTML",
    (text) => text.replaceAll("'", "&#39;").replaceAll('"', "&quot;"),
  ),
  changeText(
    "chat-text-replaced",
    "Characters outside the basic plane are lost",
    (
      text,
    ) => text.replaceAll(/[\u{10000}-\u{10ffff}]/gu, "\ufffd"),
  ),
  {
    name: "chat-text-first-part",
    about: "Only the first piece of the text is sent",
    hooks: {
      part: (part, { endpoint, stream, state }) => {
        if (endpoint !== "chat" || stream || part.type !== "text") {
          return [part];
        }
        if (state.has("sent")) return [];
        state.set("sent", true);
        return [part];
      },
    },
  },
  {
    name: "chat-thinking-leaks",
    about: "Thinking is sent as text",
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
