/** A reply that still arrives gets more time than a stalled one, but not endless time. */
import assert from "node:assert/strict";
import { install } from "@sinonjs/fake-timers";
import { IdleTimeout } from "./idle_timeout.ts";

Deno.test("IdleTimeout runs out when nothing arrives, later when something does, and after four times the time", () => {
  const clock = install();
  try {
    let out = 0;
    const still = new IdleTimeout(100, () => out++);
    clock.tick(100);
    assert.equal(out, 1);
    still.stop();

    const moving = new IdleTimeout(100, () => out++);
    for (let at = 0; at < 4; at++) {
      clock.tick(90);
      assert.equal(out, 1);
      moving.restart();
    }
    clock.tick(50);
    assert.equal(out, 2);
    moving.stop();

    new IdleTimeout(100, () => out++).stop();
    clock.tick(1000);
    assert.equal(out, 2);
  } finally {
    clock.uninstall();
  }
});
