/** What the faults of the area `chat_reply` are built from, and those that several checks have. */
import { chatReply } from "../../faults/change_reply.ts";
import { at, numberAt, textAt } from "../../evidence/json_path.ts";
import { CHAT_REPLY } from "../../endpoints/chat.ts";
import { fieldOf, type Right } from "../../faults/field.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { objectOf } from "@model-gateway/replay/json";

/** A mutant that puts a value at a path of whole replies; undefined removes it. */
export const { put } = CHAT_REPLY.head;

export const field = (
  path: string,
  right: Right,
): ReturnType<typeof fieldOf> => fieldOf(CHAT_REPLY.head, path, right);

export function finish(from: string, to: string): Hooks {
  return put("choices.0.finish_reason", (body) => {
    const reason = textAt(body, "choices.0.finish_reason");
    return reason === from ? to : reason;
  });
}

export const CONTENT = "choices.0.message.content";

export const FINISH = "choices.0.finish_reason";

/** A mutant that changes the usage of whole replies. */
export function usage(
  change: (
    prompt: number,
    completion: number,
    cached: number,
  ) => readonly [prompt: number, completion: number],
): Hooks {
  return chatReply((body) => {
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
