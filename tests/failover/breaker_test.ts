/**
 * A candidate's circuit breaker, observed from outside: when the candidate is skipped, when it is
 * probed, and which failures count.
 */
import assert from "node:assert/strict";
import {
  CONSECUTIVE_FAILURES,
  FIRST_PAUSE_MS,
} from "../../gateway/upstream/health/breaker.ts";
import { type FakeClock, fakeClock } from "../support/fake_clock.ts";
import type { Action } from "../support/upstreams/scripted_upstream.ts";
import {
  type Candidates,
  type CandidatesOptions,
  withCandidates,
} from "../support/with_candidates.ts";

function withClock(
  run: (candidates: Candidates, clock: FakeClock) => Promise<void>,
  options: CandidatesOptions = {},
): Promise<void> {
  const clock = fakeClock();
  return withCandidates(
    {
      ...clock,
      random: () => 0,
      env: { GATEWAY_LEFT_CLIENT_SECONDS: "0" },
      ...options,
    },
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

/** Breaker state of the first candidate. */
function stateOf({ gateway }: Candidates, clock: FakeClock): string {
  return gateway.gateway.models.allCandidates[0]?.health.state(clock.now()) ??
    "";
}

async function opened(candidates: Candidates): Promise<void> {
  candidates.a.play([], { status: 500 });
  await times(CONSECUTIVE_FAILURES, candidates);
  assert.equal(candidates.a.calls.length, CONSECUTIVE_FAILURES);
}

Deno.test("after consecutive failures no call reaches the candidate until its pause ends", () =>
  withClock(async (candidates, clock) => {
    const { a, b } = candidates;
    await opened(candidates);
    assert.equal(stateOf(candidates, clock), "open");
    await times(20, candidates);
    clock.advance(FIRST_PAUSE_MS - 1);
    await times(1, candidates);
    assert.equal(a.calls.length, CONSECUTIVE_FAILURES);
    assert.equal(b.calls.length, CONSECUTIVE_FAILURES + 21);
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
    await a.arrival(CONSECUTIVE_FAILURES);
    const before = b.calls.length;
    await Promise.all(
      Array.from({ length: 8 }, () => times(1, candidates)),
    );
    assert.equal(a.calls.length, CONSECUTIVE_FAILURES + 1, "a second probe");
    assert.equal(b.calls.length, before + 8);
    // A probe whose client disconnects is inconclusive.
    controller.abort();
    await probe;
    await candidates.gateway.logEntry(({ ended }) => ended === "caller_left");
    assert.equal(stateOf(candidates, clock), "half_open");
    await times(1, candidates);
    assert.equal(a.calls.length, CONSECUTIVE_FAILURES + 2);
    assert.equal(stateOf(candidates, clock), "closed");
    await times(5, candidates);
    assert.equal(a.calls.length, CONSECUTIVE_FAILURES + 7);
  }));

Deno.test("concurrent calls make only one probe", () =>
  withClock(async (candidates, clock) => {
    const { a, b, gateway } = candidates;
    await opened(candidates);
    // With prepaid billing each call waits for its reservation after choosing a candidate, so all
    // of them choose at the same time.
    const { accounts } = gateway.accounts.admin;
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
    await a.arrival(CONSECUTIVE_FAILURES);
    await b.arrival(before + 6);
    controller.abort();
    await all;
    await gateway.logEntry(({ ended }) => ended === "caller_left");
    assert.equal(a.calls.length, CONSECUTIVE_FAILURES + 1);
  }));

Deno.test("a failed probe opens the breaker for twice as long, and its call fails over", () =>
  withClock(async (candidates, clock) => {
    const { a, ask } = candidates;
    await opened(candidates);
    clock.advance(FIRST_PAUSE_MS);
    const response = await ask();
    assert.match(await response.text(), /from b/);
    const calls = CONSECUTIVE_FAILURES + 1;
    assert.equal(a.calls.length, calls);
    clock.advance(2 * FIRST_PAUSE_MS - 1);
    await times(3, candidates);
    assert.equal(a.calls.length, calls);
    clock.advance(1);
    await times(1, candidates);
    assert.equal(a.calls.length, calls + 1);
  }));

Deno.test("truncated streams count as failures", async (t) => {
  for (const action of ["cut", "reset"] as const) {
    await t.step(action, () =>
      withClock(async (candidates, clock) => {
        const { a } = candidates;
        a.play([], action);
        await times(CONSECUTIVE_FAILURES, candidates, true);
        assert.equal(stateOf(candidates, clock), "open");
      }));
  }
  await t.step(
    "a stall in the middle",
    () =>
      withClock(async (candidates, clock) => {
        candidates.a.play([], "stall");
        await times(CONSECUTIVE_FAILURES, candidates, true);
        assert.equal(stateOf(candidates, clock), "open");
      }, { model: { timeouts: { idle_seconds: 0.05 } } }),
  );
});

Deno.test("failures that the candidate did not cause do not count", async (t) => {
  const rows: readonly (readonly [string, Action])[] = [
    ["an invalid request", { status: 400 }],
    ["an unknown model", { status: 404 }],
    ["a request that is too large", { status: 413 }],
    ["an invalid request, reported in the stream", {
      inBand: "invalid_request_error",
    }],
  ];
  for (const [name, action] of rows) {
    await t.step(name, () =>
      withClock(async (candidates, clock) => {
        candidates.a.play([], action);
        await times(30, candidates);
        assert.equal(stateOf(candidates, clock), "closed");
        assert.equal(candidates.a.calls.length, 30);
      }));
  }
  await t.step(
    "clients that disconnect",
    () =>
      withClock(async (candidates, clock) => {
        const { a, ask, gateway } = candidates;
        for (const [i, action] of (["silence", "stall"] as const).entries()) {
          a.play([], action);
          for (let n = 0; n < 8; n++) {
            const controller = new AbortController();
            const { signal } = controller;
            const answer = ask({ signal, stream: true });
            const call = await a.arrival(i * 8 + n);
            const reader = action === "stall"
              ? (await answer).body?.getReader()
              : undefined;
            await reader?.read();
            controller.abort();
            await answer.catch(() => {});
            await call.closed;
          }
        }
        await gateway.logEntry(() => gateway.logged.length === 16);
        assert.equal(stateOf(candidates, clock), "closed");
      }),
  );
});

Deno.test("a rejected vendor key counts: later calls go to another candidate", () =>
  withClock(async (candidates, clock) => {
    candidates.a.play([], { status: 401 });
    await times(CONSECUTIVE_FAILURES, candidates);
    assert.equal(candidates.a.calls.length, CONSECUTIVE_FAILURES);
    assert.equal(stateOf(candidates, clock), "open");
    await times(1, candidates);
    assert.equal(candidates.a.calls.length, CONSECUTIVE_FAILURES);
    assert.equal(candidates.b.calls.length, CONSECUTIVE_FAILURES + 1);
  }));

Deno.test("a rate-limited candidate is skipped for its retry-after, and its breaker stays closed", () =>
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

Deno.test("if no candidate is available, the one that is due first is tried, once", () =>
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
