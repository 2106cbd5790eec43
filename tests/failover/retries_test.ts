/** Retries at the same upstream: how often, after which pause, and what ends them. */
import assert from "node:assert/strict";
import { fakeClock } from "../support/fake_clock.ts";
import { withCandidates } from "../support/with_candidates.ts";

const LONGEST_BACKOFF = 250;
/** Pauses between attempts are far shorter than the gateway's other timers. */
const isPause = (ms: number): boolean => ms <= 3_000;

Deno.test("the only upstream is tried once more, after a random pause", async (t) => {
  for (const chance of [0, 0.5, 0.999]) {
    await t.step(String(chance), () => {
      const clock = fakeClock();
      return withCandidates(
        { b: null, ...clock, random: () => chance },
        async ({ a, ask, entryOf }) => {
          a.play([{ status: 503 }]);
          const answer = ask();
          if (chance > 0) {
            assert.equal(
              await clock.timer(isPause),
              chance * LONGEST_BACKOFF,
            );
            assert.equal(a.calls.length, 1);
            clock.advance(LONGEST_BACKOFF);
          }
          const response = await answer;
          assert.equal(response.status, 200);
          await response.text();
          const entry = await entryOf(response);
          assert.equal(entry.attempts, 2);
          assert.equal(entry.tried?.[0]?.upstream, "a/model-a");
          assert.equal(a.calls.length, 2);
          assert.equal(clock.pending(), 0);
        },
      );
    });
  }
});

Deno.test("one upstream is tried twice at most, however many attempts are allowed", () =>
  withCandidates(
    { b: null, random: () => 0, env: { GATEWAY_MAX_ATTEMPTS: "9" } },
    async ({ a, ask }) => {
      a.play([], { status: 500 });
      const response = await ask();
      await response.text();
      assert.equal(response.status, 500);
      assert.equal(a.calls.length, 2);
    },
  ));

Deno.test("with GATEWAY_MAX_ATTEMPTS=1 nothing is retried", () =>
  withCandidates(
    { env: { GATEWAY_MAX_ATTEMPTS: "1" } },
    async ({ a, b, ask, entryOf }) => {
      a.play([], { status: 500 });
      const response = await ask();
      await response.text();
      assert.equal(response.status, 500);
      assert.equal((await entryOf(response)).attempts, 1);
      assert.equal(a.calls.length, 1);
      assert.equal(b.calls.length, 0);
    },
  ));

Deno.test("two failing upstreams are tried in turn, up to the maximum number of attempts", () =>
  withCandidates({ random: () => 0 }, async ({ a, b, ask, entryOf }) => {
    a.play([], { status: 500 });
    b.play([], { status: 500 });
    const response = await ask();
    await response.text();
    const { tried } = await entryOf(response);
    assert.deepEqual(
      tried?.map(({ upstream }) => upstream),
      ["a/model-a", "b/model-b", "a/model-a"],
    );
  }));

Deno.test("the gateway waits for a short retry-after and returns a long one to the client at once", async (t) => {
  const clock = fakeClock();
  await t.step(
    "short",
    () =>
      withCandidates({ ...clock, random: () => 0 }, async ({ a, b, ask }) => {
        a.play([{ status: 429, headers: { "retry-after-ms": "1200" } }]);
        b.play([{ status: 429, headers: { "retry-after": "20" } }]);
        const answer = ask();
        assert.equal(await clock.timer(isPause), 1_200);
        clock.advance(1_200);
        const response = await answer;
        await response.text();
        assert.equal(response.status, 200);
      }),
  );
  await t.step(
    "long",
    () =>
      withCandidates({ b: null, ...clock }, async ({ a, ask }) => {
        a.play([{ status: 429, headers: { "retry-after": "20" } }]);
        const response = await ask();
        await response.text();
        assert.equal(response.status, 429);
        assert.equal(response.headers.get("retry-after"), "20");
        assert.equal(a.calls.length, 1);
      }),
  );
});

Deno.test("a 429 of the only candidate is the client's to repeat, with the exact delay", () =>
  withCandidates({ b: null }, async ({ a, ask }) => {
    a.play([{ status: 429, headers: { "retry-after-ms": "1200" } }]);
    const response = await ask();
    await response.text();
    assert.equal(response.status, 429);
    assert.equal(response.headers.get("retry-after"), "2");
    assert.equal(a.calls.length, 1);
    const again = await ask();
    await again.text();
    assert.equal(again.status, 200);
  }));

Deno.test("no retry waits beyond the call's total timeout", () =>
  withCandidates(
    { b: null, model: { timeouts: { total_seconds: 1 } } },
    async ({ a, ask }) => {
      a.play([{ status: 503, headers: { "retry-after": "2" } }]);
      const response = await ask();
      await response.text();
      assert.equal(response.status, 503);
      assert.equal(response.headers.get("retry-after"), "2");
      assert.equal(a.calls.length, 1);
    },
  ));

Deno.test("one total timeout covers all attempts", () => {
  const clock = fakeClock();
  return withCandidates(
    { ...clock, model: { timeouts: { total_seconds: 20 } } },
    async ({ a, b, ask, entryOf }) => {
      a.play(["silence"]);
      b.play(["silence"]);
      a.play([{ status: 500 }]);
      const answer = ask();
      const call = await b.arrival(0);
      assert.equal(await clock.timer((ms) => ms === 20_000), 20_000);
      clock.advance(20_000);
      const response = await answer;
      assert.equal(response.status, 504);
      assert.match(await response.text(), /longer than the gateway allows/);
      await call.closed;
      assert.equal((await entryOf(response)).attempts, 2);
    },
  );
});

Deno.test("a client that disconnects during a pause ends the call", () => {
  const clock = fakeClock();
  return withCandidates(
    { b: null, ...clock, random: () => 0.5 },
    async ({ a, ask, gateway }) => {
      a.play([], { status: 503 });
      const controller = new AbortController();
      const answer = ask({ signal: controller.signal }).catch(() => {});
      await clock.timer(isPause);
      controller.abort();
      await answer;
      const entry = await gateway.logEntry(() => true);
      assert.equal(entry.ended, "caller_left");
      assert.equal(entry.cost_micro_usd, 0);
      assert.equal(clock.pending(), 0);
      assert.equal(gateway.gateway.concurrency.inUse(), 0);
      assert.equal(gateway.gateway.activeCalls.size, 0);
      clock.advance(10_000);
      assert.equal(a.calls.length, 1);
    },
  );
});

Deno.test("a gateway that stops ends a pause", () => {
  const clock = fakeClock();
  return withCandidates(
    { b: null, ...clock, random: () => 0.5 },
    async ({ a, ask, gateway }) => {
      a.play([], { status: 503 });
      const answer = ask();
      await clock.timer(isPause);
      gateway.gateway.drain();
      gateway.gateway.abortAll();
      const response = await answer;
      await response.text();
      assert.equal(response.status, 503);
      assert.equal(a.calls.length, 1);
    },
  );
});

Deno.test("retries stay a fixed share of the calls, however many fail", () => {
  const clock = fakeClock();
  return withCandidates(
    { ...clock, random: () => 0 },
    async ({ a, b, ask, gateway }) => {
      a.play([], { status: 500 });
      b.play([], { status: 500 });
      const calls = 150;
      for (let i = 0; i < calls; i += 10) {
        await Promise.all(
          Array.from({ length: 10 }, async () => (await ask()).text()),
        );
      }
      const sent = a.calls.length + b.calls.length;
      // At most a fifth of the calls, and the ten retries that the budget holds at the start.
      assert.ok(sent <= calls * 1.2 + 10, `${sent} for ${calls} calls`);
      assert.ok(sent > calls, "some were tried again");
      assert.equal(gateway.logged.length, calls);
    },
  );
});

Deno.test("calls that fail at one candidate are answered by a healthy other one, however many they are", () => {
  const clock = fakeClock();
  return withCandidates(
    { a: { priority: 0 }, ...clock, random: () => 0 },
    async ({ a, b, ask }) => {
      const calls = 150;
      // Often enough to exhaust the retry budget, too rarely to open the breaker.
      a.play(
        Array.from(
          { length: calls },
          (_, i) => i % 3 === 0 ? { status: 503 } as const : "ok",
        ),
      );
      for (let i = 0; i < calls; i++) {
        const response = await ask();
        assert.equal(response.status, 200, await response.text());
      }
      assert.equal(b.calls.length, calls / 3);
    },
  );
});

Deno.test("retries stay a fixed share of the calls while failures are too rare to open the breaker", () => {
  const clock = fakeClock();
  return withCandidates(
    { b: null, ...clock, random: () => 0 },
    async ({ a, ask, gateway }) => {
      const calls = 150;
      // Every third request fails.
      a.play(
        Array.from(
          { length: 2 * calls },
          (_, i) => i % 3 === 0 ? { status: 503 } as const : "ok",
        ),
      );
      for (let i = 0; i < calls; i++) await (await ask()).text();
      assert.equal(
        gateway.gateway.models.allCandidates[0]?.health.state(clock.now()),
        "closed",
      );
      const retries = a.calls.length - calls;
      assert.ok(retries <= calls * 0.2 + 10, `${retries} retries`);
      assert.ok(retries >= calls * 0.2, `${retries} retries`);
    },
  );
});

Deno.test("a call that timed out at one upstream is not repeated there, only at another one", async (t) => {
  const timeouts = { first_byte_seconds: 0.05 };
  await t.step("alone", () =>
    withCandidates(
      { b: null, a: { timeouts } },
      async ({ a, ask, entryOf }) => {
        a.play(["silence"]);
        const response = await ask();
        assert.equal(response.status, 504);
        assert.match(await response.text(), /timeout_error/);
        assert.equal((await entryOf(response)).attempts, 1);
      },
    ));
  await t.step(
    "with another",
    () =>
      withCandidates({ a: { timeouts } }, async ({ a, b, ask, entryOf }) => {
        a.play(["silence"]);
        const response = await ask();
        assert.match(await response.text(), /from b/);
        assert.equal((await entryOf(response)).attempts, 2);
        assert.equal(b.calls.length, 1);
      }),
  );
});
