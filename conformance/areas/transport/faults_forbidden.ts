/**
 * Mutants for the checks of the area `transport` about headers and characters that no reply may
 * contain.
 */
import type { Hooks, OutFrame } from "../../reference_gateway/hooks.ts";
import { textAt } from "../../evidence/json_path.ts";
import { frames, withAt } from "../../reference_gateway/change_reply.ts";

/** Streams of an endpoint that split a text inside its first surrogate pair. */
export function halved(endpoint: "messages" | "chat", path: string): Hooks {
  return frames(endpoint, (data, _, frame): readonly OutFrame[] => {
    const text = textAt(data, path);
    const at = [...text.matchAll(/[\u{10000}-\u{10ffff}]/gu)][0]?.index;
    if (at === undefined) return [frame];
    return [text.slice(0, at + 1), text.slice(at + 1)].map((part) => ({
      ...frame,
      data: withAt(data, path, part),
    }));
  });
}

/** Refusals with an additional header. */
export function refusals(name: string, value: string): Hooks {
  return {
    reply: (reply) =>
      reply.status >= 400
        ? { ...reply, headers: { ...reply.headers, [name]: value } }
        : reply,
  };
}
