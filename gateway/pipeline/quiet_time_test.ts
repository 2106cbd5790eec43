import assert from "node:assert/strict";
import { QuietTime } from "./quiet_time.ts";

type Chunk = readonly [ms: number, chars: number, thoughtChars?: number];

/** Follows a reply given as its chunks. */
function quiet(chunks: readonly Chunk[], untilMs: number): number[] {
  let progress = { started: true, ended: false, usage: {}, generatedChars: 0 };
  const time = new QuietTime(0, () => progress);
  for (const [ms, generatedChars, thoughtChars] of chunks) {
    progress = {
      ...progress,
      generatedChars,
      ...(thoughtChars === undefined ? {} : { thoughtChars }),
    };
    time.chunk(ms);
  }
  const { beforeAnswerMs, pausesMs } = time.until(untilMs);
  return [beforeAnswerMs, pausesMs];
}

/** A chunk each 100 ms for a while, from a time on. */
function each100Ms(
  fromMs: number,
  count: number,
  chunk: (n: number) => readonly [chars: number, thoughtChars?: number],
): readonly Chunk[] {
  return Array.from(
    { length: count },
    (_, n) => [fromMs + n * 100, ...chunk(n)] as const,
  );
}

Deno.test("QuietTime counts the time until the answer begins, keep-alives and shown reasoning included", () => {
  assert.deepEqual(quiet([[10, 0], [1_000, 16, 0]], 1_001), [1_000, 0]);
  const pings = each100Ms(0, 99, () => [0]);
  assert.deepEqual(quiet([...pings, [10_000, 16, 0]], 10_010), [10_000, 0]);
  const thoughts = each100Ms(0, 99, (n) => [n]);
  assert.deepEqual(quiet([...thoughts, [10_000, 200, 99]], 10_010), [
    10_000,
    0,
  ]);
  assert.deepEqual(quiet(thoughts, 12_000), [12_000, 0]);
});

Deno.test("QuietTime counts pauses of the answer, not its flow", () => {
  const flow = each100Ms(300, 20, (n) => [16 * (n + 1), 0]);
  assert.deepEqual(quiet(flow, 2_400), [300, 0]);
  assert.deepEqual(quiet(flow, 9_000), [300, 6_900]);
  const pings = each100Ms(2_300, 50, () => [320, 0]);
  const [, pausesMs = 0] = quiet(
    [...flow, ...pings, [7_300, 400, 0]],
    7_400,
  );
  assert.ok(Math.abs(pausesMs - 5_100) <= 250, String(pausesMs));
});
