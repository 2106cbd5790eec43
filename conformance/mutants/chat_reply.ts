/** Mutants for the checks of the area `chat_reply`. */
import { numberAt } from "../evidence/json_path.ts";
import { wholeReply, withAt } from "./change_reply.ts";
import type { Mutant } from "./mutant.ts";

/** The mutants. */
export const CHAT_REPLY_MUTANTS: readonly Mutant[] = [
  {
    name: "chat-id-of-messages",
    about: "The id has the message format's prefix",
    hooks: wholeReply("chat", (body) => withAt(body, "id", "msg_1")),
  },
  {
    name: "chat-object-chunk",
    about: "A whole reply calls itself a chunk",
    hooks: wholeReply(
      "chat",
      (body) => withAt(body, "object", "chat.completion.chunk"),
    ),
  },
  {
    name: "chat-total-is-prompt",
    about: "The total leaves the output out",
    hooks: wholeReply("chat", (body) =>
      withAt(
        body,
        "usage.total_tokens",
        numberAt(body, "usage.prompt_tokens"),
      )),
  },
  {
    name: "chat-usage-missing",
    about: "The usage is missing",
    hooks: wholeReply("chat", (body) => withAt(body, "usage", undefined)),
  },
];
