import assert from "node:assert/strict";
import { TextBuffer } from "./text_buffer.ts";

Deno.test("TextBuffer holds the concatenation of its pieces at every length", () => {
  const buffer = new TextBuffer();
  let expected = "";
  for (let n = 0; n < 100; n++) {
    assert.equal(buffer.length, expected.length);
    if (n % 7 === 0) assert.equal(String(buffer), expected);
    const piece = n % 5 === 0 ? "" : `${n}é😀`;
    buffer.push(piece);
    expected += piece;
  }
  assert.equal(String(buffer), expected);
});
