/**
 * Mutants for the checks of the area `hostile`: upstream readers with mistakes seen in real ones.
 */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { STREAM_MUTANTS, wholeText } from "./faults_streams.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

const encoder = new TextEncoder();

/** Changes the upstream's bytes, piece by piece. */
function pieces(change: (piece: Uint8Array) => Uint8Array): Hooks {
  return {
    upstreamBytes: async function* (bytes) {
      for await (const piece of bytes) yield change(piece);
    },
  };
}

/** All mutants of the area `hostile`. */
export const HOSTILE_MUTANTS: readonly Mutant[] = [
  {
    name: "decodes-each-piece",
    about: "Characters split between two pieces are lost",
    hooks: pieces((piece) => encoder.encode(new TextDecoder().decode(piece))),
  },
  {
    name: "one-frame-a-piece",
    about: "Only the first frame of each piece is read",
    hooks: pieces((piece) => {
      const text = new TextDecoder().decode(piece);
      const first = text.split(/(?<=\n\n)/)[0] ?? "";
      return encoder.encode(first);
    }),
  },
  {
    name: "line-feeds-only",
    about: "Only a line feed ends a line",
    hooks: wholeText((text) => text.replaceAll("\r", "~")),
  },
  {
    name: "byte-order-mark-kept",
    about: "A byte order mark makes the whole stream unreadable",
    hooks: wholeText((text) => text.startsWith("\ufeff") ? "" : text),
  },
  {
    name: "blank-after-colon-needed",
    about: "Data lines without a space after the colon are ignored",
    hooks: wholeText((text) => text.replaceAll(/^data:(?! )/gm, "lost:")),
  },
  {
    name: "first-data-line-only",
    about: "Only the first data line of a frame is read",
    hooks: wholeText((text) =>
      text.replaceAll(/(^data: .*$\r?\n)(?:^data: .*$\r?\n)+/gm, "$1")
    ),
  },
  {
    name: "comments-end-the-stream",
    about: "Reading stops at a comment",
    hooks: wholeText((text) => text.split(/^:/m)[0] ?? ""),
  },
  {
    name: "id-lines-end-the-stream",
    about: "Reading stops at an id line",
    hooks: wholeText((text) => text.split(/^id:/m)[0] ?? ""),
  },
  {
    name: "gzip-not-understood",
    about:
      "The upstream is asked to compress, but compressed replies are not decoded",
    hooks: {
      upstreamBytes: async function* (bytes, { request }) {
        for await (const piece of bytes) {
          if (!request.body.includes("?gzip")) yield piece;
        }
      },
    },
  },
  ...STREAM_MUTANTS,
];
