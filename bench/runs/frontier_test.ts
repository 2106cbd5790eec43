import assert from "node:assert/strict";
import { type AtRate, findFrontiers } from "./frontier.ts";

const RATES = [100, 200, 400, 800];

/** Added times by rate; a list gives one time per attempt. */
async function frontiers(
  added: Readonly<Record<number, number | readonly number[]>>,
  failsAt = Infinity,
) {
  const tried: number[] = [];
  const found = await findFrontiers(RATES, [1, 10], (perSecond) => {
    const attempt = tried.filter((one) => one === perSecond).length;
    tried.push(perSecond);
    const times = [added[perSecond] ?? 0].flat();
    const one: AtRate = {
      addedMs: times[attempt] ?? times[0] ?? 0,
      isServed: perSecond < failsAt,
    };
    return Promise.resolve(one);
  });
  return {
    tried,
    found: found.map(({ perSecond, isOpen }) => [perSecond, isOpen]),
  };
}

Deno.test("each bound has the highest rate below the first that misses it", async () => {
  assert.deepEqual(
    await frontiers({ 100: 0.5, 200: 2, 400: 0.5, 800: 50 }),
    {
      tried: [100, 200, 200, 400, 800, 800],
      found: [[100, false], [400, false]],
    },
  );
});

Deno.test("a rate that misses a bound once is tried again", async () => {
  assert.deepEqual(
    await frontiers({ 200: [20, 0.1] }),
    { tried: [100, 200, 200, 400, 800], found: [[800, true], [800, true]] },
  );
});

Deno.test("a rate with a failure is within no bound, and ends the search", async () => {
  assert.deepEqual(
    await frontiers({}, 200),
    { tried: [100, 200, 200], found: [[100, false], [100, false]] },
  );
  assert.deepEqual(
    (await frontiers({}, 100)).found,
    [[0, false], [0, false]],
  );
});
