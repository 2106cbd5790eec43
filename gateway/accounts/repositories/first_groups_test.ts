import assert from "node:assert/strict";
import fc from "fast-check";
import { firstGroups, type GroupKey } from "./first_groups.ts";

const KEY = fc.tuple(fc.nat(40), fc.constantFrom("", "a", "b", "A"));

Deno.test("firstGroups() keeps the sums of the first groups after the cursor, in any order of rows", () => {
  fc.assert(fc.property(
    fc.array(fc.tuple(KEY, fc.nat(9)), { maxLength: 600 }),
    fc.integer({ min: 1, max: 5 }),
    fc.option(KEY, { nil: undefined }),
    (rows, count, after) => {
      const groups = firstGroups(count, after);
      for (const [key, n] of rows) groups.add(key, [n, 1]);
      const sums = new Map<string, [GroupKey, number, number]>();
      for (const [key, n] of rows) {
        const [, sum, size] = sums.get(key.join()) ?? [key, 0, 0];
        sums.set(key.join(), [key, sum + n, size + 1]);
      }
      const before = ([a, b]: GroupKey, [c, d]: GroupKey): boolean =>
        Number(a) < Number(c) || a === c && String(b) < String(d);
      assert.deepEqual(
        groups.sorted().map(({ key, sums: [sum, size] }) => [key, sum, size]),
        [...sums.values()]
          .filter(([key]) => after === undefined || before(after, key))
          .sort(([a], [b]) => before(a, b) ? -1 : 1)
          .slice(0, count),
      );
    },
  ));
});
