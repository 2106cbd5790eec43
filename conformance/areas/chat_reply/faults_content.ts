/**
 * Mutants for the checks of the area `chat_reply`: the text and the token counts of whole replies.
 */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { at, numberAt } from "../../evidence/json_path.ts";
import { type Json, objectOf } from "@model-gateway/replay/json";
import { wholeReply } from "../../reference_gateway/change_reply.ts";
import { put } from "../../reference_gateway/change_chat_reply.ts";

/** A mutant that changes the text of whole replies; null stays null. */
export function changeText(
  change: (text: string) => Json,
): Hooks {
  const path = "choices.0.message.content";
  return put(path, (body) => {
    const content = at(body, path);
    return typeof content === "string" ? change(content) : content;
  });
}

/** A mutant that changes the usage of whole replies. */
export function usage(
  change: (
    prompt: number,
    completion: number,
    cached: number,
  ) => readonly [prompt: number, completion: number],
): Hooks {
  return wholeReply("chat", (body) => {
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
  });
}

export const CACHED = "usage.prompt_tokens_details.cached_tokens";
