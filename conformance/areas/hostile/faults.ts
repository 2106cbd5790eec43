/**
 * Faults of the area `hostile`: upstream readers with mistakes seen in real ones.
 */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { Faults } from "../../suite/check.ts";

const encoder = new TextEncoder();

/** Changes the upstream's bytes, piece by piece. */
function pieces(change: (piece: Uint8Array) => Uint8Array): Hooks {
  return {
    upstreamBytes: async function* (bytes) {
      for await (const piece of bytes) yield change(piece);
    },
  };
}

/** Changes the whole text of an upstream's body. */
export function wholeText(change: (text: string) => string): Hooks {
  return {
    upstreamBytes: async function* (bytes) {
      const all = await new Response(ReadableStream.from(bytes)).arrayBuffer();
      // `ignoreBOM` keeps the byte order mark, so that the mutant fails on it.
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(all);
      yield encoder.encode(change(text));
    },
  };
}

export const READER_FAULTS: Faults = {
  "decodes-each-piece": pieces((piece) =>
    encoder.encode(new TextDecoder().decode(piece))
  ),
  "one-frame-a-piece": pieces((piece) => {
    const [first = ""] = new TextDecoder().decode(piece).split(/(?<=\n\n)/);
    return encoder.encode(first);
  }),
  "line-feeds-only": wholeText((text) => text.replaceAll("\r", "~")),
  "byte-order-mark-kept": wholeText((text) =>
    text.startsWith("\ufeff") ? "" : text
  ),
  "blank-after-colon-needed": wholeText((text) =>
    text.replaceAll(/^data:(?! )/gm, "lost:")
  ),
  "first-data-line-only": wholeText((text) =>
    text.replaceAll(/(^data: .*$\r?\n)(?:^data: .*$\r?\n)+/gm, "$1")
  ),
  "comments-end-the-stream": wholeText((text) => text.split(/^:/m)[0] ?? ""),
  "id-lines-end-the-stream": wholeText((text) => text.split(/^id:/m)[0] ?? ""),
  // The upstream is asked to compress, but compressed replies are not decoded.
  "gzip-not-understood": {
    upstreamBytes: async function* (bytes, { request }) {
      for await (const piece of bytes) {
        if (!request.body.includes("?gzip")) yield piece;
      }
    },
  },
};
