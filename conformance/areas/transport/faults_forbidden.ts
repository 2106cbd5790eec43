/**
 * Mutants for the checks of the area `transport` about headers and characters that no reply may
 * contain.
 */
import type { Hooks, OutFrame } from "../../reference_gateway/hooks.ts";
import { textAt } from "../../evidence/json_path.ts";
import { frames, withAt } from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** Streams of an endpoint that split a text inside its first surrogate pair. */
function halved(endpoint: "messages" | "chat", path: string): Hooks {
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
function refusals(name: string, value: string): Hooks {
  return {
    reply: (reply) =>
      reply.status >= 400
        ? { ...reply, headers: { ...reply.headers, [name]: value } }
        : reply,
  };
}

/** Part of `TRANSPORT_MUTANTS`. */
export const TRANSPORT_FORBIDDEN_MUTANTS: readonly Mutant[] = [
  {
    name: "characters-halved",
    about: "Message streams split characters in two",
    hooks: halved("messages", "delta.text"),
  },
  {
    name: "chat-characters-halved",
    about: "Chat streams split characters in two",
    hooks: halved("chat", "choices.0.delta.content"),
  },
  {
    name: "json-with-byte-order-mark",
    about: "JSON begins with a byte order mark",
    hooks: {
      writer: (writer, { stream }) =>
        stream ? writer : {
          ...writer,
          head: (status, headers) => {
            const length = Number(headers["content-length"] ?? 0) + 3;
            writer.head(status, { ...headers, "content-length": `${length}` });
          },
          piece: (bytes) =>
            writer.piece(Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes)),
        },
    },
  },
  {
    name: "refusals-with-deny-reason",
    about: "Refusals have a header of a proxy between client and gateway",
    hooks: refusals("x-deny-reason", "host_not_allowed"),
  },
  {
    name: "replies-public",
    about: "Replies may be stored by any cache",
    hooks: {
      reply: (reply) => ({
        ...reply,
        headers: { ...reply.headers, "cache-control": "public, max-age=600" },
      }),
    },
  },
  {
    name: "refusals-to-be-tried-again",
    about: "The refusal of a wrong key asks for a retry",
    hooks: refusals("x-should-retry", "true"),
  },
];
