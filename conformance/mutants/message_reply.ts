/** Mutants for the checks of the area `message_reply`. */
import { textAt } from "../evidence/json_path.ts";
import { wholeReply, withAt } from "./change_reply.ts";
import type { Mutant } from "./mutant.ts";

/** The mutants. */
export const MESSAGE_REPLY_MUTANTS: readonly Mutant[] = [
  {
    name: "message-id-without-prefix",
    about: "The id is a bare UUID",
    hooks: wholeReply(
      "messages",
      (body) => withAt(body, "id", "0b0e7a36-5ad4-4a1f-9c65-3e6a1d1f3c11"),
    ),
  },
  {
    name: "message-type-missing",
    about: "The reply has no type",
    hooks: wholeReply("messages", (body) => withAt(body, "type", undefined)),
  },
  {
    name: "stop_reason-of-chat",
    about: "The stop reason is the chat format's",
    hooks: wholeReply(
      "messages",
      (body) => withAt(body, "stop_reason", "stop"),
    ),
  },
  {
    name: "message-usage-as-text",
    about: "Token counts are strings",
    hooks: wholeReply(
      "messages",
      (body) => withAt(body, "usage.output_tokens", "12"),
    ),
  },
  {
    name: "message-input-tokens-0",
    about: "No input tokens are told",
    hooks: wholeReply(
      "messages",
      (body) => withAt(body, "usage.input_tokens", 0),
    ),
  },
  {
    name: "message-text-trimmed",
    about: "The last character of the text is lost",
    hooks: wholeReply("messages", (body) =>
      withAt(
        body,
        "content.0.text",
        textAt(body, "content.0.text").slice(0, -1),
      )),
  },
];
