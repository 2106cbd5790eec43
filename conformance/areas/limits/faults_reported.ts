/**
 * Mutants for the checks of the area `limits` about the stop cause and the token counts of a reply.
 */
import { numberAt, textAt } from "../../evidence/json_path.ts";
import { arrayOf, objectOf, stringOf } from "@model-gateway/replay/json";
import {
  frames,
  wholeReply,
  withAt,
} from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** Part of `LIMITS_MUTANTS`. */
export const LIMITS_REPORTED_MUTANTS: readonly Mutant[] = [
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
    about: "A message stream continues after the stop string",
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
    about: "A truncated whole message is reported as complete",
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
    about: "A truncated chat stream is reported as complete",
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
    about: "The limit sent upstream is a quarter of the requested one",
    hooks: {
      modelRequest: (request) => ({
        ...request,
        maxTokens: request.maxTokens === undefined
          ? undefined
          : Math.ceil(request.maxTokens / 4),
      }),
    },
  },
  {
    name: "cached-count-as-text",
    about: "Cached tokens are reported as a string",
    hooks: wholeReply(
      "messages",
      (body) => withAt(body, "usage.cache_read_input_tokens", "0"),
    ),
  },
  {
    name: "start-count-as-text",
    about: "message_start reports a count as a string",
    hooks: frames("messages", (data) => {
      const inputTokens = numberAt(data, "message.usage.input_tokens");
      return inputTokens === undefined
        ? data
        : withAt(data, "message.usage.input_tokens", `${inputTokens}`);
    }),
  },
];
