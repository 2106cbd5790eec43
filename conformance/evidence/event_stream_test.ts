import assert from "node:assert/strict";
import { strictFrames, witnessFrames } from "./event_stream.ts";

function bothOn(text: string): [number, number] {
  const body = new TextEncoder().encode(text);
  const arrivals = [{ atMs: 1, upTo: body.length }];
  return [strictFrames(body, arrivals).length, witnessFrames(body).length];
}

Deno.test("both readers agree on finished frames, whatever the line ends", () => {
  for (const end of ["\n", "\r\n"]) {
    const text =
      `event: a${end}data: 1${end}${end}: c${end}${end}data: 2${end}data: 3${end}${end}`;
    assert.deepEqual(bothOn(text), [2, 2]);
  }
});

Deno.test("only the witness counts an unfinished last frame", () => {
  assert.deepEqual(bothOn("data: 1\n\ndata: 2\n"), [1, 2]);
});

Deno.test("strictFrames() times a frame by the piece that completed it", () => {
  const body = new TextEncoder().encode("data: 1\n\ndata: 2\n\n");
  const frames = strictFrames(body, [
    { atMs: 5, upTo: 3 },
    { atMs: 9, upTo: 9 },
    { atMs: 20, upTo: 18 },
  ]);
  assert.deepEqual(frames.map(({ atMs }) => atMs), [9, 20]);
});
