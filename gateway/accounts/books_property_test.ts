/**
 * Two processes that are only played share one store; calls, settlements, repetitions, faults and deaths come in any order. What
 * must come out is said by `testing/books_model.ts`.
 *
 * @module
 */
import fc from "fast-check";
import { openStore } from "./open_store.ts";
import { type Step, worldOn } from "./testing/books_model.ts";

const process = fc.nat(1);
const account = fc.nat(1);
const wanted = {
  process,
  account,
  model: fc.nat(1),
  input: fc.nat(50),
  max: fc.nat(100),
};
const when = fc.constantFrom("before" as const, "after" as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("reserve"), ...wanted }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("settle"),
      which: fc.nat(),
      part: fc.nat(100),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("settle again"), which: fc.nat() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("flush"), process }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("fault"),
      process,
      when: when,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash"), process }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("top up"),
      account,
      purse: fc.boolean(),
      microUsd: fc.integer({ min: 1, max: 500 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.nat(10_000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("die reserving"), when, ...wanted }),
  },
);

Deno.test("the books come out right, whatever happens in whatever order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 60 }),
      async (steps) => {
        const store = await openStore("sqlite::memory:");
        try {
          const world = worldOn(store);
          await world.begin();
          for (const step of steps) {
            await world.take(step);
            await world.holds();
          }
          await world.end();
        } finally {
          await store.close();
        }
      },
    ),
    { numRuns: 300 },
  );
});
