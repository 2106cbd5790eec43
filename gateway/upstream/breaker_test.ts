import assert from "node:assert/strict";
import * as fc from "fast-check";
import {
  Breaker,
  FAILURES_IN_A_ROW,
  FIRST_PAUSE_MS,
  FIRST_REST_MS,
  LONGEST_PAUSE_MS,
} from "./breaker.ts";

const START = 1_800_000_000_000;

function openedAt(nowMs: number): Breaker {
  const breaker = new Breaker();
  for (let i = 0; i < FAILURES_IN_A_ROW; i++) breaker.failed(nowMs);
  return breaker;
}

Deno.test("failed() opens after so many in a row, and a success between starts anew", () => {
  const breaker = new Breaker();
  for (let i = 1; i < FAILURES_IN_A_ROW; i++) breaker.failed(START);
  breaker.succeeded(START);
  for (let i = 1; i < FAILURES_IN_A_ROW; i++) breaker.failed(START);
  assert.equal(breaker.state(START), "closed");
  breaker.failed(START);
  assert.equal(breaker.state(START), "open");
  assert.equal(breaker.sinceMs(START), START);
});

Deno.test("failed() opens when half of the calls of a window failed, not when a quarter did", () => {
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

Deno.test("a window's failures are forgotten with the window", () => {
  const breaker = new Breaker();
  for (let i = 0; i < 40; i++) {
    breaker.failed(START + i * 10_000);
    breaker.succeeded(START + i * 10_000);
  }
  assert.equal(breaker.state(START + 400_000), "closed");
});

Deno.test("the pause doubles with every opening up to its longest, and a success makes it short again", () => {
  const breaker = openedAt(START);
  let nowMs = START;
  for (
    let pauseMs = FIRST_PAUSE_MS;
    pauseMs < 4 * LONGEST_PAUSE_MS;
    pauseMs *= 2
  ) {
    const longMs = Math.min(pauseMs, LONGEST_PAUSE_MS);
    assert.equal(breaker.admits(nowMs + longMs - 1), false);
    nowMs += longMs;
    assert.equal(breaker.state(nowMs), "half_open");
    assert.ok(breaker.enter(nowMs));
    breaker.failed(nowMs);
  }
  nowMs += LONGEST_PAUSE_MS;
  breaker.enter(nowMs);
  breaker.succeeded(nowMs);
  for (let i = 0; i < FAILURES_IN_A_ROW; i++) breaker.failed(nowMs);
  assert.equal(breaker.admits(nowMs + FIRST_PAUSE_MS), true);
});

Deno.test("an answer that only began closes, but the next pause is longer all the same", () => {
  const breaker = openedAt(START);
  const nowMs = START + FIRST_PAUSE_MS;
  breaker.enter(nowMs);
  breaker.answered(nowMs);
  assert.equal(breaker.state(nowMs), "closed");
  for (let i = 0; i < FAILURES_IN_A_ROW; i++) breaker.failed(nowMs);
  assert.equal(breaker.state(nowMs + FIRST_PAUSE_MS), "open");
  assert.equal(breaker.state(nowMs + 2 * FIRST_PAUSE_MS), "half_open");
});

Deno.test("enter() gives one probe, which left() gives back", () => {
  const breaker = openedAt(START);
  assert.equal(breaker.enter(START), false, "open");
  const nowMs = START + FIRST_PAUSE_MS;
  assert.equal(breaker.enter(nowMs), true);
  assert.equal(breaker.admits(nowMs), false);
  assert.equal(breaker.enter(nowMs), false);
  breaker.left(false);
  assert.equal(breaker.admits(nowMs), false, "another call has left");
  breaker.left(true);
  assert.equal(breaker.admits(nowMs), true);
});

Deno.test("calls from before the opening that fail late do not lengthen the pause", () => {
  const breaker = openedAt(START);
  for (let i = 0; i < 50; i++) breaker.failed(START + 100);
  assert.equal(breaker.state(START + FIRST_PAUSE_MS), "half_open");
});

Deno.test("rest() lasts as long as asked, else longer every time until a success", () => {
  const breaker = new Breaker();
  breaker.rest(START, 20_000);
  assert.equal(breaker.admits(START + 19_999), false);
  assert.equal(breaker.admits(START + 20_000), true);
  assert.equal(breaker.state(START), "closed");
  breaker.succeeded(START + 20_000);
  let nowMs = START + 20_000;
  for (const times of [1, 2, 4, 8]) {
    breaker.rest(nowMs, undefined);
    assert.equal(breaker.backAtMs() - nowMs, times * FIRST_REST_MS);
    nowMs += times * FIRST_REST_MS;
  }
  breaker.succeeded(nowMs);
  breaker.rest(nowMs, undefined);
  assert.equal(breaker.backAtMs() - nowMs, FIRST_REST_MS);
});

Deno.test("whatever happens, a breaker that stays without calls admits one in the end", () => {
  fc.assert(fc.property(
    fc.array(fc.tuple(
      fc.constantFrom(
        "enter",
        "answered",
        "succeeded",
        "failed",
        "left",
        "rest",
      ),
      fc.nat(400_000),
    )),
    (steps) => {
      const breaker = new Breaker();
      let nowMs = START;
      let probes = 0;
      for (const [step, ms] of steps) {
        nowMs += ms;
        if (step === "enter") probes += breaker.enter(nowMs) ? 1 : 0;
        else if (step === "left") {
          breaker.left(probes > 0);
          probes = 0;
        } else if (step === "rest") breaker.rest(nowMs, ms);
        else breaker[step](nowMs);
      }
      breaker.left(true);
      assert.ok(breaker.admits(nowMs + LONGEST_PAUSE_MS + 3_600_000));
    },
  ));
});
