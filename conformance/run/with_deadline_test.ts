/** A scenario ends when its target is silent, not when it is slow. */
import assert from "node:assert/strict";
import { withDeadline } from "./with_deadline.ts";

/** A scenario that ends after some looks at the number of its replies. */
async function look(answeredAt: (looks: number) => number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let looks = 0;
  await withDeadline(promise, 1, () => {
    if (++looks === 5) resolve();
    return answeredAt(looks);
  });
}

Deno.test("a scenario whose target goes on replying has no deadline", async () => {
  await look((looks) => looks);
});

Deno.test("a scenario whose target stops replying is ended", () =>
  assert.rejects(look((looks) => Math.min(looks, 2)), /no reply for/));
