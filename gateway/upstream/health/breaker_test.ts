import assert from "node:assert/strict";
import * as fc from "fast-check";
import {
  Breaker,
  CONSECUTIVE_FAILURES,
  FIRST_COOLDOWN_MS,
  FIRST_PAUSE_MS,
  MAX_PAUSE_MS,
} from "./breaker.ts";

const START = 1_800_000_000_000;

function openedAt(nowMs: number): Breaker {
  const breaker = new Breaker();
  for (let i = 0; i < CONSECUTIVE_FAILURES; i++) breaker.failed(nowMs);
  return breaker;
}

Deno.test("failed() opens after consecutive failures, and a success resets their count", () => {
  const breaker = new Breaker();
  for (let i = 1; i < CONSECUTIVE_FAILURES; i++) breaker.failed(START);
  breaker.succeeded(START);
  for (let i = 1; i < CONSECUTIVE_FAILURES; i++) breaker.failed(START);
  assert.equal(breaker.state(START), "closed");
  breaker.failed(START);
  assert.equal(breaker.state(START), "open");
  assert.equal(breaker.sinceMs(START), START);
});

Deno.test("failed() opens if half of the calls of a window failed, not if a quarter did", () => {
  const run = (every: number): string => {
    const breaker = new Breaker();
    for (let i = 0; i < 100; i++) {
      if (i % every === 0) breaker.failed(START + i);
      else breaker.succeeded(START + i);
      if (breaker.state(START + i) !== "closed") return "open";
    }
    return "closed";
  };
  assert.equal(run(2), "open");
  assert.equal(run(4), "closed");
});

Deno.test("failures of an earlier window do not count", () => {
  const breaker = new Breaker();
  for (let i = 0; i < 40; i++) {
    breaker.failed(START + i * 10_000);
    breaker.succeeded(START + i * 10_000);
  }
  assert.equal(breaker.state(START + 400_000), "closed");
});

Deno.test("the pause doubles with every opening up to its limit, and a success resets it", () => {
  const breaker = openedAt(START);
  let nowMs = START;
  for (let ms = FIRST_PAUSE_MS; ms < 4 * MAX_PAUSE_MS; ms *= 2) {
    const longMs = Math.min(ms, MAX_PAUSE_MS);
    assert.equal(breaker.admits(nowMs + longMs - 1), false);
    nowMs += longMs;
    assert.equal(breaker.state(nowMs), "half_open");
    assert.ok(breaker.startCall(nowMs));
    breaker.failed(nowMs);
  }
  nowMs += MAX_PAUSE_MS;
  breaker.startCall(nowMs);
  breaker.succeeded(nowMs);
  for (let i = 0; i < CONSECUTIVE_FAILURES; i++) breaker.failed(nowMs);
  assert.equal(breaker.admits(nowMs + FIRST_PAUSE_MS), true);
});

Deno.test("a reply that only began closes the breaker, but does not reset the pause", () => {
  const breaker = openedAt(START);
  const nowMs = START + FIRST_PAUSE_MS;
  breaker.startCall(nowMs);
  breaker.replyStarted(nowMs);
  assert.equal(breaker.state(nowMs), "closed");
  for (let i = 0; i < CONSECUTIVE_FAILURES; i++) breaker.failed(nowMs);
  assert.equal(breaker.state(nowMs + FIRST_PAUSE_MS), "open");
  assert.equal(breaker.state(nowMs + 2 * FIRST_PAUSE_MS), "half_open");
});

Deno.test("startCall() grants one probe, and endedWithoutResult() releases it", () => {
  const breaker = openedAt(START);
  assert.equal(breaker.startCall(START), false, "open");
  const nowMs = START + FIRST_PAUSE_MS;
  assert.equal(breaker.startCall(nowMs), true);
  assert.equal(breaker.admits(nowMs), false);
  assert.equal(breaker.startCall(nowMs), false);
  breaker.endedWithoutResult(false);
  assert.equal(breaker.admits(nowMs), false, "another call has ended");
  breaker.endedWithoutResult(true);
  assert.equal(breaker.admits(nowMs), true);
});

Deno.test("late failures of calls from before the opening do not lengthen the pause", () => {
  const breaker = openedAt(START);
  for (let i = 0; i < 50; i++) breaker.failed(START + 100);
  assert.equal(breaker.state(START + FIRST_PAUSE_MS), "half_open");
});

Deno.test("coolDown() lasts as long as the upstream asks, otherwise longer each time until a success", () => {
  const breaker = new Breaker();
  breaker.coolDown(START, 20_000);
  assert.equal(breaker.admits(START + 19_999), false);
  assert.equal(breaker.admits(START + 20_000), true);
  assert.equal(breaker.state(START), "closed");
  breaker.succeeded(START + 20_000);
  let nowMs = START + 20_000;
  for (const times of [1, 2, 4, 8]) {
    breaker.coolDown(nowMs, undefined);
    assert.equal(breaker.availableAtMs() - nowMs, times * FIRST_COOLDOWN_MS);
    nowMs += times * FIRST_COOLDOWN_MS;
  }
  breaker.succeeded(nowMs);
  breaker.coolDown(nowMs, undefined);
  assert.equal(breaker.availableAtMs() - nowMs, FIRST_COOLDOWN_MS);
});

Deno.test("a clock that is set back leaves a breaker open, and a candidate resting, no longer than they ever are", () => {
  const DAY_MS = 24 * 3_600_000;
  const HOUR_MS = 3_600_000;
  const breaker = new Breaker();
  for (let at = 0; at < CONSECUTIVE_FAILURES; at++) {
    breaker.failed(START + DAY_MS);
  }
  assert.equal(breaker.state(START), "open");
  assert.ok(breaker.availableAtMs() - START <= MAX_PAUSE_MS);
  assert.equal(breaker.state(START + MAX_PAUSE_MS), "half_open");
  assert.ok(breaker.admits(START + MAX_PAUSE_MS));

  const resting = new Breaker();
  resting.coolDown(START + DAY_MS, HOUR_MS);
  assert.ok(!resting.admits(START));
  assert.ok((resting.coolingDownUntilMs(START) ?? 0) - START <= HOUR_MS);
  assert.ok(resting.admits(START + HOUR_MS));

  // Failures are counted in windows of the new time.
  const counting = new Breaker();
  counting.succeeded(START + DAY_MS);
  for (let at = 0; at < 40; at++) {
    counting.succeeded(START + at * 30_000);
    counting.failed(START + at * 30_000);
  }
  assert.equal(counting.state(START + DAY_MS), "closed");
});

Deno.test("after any sequence of events, an idle breaker admits a call in the end", () => {
  fc.assert(fc.property(
    fc.array(fc.tuple(
      fc.constantFrom(
        "startCall",
        "replyStarted",
        "succeeded",
        "failed",
        "endedWithoutResult",
        "coolDown",
      ),
      fc.nat(400_000),
    )),
    (steps) => {
      const breaker = new Breaker();
      let nowMs = START;
      let probes = 0;
      for (const [step, ms] of steps) {
        nowMs += ms;
        if (step === "startCall") probes += breaker.startCall(nowMs) ? 1 : 0;
        else if (step === "endedWithoutResult") {
          breaker.endedWithoutResult(probes > 0);
          probes = 0;
        } else if (step === "coolDown") breaker.coolDown(nowMs, ms);
        else if (step === "replyStarted") breaker.replyStarted(nowMs);
        else if (step === "succeeded") breaker.succeeded(nowMs);
        else breaker.failed(nowMs);
      }
      breaker.endedWithoutResult(true);
      assert.ok(breaker.admits(nowMs + MAX_PAUSE_MS + 3_600_000));
    },
  ));
});
