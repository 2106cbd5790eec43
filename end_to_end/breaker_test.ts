/** A candidate's circuit breaker, seen from outside: when it is passed over, when it is tried, and what counts. */
import assert from "node:assert/strict";
import {
  FAILURES_IN_A_ROW,
  FIRST_PAUSE_MS,
} from "../gateway/upstream/breaker.ts";
import { type HandClock, handClock } from "./hand_clock.ts";
import type { Deed } from "./scripted_upstream.ts";
import {
  type Candidates,
  type CandidatesOptions,
  withCandidates,
} from "./two_upstreams.ts";

function withClock(
  run: (candidates: Candidates, clock: HandClock) => Promise<void>,
  options: CandidatesOptions = {},
): Promise<void> {
  const clock = handClock();
  return withCandidates(
    { ...clock, random: () => 0, ...options },
    (candidates) => run(candidates, clock),
  );
}

async function times(
  count: number,
  { ask }: Candidates,
  stream = false,
): Promise<void> {
  for (let i = 0; i < count; i++) await (await ask({ stream })).text();
}

/** The state of the first candidate. */
function stateOf({ gateway }: Candidates, clock: HandClock): string {
  return gateway.gateway.offer.all[0]?.health.state(clock.now()) ?? "";
}

async function opened(candidates: Candidates): Promise<void> {
  candidates.a.play([], { status: 500 });
  await times(FAILURES_IN_A_ROW, candidates);
  assert.equal(candidates.a.calls.length, FAILURES_IN_A_ROW);
}

Deno.test("after failures in a row nothing reaches the candidate until its pause is over", () =>
  withClock(async (candidates, clock) => {
    const { a, b } = candidates;
    await opened(candidates);
    assert.equal(stateOf(candidates, clock), "open");
    await times(20, candidates);
    clock.advance(FIRST_PAUSE_MS - 1);
    await times(1, candidates);
    assert.equal(a.calls.length, FAILURES_IN_A_ROW);
    assert.equal(b.calls.length, FAILURES_IN_A_ROW + 21);
  }));

Deno.test("after the pause one call is the probe, and its success closes the breaker", () =>
  withClock(async (candidates, clock) => {
    const { a, b, ask } = candidates;
    await opened(candidates);
    clock.advance(FIRST_PAUSE_MS);
    assert.equal(stateOf(candidates, clock), "half_open");
    a.play(["silence"]);
    const controller = new AbortController();
    const probe = ask({ signal: controller.signal }).catch(() => {});
    await a.arrival(FAILURES_IN_A_ROW);
    const before = b.calls.length;
    await Promise.all(
      Array.from({ length: 8 }, () => times(1, candidates)),
    );
    assert.equal(a.calls.length, FAILURES_IN_A_ROW + 1, "a second probe");
    assert.equal(b.calls.length, before + 8);
    // A probe whose caller leaves has decided nothing.
    controller.abort();
    await probe;
    await candidates.gateway.logEntry(({ ended }) => ended === "caller_left");
    assert.equal(stateOf(candidates, clock), "half_open");
    await times(1, candidates);
    assert.equal(a.calls.length, FAILURES_IN_A_ROW + 2);
    assert.equal(stateOf(candidates, clock), "closed");
    await times(5, candidates);
    assert.equal(a.calls.length, FAILURES_IN_A_ROW + 7);
  }));

Deno.test("calls that come at once make one probe between them", () =>
  withClock(async (candidates, clock) => {
    const { a, b, gateway } = candidates;
    await opened(candidates);
    // Paid in advance: then each waits for its grant after it has chosen, and all of them together.
    const { accounts } = gateway.books.admin;
    await accounts.topUp("default", { microUsd: 1_000_000 });
    await accounts.update("default", { billing: "prepaid" });
    clock.advance(FIRST_PAUSE_MS);
    a.play([], "silence");
    const before = b.calls.length;
    const controller = new AbortController();
    const all = Promise.all(
      Array.from({ length: 8 }, async () => {
        const response = await candidates.ask({ signal: controller.signal })
          .catch(() => undefined);
        await response?.text();
      }),
    );
    await a.arrival(FAILURES_IN_A_ROW);
    await b.arrival(before + 6);
    controller.abort();
    await all;
    await gateway.logEntry(({ ended }) => ended === "caller_left");
    assert.equal(a.calls.length, FAILURES_IN_A_ROW + 1);
  }));

Deno.test("a probe that fails opens the breaker for twice as long, and its call is answered elsewhere", () =>
  withClock(async (candidates, clock) => {
    const { a, ask } = candidates;
    await opened(candidates);
    clock.advance(FIRST_PAUSE_MS);
    const response = await ask();
    assert.match(await response.text(), /from b/);
    const calls = FAILURES_IN_A_ROW + 1;
    assert.equal(a.calls.length, calls);
    clock.advance(2 * FIRST_PAUSE_MS - 1);
    await times(3, candidates);
    assert.equal(a.calls.length, calls);
    clock.advance(1);
    await times(1, candidates);
    assert.equal(a.calls.length, calls + 1);
  }));

Deno.test("streams that break off count as failures", async (t) => {
  for (const deed of ["cut", "reset"] as const) {
    await t.step(deed, () =>
      withClock(async (candidates, clock) => {
        const { a } = candidates;
        a.play([], deed);
        await times(FAILURES_IN_A_ROW, candidates, true);
        assert.equal(stateOf(candidates, clock), "open");
      }));
  }
  await t.step(
    "silence in the middle",
    () =>
      withClock(async (candidates, clock) => {
        candidates.a.play([], "stall");
        await times(FAILURES_IN_A_ROW, candidates, true);
        assert.equal(stateOf(candidates, clock), "open");
      }, { model: { timeouts: { idle_seconds: 0.05 } } }),
  );
});

Deno.test("what says nothing of the candidate does not count", async (t) => {
  const rows: readonly (readonly [string, Deed])[] = [
    ["a wrong request", { status: 400 }],
    ["an unknown model", { status: 404 }],
    ["a request that is too large", { status: 413 }],
    ["a wrong request in band", { inBand: "invalid_request_error" }],
  ];
  for (const [name, deed] of rows) {
    await t.step(name, () =>
      withClock(async (candidates, clock) => {
        candidates.a.play([], deed);
        await times(30, candidates);
        assert.equal(stateOf(candidates, clock), "closed");
        assert.equal(candidates.a.calls.length, 30);
      }));
  }
  await t.step(
    "callers that leave",
    () =>
      withClock(async (candidates, clock) => {
        const { a, ask, gateway } = candidates;
        for (const [i, deed] of (["silence", "stall"] as const).entries()) {
          a.play([], deed);
          for (let n = 0; n < 8; n++) {
            const controller = new AbortController();
            const { signal } = controller;
            const answer = ask({ signal, stream: true });
            const call = await a.arrival(i * 8 + n);
            const reader = deed === "stall"
              ? (await answer).body?.getReader()
              : undefined;
            await reader?.read();
            controller.abort();
            await answer.catch(() => {});
            await call.over;
          }
        }
        await gateway.logEntry(() => gateway.logged.length === 16);
        assert.equal(stateOf(candidates, clock), "closed");
      }),
  );
});

Deno.test("a refusal of our key counts: the calls after it go elsewhere", () =>
  withClock(async (candidates, clock) => {
    candidates.a.play([], { status: 401 });
    await times(FAILURES_IN_A_ROW, candidates);
    assert.equal(candidates.b.calls.length, 0);
    assert.equal(stateOf(candidates, clock), "open");
    await times(1, candidates);
    assert.equal(candidates.b.calls.length, 1);
  }));

Deno.test("a rate limit leaves the candidate alone as long as it asks, and opens nothing", () =>
  withClock(async (candidates, clock) => {
    const { a, b } = candidates;
    a.play([{ status: 429, headers: { "retry-after": "30" } }]);
    await times(1, candidates);
    assert.equal(stateOf(candidates, clock), "closed");
    clock.advance(29_999);
    await times(5, candidates);
    assert.equal(a.calls.length, 1);
    assert.equal(b.calls.length, 6);
    clock.advance(1);
    await times(1, candidates);
    assert.equal(a.calls.length, 2);
  }));

Deno.test("where every candidate is out, the one that is due first is tried, once", () =>
  withClock(async (candidates, clock) => {
    const { a, b, ask, entryOf } = candidates;
    a.play([{ status: 429, headers: { "retry-after": "60" } }]);
    b.play([{ status: 429, headers: { "retry-after": "30" } }]);
    const refused = await ask();
    await refused.text();
    assert.equal(refused.status, 429);
    clock.advance(1_000);
    const response = await ask();
    assert.equal(response.status, 200);
    assert.match(await response.text(), /from b/);
    b.play([{ status: 500 }]);
    const failed = await ask();
    await failed.text();
    assert.equal(failed.status, 500);
    assert.equal((await entryOf(failed)).attempts, 1);
    assert.equal(a.calls.length, 1);
  }));
