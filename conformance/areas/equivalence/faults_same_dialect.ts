/**
 * Mutants that affect only clients of the upstream's own dialect: there a gateway may pass on odd
 * replies unchanged.
 */
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type { JsonObject } from "@model-gateway/replay/json";
import { finishing } from "../../reference_gateway/change_chunks.ts";
import {
  frames,
  wholeReply,
  withAt,
} from "../../reference_gateway/change_reply.ts";

export const DELTA = "choices.0.delta";

/** True for a chat request to a model whose upstream uses chat completions. */
export function own({ endpoint, via }: Context): boolean {
  return endpoint === "chat" && via === "chat_completions";
}

/** Changes finishing chunks of such exchanges; an empty list removes them. */
export function finish(
  change: (data: JsonObject) => readonly JsonObject[],
): Hooks {
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

/** Whole replies of a chat upstream have no finish reason. */
export const chatFinishNullInOwnDialect: Hooks = {
  reply: (reply, x) => own(x) ? nulled.reply?.(reply, x) ?? reply : reply,
};

/** Streams of a chat upstream have no finishing chunk. */
export const chatFinishMissingInOwnDialect: Hooks = finish(() => []);

/** Streams of a chat upstream have two finishing chunks. */
export const chatFinishTwiceInOwnDialect: Hooks = finish((
  data,
) => [data, data]);
