import assert from "node:assert/strict";
import fc from "fast-check";
import { exactJson } from "./exact_json.ts";
import { jsonPieces } from "./json_pieces.ts";

const CHARS = 128 * 1024;

Deno.test("the pieces of a value are its JSON text", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      assert.equal([...jsonPieces(value)].join(""), JSON.stringify(value));
    }),
  );
});

const LARGE: Readonly<Record<string, unknown>> = {
  "a long text": 'say "no"\n'.repeat(CHARS),
  "pairs of surrogates at every place": ["", "a"].map((before) =>
    before + "\u{1f600}".repeat(CHARS)
  ),
  "half pairs": "\ud83d".repeat(2 * CHARS),
  "many values": Array.from({ length: 50_000 }, (_, i) => ({ i, a: ["é"] })),
  "absent values": { a: undefined, b: { c: undefined }, d: [undefined, {}] },
  "exact numbers": exactJson(`{"a":[12345678901234567890,{"b":1e400}]}`),
};

for (const [name, value] of Object.entries(LARGE)) {
  Deno.test(`pieces are bounded: ${name}`, () => {
    const pieces = [...jsonPieces(value)];
    // Without `assert.equal`, which prints both.
    assert.ok(pieces.join("") === JSON.stringify(value));
    for (const piece of pieces) assert.ok(piece.length < 8 * CHARS);
  });
}
