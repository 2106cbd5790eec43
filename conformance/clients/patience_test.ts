/** A reply that moves is waited for longer than one that stands still, and neither for ever. */
import assert from "node:assert/strict";
import { install } from "@sinonjs/fake-timers";
import { Patience } from "./patience.ts";

Deno.test("Patience runs out when nothing moves, later when something does, and after four times the time", () => {
  const clock = install();
  try {
    let out = 0;
    const still = new Patience(100, () => out++);
    clock.tick(100);
    assert.equal(out, 1);
    still.end();

    const moving = new Patience(100, () => out++);
    for (let at = 0; at < 4; at++) {
      clock.tick(90);
      assert.equal(out, 1);
      moving.moved();
    }
    clock.tick(50);
    assert.equal(out, 2);
    moving.end();

    new Patience(100, () => out++).end();
    clock.tick(1000);
    assert.equal(out, 2);
  } finally {
    clock.uninstall();
  }
});
