/**
 * Mutants that affect only clients of the upstream's own dialect: there a gateway may pass on odd
 * replies unchanged.
 */
import { listAt, textAt } from "../../evidence/json_path.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type { JsonObject } from "@model-gateway/replay/json";
import { finishing } from "../../reference_gateway/change_chunks.ts";
import {
  frames,
  wholeReply,
  withAt,
} from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

const DELTA = "choices.0.delta";

/** True for a chat request to a model whose upstream uses chat completions. */
function own({ endpoint, via }: Context): boolean {
  return endpoint === "chat" && via === "chat_completions";
}

/** Changes finishing chunks of such exchanges; an empty list removes them. */
function finish(change: (data: JsonObject) => readonly JsonObject[]): Hooks {
  return frames(
    "chat",
    (data, x) =>
      own(x) && finishing(data)
        ? change(data).map((changed) => ({ data: changed }))
        : data,
  );
}

const nulled = wholeReply(
  "chat",
  (body) => withAt(body, "choices.0.finish_reason", null),
);

/** Part of `MUTANTS`. */
export const SAME_DIALECT_MUTANTS: readonly Mutant[] = [
  {
    name: "chat-finish-null-in-own-dialect",
    about: "Whole replies of a chat upstream have no finish reason",
    hooks: {
      reply: (reply, x) => own(x) ? nulled.reply?.(reply, x) ?? reply : reply,
    },
  },
  {
    name: "chat-finish-missing-in-own-dialect",
    about: "Streams of a chat upstream have no finishing chunk",
    hooks: finish(() => []),
  },
  {
    name: "chat-finish-twice-in-own-dialect",
    about: "Streams of a chat upstream have two finishing chunks",
    hooks: finish((data) => [data, data]),
  },
  {
    name: "chat-finish-with-text-in-own-dialect",
    about: "The finishing chunk of a chat upstream has content",
    hooks: finish((data) => [withAt(data, DELTA, { content: "" })]),
  },
  {
    name: "chat-finish-with-call-in-own-dialect",
    about: "The finishing chunk of a chat upstream carries the end of a call",
    hooks: finish((data) => [
      withAt(data, DELTA, {
        tool_calls: [{ index: 0, function: { arguments: "" } }],
      }),
    ]),
  },
  {
    name: "tool-args-lost-in-own-dialect",
    about: "Streams of a chat upstream lose the arguments of calls",
    hooks: frames(
      "chat",
      (data, x) =>
        own(x) &&
          listAt(data, `${DELTA}.tool_calls`).some((call) =>
            textAt(call, "function.arguments") !== ""
          )
          ? undefined
          : data,
    ),
  },
];
