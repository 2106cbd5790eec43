/** Mutants for the checks of the area `limits` about what a reply tells of its end and of its counts. */
import { numberAt, textAt } from "../evidence/json_path.ts";
import { arrayOf, objectOf, stringOf } from "../replay/json.ts";
import { frames, wholeReply, withAt } from "./change_reply.ts";
import type { Mutant } from "./mutant.ts";

/** The mutants. */
export const LIMITS_TOLD_MUTANTS: readonly Mutant[] = [
  {
    name: "stop-told-in-text",
    about: "A whole message ends with the stop string that hit",
    hooks: wholeReply("messages", (body) => {
      const hit = stringOf(body["stop_sequence"]);
      return hit === undefined ? body : {
        ...body,
        content: arrayOf(body["content"]).map((block) => ({
          ...objectOf(block),
          text: textAt(block, "text") + hit,
        })),
      };
    }),
  },
  {
    name: "stops-go-on",
    about: "A message stream goes on behind the stop string",
    hooks: {
      part: (part, { endpoint, stream }) =>
        part.type === "stop" && endpoint === "messages" && stream &&
          part.cause === "stop_sequence"
          ? [
            { type: "text", text: "END delta" },
            { type: "stop", cause: "end" },
          ]
          : [part],
    },
  },
  {
    name: "cap-as-end-in-whole-messages",
    about: "A whole message that was cut short ends as if it were complete",
    hooks: wholeReply(
      "messages",
      (body) =>
        body["stop_reason"] === "max_tokens"
          ? { ...body, stop_reason: "end_turn" }
          : body,
    ),
  },
  {
    name: "cap-as-end-in-chat-streams",
    about: "A chat stream that was cut short ends as if it were complete",
    hooks: frames(
      "chat",
      (data) =>
        textAt(data, "choices.0.finish_reason") === "length"
          ? withAt(data, "choices.0.finish_reason", "stop")
          : data,
    ),
  },
  {
    name: "limit-quartered",
    about: "The upstream is allowed a quarter of what the caller allows",
    hooks: {
      ask: (ask) => ({
        ...ask,
        maxTokens: ask.maxTokens === undefined
          ? undefined
          : Math.ceil(ask.maxTokens / 4),
      }),
    },
  },
  {
    name: "cached-count-as-text",
    about: "Cached tokens are told as a text",
    hooks: wholeReply(
      "messages",
      (body) => withAt(body, "usage.cache_read_input_tokens", "0"),
    ),
  },
  {
    name: "start-count-as-text",
    about: "message_start tells a count as a text",
    hooks: frames("messages", (data) => {
      const told = numberAt(data, "message.usage.input_tokens");
      return told === undefined
        ? data
        : withAt(data, "message.usage.input_tokens", `${told}`);
    }),
  },
];
