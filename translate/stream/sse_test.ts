import assert from "node:assert/strict";
import { sseParser } from "./sse.ts";

/** The data of the frames that the parser reads from a text cut into chunks of some bytes. */
function dataOf(text: string, size: number): readonly string[] {
  const bytes = new TextEncoder().encode(text);
  const parser = sseParser();
  const data: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const frame of parser.push(bytes.subarray(at, at + size))) {
      data.push(frame.data);
    }
  }
  return [...data, ...parser.end().map((frame) => frame.data)];
}

Deno.test("sseParser() decodes characters of several bytes wherever the chunks are cut", () => {
  const data = ["é", "😀 ü", "plain", "日本"];
  const text = data.map((one) => `data: ${one}\n\n`).join("");
  for (let size = 1; size <= text.length + 10; size++) {
    assert.deepEqual(dataOf(text, size), data, `chunks of ${size} bytes`);
  }
});

Deno.test("sseParser() drops a byte order mark at the start and keeps a later one", () => {
  const first = "\ufeffdata: a\n\n";
  const second = "data: \ufeffb\n\n";
  for (const size of [1, 2, 4, first.length + 2, 1_000]) {
    assert.deepEqual(
      dataOf(first + second, size),
      ["a", "\ufeffb"],
      `chunks of ${size} bytes`,
    );
  }
});

Deno.test("sseParser() replaces bytes that are not UTF-8", () => {
  const parser = sseParser();
  const frame = (byte: number): Uint8Array =>
    Uint8Array.from([...new TextEncoder().encode("data: "), byte, 10, 10]);
  assert.deepEqual(
    [0x41, 0xff, 0xc3].map((byte) => parser.push(frame(byte))[0]?.data),
    ["A", "\ufffd", "\ufffd"],
  );
});

Deno.test("sseParser() ends a stream of a great many lines that are no fields, and reads a few", () => {
  const lines = (line: string, count: number): Uint8Array =>
    new TextEncoder().encode(line.repeat(count));
  for (const line of ["x\n\n", "retry: soon\n"]) {
    assert.throws(
      () => sseParser().push(lines(line, 5_001)),
      /it is no event stream/,
    );
  }
  const parser = sseParser();
  for (let round = 0; round < 2; round++) {
    parser.push(lines("{\n", 3_000));
    const frames = parser.push(lines("data: 1\n\n", 1));
    assert.equal(frames.at(-1)?.data, "1");
  }
});
