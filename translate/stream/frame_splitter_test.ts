import assert from "node:assert/strict";
import { type FrameSplitter, frameSplitter } from "./frame_splitter.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const allOf = (cutter: FrameSplitter, chunk: Uint8Array): Uint8Array[] => {
  const frames: Uint8Array[] = [];
  for (let at = 0;;) {
    const frame = cutter.cut(chunk, at);
    if (frame === undefined) return frames;
    frames.push(frame);
    at = cutter.cutEnd();
  }
};
const text = (data: Uint8Array): string => new TextDecoder().decode(data);

Deno.test("frameSplitter() ends frames at blank lines of every kind", async (t) => {
  for (
    const [name, end] of [["LF", "\n"], ["CRLF", "\r\n"], ["CR", "\r"]] as const
  ) {
    const stream = [
      `event: a`,
      `data: 1`,
      ``,
      `: note`,
      ``,
      `data: 2`,
      `data: 3`,
      ``,
      `data: 4`,
    ].join(end);
    await t.step(`${name}, in one chunk`, () => {
      const cutter = frameSplitter();
      const frames = allOf(cutter, bytes(stream)).map(text);
      assert.deepEqual(frames, [
        `event: a${end}data: 1${end}${end}`,
        `: note${end}${end}`,
        `data: 2${end}data: 3${end}${end}`,
      ]);
      assert.equal(text(cutter.rest()), "data: 4");
    });
    await t.step(
      `${name}, byte by byte, without losing or changing one`,
      () => {
        const cutter = frameSplitter();
        const frames: string[] = [];
        for (const byte of bytes(stream)) {
          frames.push(...allOf(cutter, Uint8Array.of(byte)).map(text));
        }
        assert.equal(frames.length, 3);
        assert.equal(frames.join("") + text(cutter.rest()), stream);
        assert.deepEqual(frames.map((frame) => frame.trim()), [
          `event: a${end}data: 1`,
          ": note",
          `data: 2${end}data: 3`,
        ]);
      },
    );
  }
});

Deno.test("frameSplitter() returns leading blank lines with the frame that follows", () => {
  const cutter = frameSplitter();
  assert.deepEqual(
    allOf(cutter, bytes("\n\n\ndata: 1\n\n\n\ndata: 2\n\n")).map(text),
    [
      "\n\n\ndata: 1\n\n",
      "\n\ndata: 2\n\n",
    ],
  );
  assert.equal(text(cutter.rest()), "");
});
