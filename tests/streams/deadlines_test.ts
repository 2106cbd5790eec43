/**
 * A model's own time limits, the error that each ends in, and what a waiting client receives
 * meanwhile.
 */
import assert from "node:assert/strict";
import { fakeClock } from "../support/fake_clock.ts";
import {
  readChatStream,
  readMessageStream,
} from "../support/replies/reply_grammar.ts";
import {
  type AskOptions,
  type Candidates,
  MODEL,
  withCandidates,
} from "../support/with_candidates.ts";

const PATHS = ["/v1/messages", "/v1/chat/completions"] as const;
const PING_MS = 10_000;
const isPatience = (ms: number): boolean => ms === PING_MS;

/** Runs a step for each client format, with an upstream of the same format and one of the other. */
async function eachWay(
  t: Deno.TestContext,
  run: (
    path: typeof PATHS[number],
    vendor: "a" | "b",
  ) => Promise<void>,
): Promise<void> {
  for (const path of PATHS) {
    for (const vendor of ["a", "b"] as const) {
      await t.step(`${path} from ${vendor}`, () => run(path, vendor));
    }
  }
}

/**
 * Requests a stream and advances the clock until the gateway sends the head before the upstream's
 * answer.
 */
async function lateStream(
  { ask }: Candidates,
  clock: ReturnType<typeof fakeClock>,
  how: AskOptions,
): Promise<Response> {
  const body = how.path === "/v1/messages"
    ? {}
    : { stream_options: { include_usage: true } };
  const answer = ask({ ...how, body, stream: true });
  await clock.timer(isPatience);
  clock.advance(PING_MS);
  const response = await answer;
  assert.equal(response.status, 200);
  return response;
}

function only(vendor: "a" | "b"): { candidates: unknown } {
  return { candidates: [{ vendor, upstream_model: "x" }] };
}

Deno.test("a client that waits for a stream receives its head and pings, then the answer", (t) =>
  eachWay(t, async (path, vendor) => {
    for (const action of ["ok", "whole"] as const) {
      const clock = fakeClock();
      await withCandidates({ ...clock, model: only(vendor) }, async (all) => {
        const upstream = all[vendor];
        const gate = Promise.withResolvers<void>();
        upstream.play([{ after: gate.promise, action }]);
        const response = await lateStream(all, clock, { path });
        const reader = response.body?.getReader();
        assert.ok(reader !== undefined);
        const decoder = new TextDecoder();
        const first = decoder.decode((await reader.read()).value);
        assert.match(first, /ping|keep-alive/);
        gate.resolve();
        let text = first;
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          text += decoder.decode(value);
        }
        // The grammar reader does not accept comments.
        const events = text.replaceAll(/^:.*\n\n/gm, "");
        if (path === "/v1/messages") readMessageStream(events, MODEL);
        else readChatStream(events, MODEL, true);
        assert.match(text, new RegExp(`from ${vendor}`));
        assert.match(text, /message_stop|\[DONE\]/);
        const entry = await all.entryOf(response);
        assert.equal(entry.ended, "complete");
        assert.equal(entry.usage?.output, 7);
        assert.ok((entry.cost_micro_usd ?? 0) > 0);
      });
    }
  }));

Deno.test("after a ping, another candidate replies in the same stream", (t) =>
  eachWay(t, async (path, vendor) => {
    for (const action of [{ status: 503 }, "reset"] as const) {
      const clock = fakeClock();
      await withCandidates({
        ...clock,
        [vendor]: { priority: 0 },
      }, async (all) => {
        const name = vendor === "a" ? "b" : "a";
        const gate = Promise.withResolvers<void>();
        all[vendor].play([{ after: gate.promise, action }]);
        const response = await lateStream(all, clock, { path });
        gate.resolve();
        const text = await response.text();
        assert.match(text, new RegExp(`from ${name}`));
        assert.match(text, /message_stop|\[DONE\]/);
        const entry = await all.entryOf(response);
        assert.equal(entry.ended, "complete");
        assert.equal(entry.attempts, 2);
        assert.equal(all[name].calls.length, 1);
      });
    }
  }));

Deno.test("a candidate that is silent beyond its limit is replaced, although the client has had pings", (t) =>
  eachWay(t, async (path, vendor) => {
    const clock = fakeClock();
    await withCandidates({
      ...clock,
      [vendor]: { priority: 0, timeouts: { first_byte_seconds: 1 } },
    }, async (all) => {
      const name = vendor === "a" ? "b" : "a";
      all[vendor].play(["silence"]);
      const response = await lateStream(all, clock, { path });
      const text = await response.text();
      assert.match(text, /^(?:: keep-alive|event: ping)/);
      assert.match(text, new RegExp(`from ${name}`));
      assert.equal((await all.entryOf(response)).ended, "complete");
    });
  }));

Deno.test("a failure of the last candidate after a ping becomes an error in the stream", (t) =>
  eachWay(t, async (path, vendor) => {
    const clock = fakeClock();
    await withCandidates({
      ...clock,
      [vendor]: { priority: 0 },
    }, async (all) => {
      const gate = Promise.withResolvers<void>();
      all[vendor].play([{ after: gate.promise, action: "reset" }]);
      all[vendor === "a" ? "b" : "a"].play([{ status: 400 }]);
      const response = await lateStream(all, clock, { path });
      gate.resolve();
      const text = await response.text();
      assert.match(text, /"error"/);
      assert.doesNotMatch(text, /message_stop|\[DONE\]/);
      const entry = await all.entryOf(response);
      assert.equal(entry.ended, "failed");
      assert.equal(entry.status, 200);
      assert.equal(entry.attempts, 2);
      assert.equal(entry.cost_micro_usd, 0);
    });
  }));

Deno.test("a client that disconnects after the first ping closes the upstream's connection", (t) =>
  eachWay(t, (path, vendor) => {
    const clock = fakeClock();
    return withCandidates({
      ...clock,
      model: only(vendor),
      env: { GATEWAY_LEFT_CLIENT_SECONDS: "0" },
    }, async (all) => {
      all[vendor].play(["silence"]);
      const response = await lateStream(all, clock, { path });
      await response.body?.cancel();
      await (await all[vendor].arrival(0)).closed;
      const entry = await all.entryOf(response);
      assert.equal(entry.ended, "caller_left");
      // The upstream had the request.
      assert.ok((entry.cost_micro_usd ?? 0) > 0);
      assert.equal(all.gateway.gateway.activeCalls.size, 0);
      assert.equal(all.gateway.gateway.concurrency.inUse(), 0);
      assert.equal(clock.pending(), 0);
    });
  }));

Deno.test("the total time limit after the first ping becomes an error in the stream", (t) =>
  eachWay(t, (path, vendor) => {
    const clock = fakeClock();
    return withCandidates({
      ...clock,
      model: { ...only(vendor), timeouts: { total_seconds: 30 } },
    }, async (all) => {
      all[vendor].play(["silence"]);
      const response = await lateStream(all, clock, { path });
      clock.advance(20_000);
      const text = await response.text();
      assert.match(text, /longer than the gateway allows/);
      assert.doesNotMatch(text, /message_stop|\[DONE\]/);
      await (await all[vendor].arrival(0)).closed;
      assert.equal((await all.entryOf(response)).ended, "failed");
    });
  }));

Deno.test("a client of a whole answer receives no byte before it", () => {
  const clock = fakeClock();
  return withCandidates({ ...clock, b: null }, async ({ a, ask }) => {
    const gate = Promise.withResolvers<void>();
    a.play([{ after: gate.promise, action: { status: 529 } }], { status: 529 });
    const answer = ask();
    await a.arrival(0);
    clock.advance(5 * PING_MS);
    gate.resolve();
    await clock.timer((ms) => ms < 3_000);
    clock.advance(3_000);
    const response = await answer;
    await response.text();
    assert.equal(response.status, 529);
  });
});

Deno.test("each of a model's own time limits ends in its error", async (t) => {
  await t.step("first byte: 504 before the answer", () =>
    withCandidates({
      b: null,
      model: { timeouts: { first_byte_seconds: 0.05 } },
    }, async ({ a, ask }) => {
      a.play([], "silence");
      for (const path of PATHS) {
        for (const stream of [false, true]) {
          const response = await ask({ path, stream });
          assert.equal(response.status, 504);
          assert.match(await response.text(), /did not answer in time/);
        }
      }
      const reply = await (await ask()).json();
      assert.equal(reply.error.type, "timeout_error");
    }));
  await t.step("idle: an error in the stream", () =>
    withCandidates({
      b: null,
      model: { timeouts: { idle_seconds: 0.05 } },
    }, async ({ a, ask, entryOf }) => {
      a.play([], "stall");
      for (const path of PATHS) {
        const response = await ask({ path, stream: true });
        assert.equal(response.status, 200);
        assert.match(await response.text(), /fell silent/);
        assert.equal((await entryOf(response)).error, "timeout");
        const whole = await ask({ path });
        assert.equal(whole.status, 504);
        assert.match(await whole.text(), /fell silent/);
      }
    }));
  await t.step(
    "total: 504 before the answer, an error in the stream after",
    () => {
      const clock = fakeClock();
      return withCandidates({
        ...clock,
        b: null,
        model: { timeouts: { total_seconds: 5 } },
      }, async ({ a, ask }) => {
        a.play(["silence", "stall"]);
        const answer = ask();
        await a.arrival(0);
        clock.advance(5_000);
        const before = await answer;
        assert.equal(before.status, 504);
        assert.match(await before.text(), /longer than the gateway allows/);
        const after = await ask({ stream: true });
        assert.equal(after.status, 200);
        clock.advance(5_000);
        assert.match(await after.text(), /longer than the gateway allows/);
      });
    },
  );
  await t.step("connect: 504", async () => {
    // Accepts connections and sends nothing, so that no TLS handshake completes.
    using mute = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    await withCandidates({
      env: { MUTE_KEY: "k" },
      fileVendors: {
        mute: {
          kind: "vendora",
          base_url: `https://127.0.0.1:${mute.addr.port}`,
          api_key_env: "MUTE_KEY",
        },
      },
      a: { vendor: "mute", timeouts: { connect_seconds: 0.05 } },
      b: null,
    }, async ({ ask }) => {
      const response = await ask();
      assert.equal(response.status, 504);
      assert.match(await response.text(), /could not reach the upstream/);
    });
  });
});

Deno.test("a candidate's own limits take precedence over the model's, and other candidates keep the model's", () =>
  withCandidates({
    a: { timeouts: { first_byte_seconds: 0.05 } },
    model: { timeouts: { first_byte_seconds: 500 } },
  }, async ({ a, b, ask, gateway }) => {
    a.play(["silence"]);
    const response = await ask();
    assert.match(await response.text(), /from b/);
    assert.equal(b.calls.length, 1);
    const [, second] = gateway.gateway.models.allCandidates;
    assert.deepEqual(second?.limits, { firstByteTimeoutMs: 500_000 });
  }));
