import assert from "node:assert/strict";
import { encodeText, joinPieces } from "./buffers.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

Deno.test("a piece keeps its bytes while later pieces are allocated", () => {
  const given: { readonly piece: Uint8Array; readonly wanted: string }[] = [];
  for (let n = 0; n < 5_000; n++) {
    // Every length around the largest piece that is taken from a block.
    const wanted = `${n}é😀`.repeat(1 + n % 700);
    given.push({ piece: encodeText(wanted), wanted });
    const joined = joinPieces([encodeText("a"), encodeText(wanted)]);
    given.push({ piece: joined, wanted: `a${wanted}` });
  }
  for (const { piece, wanted } of given) assert.equal(text(piece), wanted);
});

Deno.test("encodeText() and joinPieces() return an empty piece for empty input", () => {
  assert.equal(encodeText("").length, 0);
  assert.equal(joinPieces([]).length, 0);
});

Deno.test("joinPieces() returns a single piece itself", () => {
  const piece = new Uint8Array([1, 2]);
  assert.equal(joinPieces([piece]), piece);
});
