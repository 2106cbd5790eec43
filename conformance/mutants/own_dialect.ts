/** Mutants that fail only a caller who speaks the upstream's own dialect: there a gateway is tempted to pass oddities on. */
import { listAt, textAt } from "../evidence/json_path.ts";
import type { Context, Hooks } from "../golden/hooks.ts";
import type { JsonObject } from "../replay/json.ts";
import { finishing } from "./change_chunks.ts";
import { frames, wholeReply, withAt } from "./change_reply.ts";
import type { Mutant } from "./mutant.ts";

const DELTA = "choices.0.delta";

/** True for a caller of the chat endpoint whose model's upstream speaks chat completions. */
function own({ endpoint, via }: Context): boolean {
  return endpoint === "chat" && via === "chat_completions";
}

/** Changes finishing chunks of such callers; no chunks leave them out. */
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

/** The mutants. */
export const OWN_DIALECT_MUTANTS: readonly Mutant[] = [
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
    about: "The finishing chunk of a chat upstream has the end of a call",
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
