/** What the faults of the area `chat_reply` are built from, and those that several checks have. */
import { chatReply } from "../../reference_gateway/change_reply.ts";
import { asking } from "../../reference_gateway/change_request.ts";
import { at, numberAt, textAt } from "../../evidence/json_path.ts";
import { fieldRules } from "../../reference_gateway/field.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { put } from "../../reference_gateway/change_chat_reply.ts";
import { type Json, objectOf } from "@model-gateway/replay/json";

/** A rule about one field, with its faults. */
export const field = fieldRules(put);

/** A mutant that renames a finish reason. */
export function finish(from: string, to: string): Hooks {
  return put("choices.0.finish_reason", (body) => {
    const reason = textAt(body, "choices.0.finish_reason");
    return reason === from ? to : reason;
  });
}

/** Changes the headers of whole replies. */
export function contentType(type: string): Hooks {
  return {
    reply: (reply, { endpoint }) =>
      endpoint === "chat"
        ? { ...reply, headers: { ...reply.headers, "content-type": type } }
        : reply,
  };
}

export const CONTENT = "choices.0.message.content";

export const FINISH = "choices.0.finish_reason";

/** stream: false is read as true. */
export const chatStreamFalseStreams: Hooks = asking((_, { request }) =>
  request.body.includes('"stream":false') ? { stream: true } : {}
);

/** A truncated reply ends with `stop`. */
export const chatLengthAsStop: Hooks = finish("length", "stop");

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
