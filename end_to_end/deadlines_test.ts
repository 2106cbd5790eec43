/** Time limits of a model's own, the error that each ends in, and what a waiting caller is sent meanwhile. */
import assert from "node:assert/strict";
import { handClock } from "./hand_clock.ts";
import { readChat, readMessages } from "./reply_grammar.ts";
import {
  type AskOptions,
  type Candidates,
  MODEL,
  withCandidates,
} from "./two_upstreams.ts";

const PATHS = ["/v1/messages", "/v1/chat/completions"] as const;
const PING_MS = 10_000;
const isPatience = (ms: number): boolean => ms === PING_MS;

/** Runs a step for each format, with an upstream that speaks it and one that does not. */
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

/** A stream that is asked for, and its head after the wait for an answer has become too long. */
async function lateStream(
  { ask }: Candidates,
  clock: ReturnType<typeof handClock>,
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

Deno.test("a caller that waits for a stream is sent its head and pings, then the answer", (t) =>
  eachWay(t, async (path, vendor) => {
    for (const deed of ["ok", "whole"] as const) {
      const clock = handClock();
      await withCandidates({ ...clock, model: only(vendor) }, async (all) => {
        const upstream = all[vendor];
        const gate = Promise.withResolvers<void>();
        upstream.play([{ after: gate.promise, deed }]);
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
        // Comments are no part of the grammar.
        const events = text.replaceAll(/^:.*\n\n/gm, "");
        if (path === "/v1/messages") readMessages(events, MODEL);
        else readChat(events, MODEL, true);
        assert.match(text, new RegExp(`from ${vendor}`));
        assert.match(text, /message_stop|\[DONE\]/);
        const entry = await all.entryOf(response);
        assert.equal(entry.ended, "complete");
        assert.equal(entry.usage?.output, 7);
        assert.ok((entry.cost_micro_usd ?? 0) > 0);
      });
    }
  }));

Deno.test("a failure after the first ping is told in the stream, and nothing is tried again", (t) =>
  eachWay(t, async (path, vendor) => {
    for (const deed of [{ status: 503 }, "reset"] as const) {
      const clock = handClock();
      await withCandidates({
        ...clock,
        [vendor]: { priority: 0 },
      }, async (all) => {
        const upstream = all[vendor];
        const other = all[vendor === "a" ? "b" : "a"];
        const gate = Promise.withResolvers<void>();
        upstream.play([{ after: gate.promise, deed }]);
        const response = await lateStream(all, clock, { path });
        gate.resolve();
        const text = await response.text();
        assert.match(text, /"error"/);
        assert.doesNotMatch(text, /message_stop|\[DONE\]/);
        const entry = await all.entryOf(response);
        assert.equal(entry.ended, "failed");
        assert.equal(entry.status, 200);
        assert.equal(entry.attempts, 1);
        assert.equal(entry.cost_micro_usd, 0);
        assert.equal(other.calls.length, 0);
      });
    }
  }));

Deno.test("a caller that leaves after the first ping lets the upstream go", (t) =>
  eachWay(t, (path, vendor) => {
    const clock = handClock();
    return withCandidates({ ...clock, model: only(vendor) }, async (all) => {
      all[vendor].play(["silence"]);
      const response = await lateStream(all, clock, { path });
      await response.body?.cancel();
      await (await all[vendor].arrival(0)).over;
      const entry = await all.entryOf(response);
      assert.equal(entry.ended, "caller_left");
      assert.equal(entry.cost_micro_usd, 0);
      assert.equal(all.gateway.gateway.running.size, 0);
      assert.equal(all.gateway.gateway.slots.taken(), 0);
      assert.equal(clock.pending(), 0);
    });
  }));

Deno.test("the whole time's end after the first ping is told in the stream", (t) =>
  eachWay(t, (path, vendor) => {
    const clock = handClock();
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
      await (await all[vendor].arrival(0)).over;
      assert.equal((await all.entryOf(response)).ended, "failed");
    });
  }));

Deno.test("a caller of a whole answer gets no byte before it", () => {
  const clock = handClock();
  return withCandidates({ ...clock, b: null }, async ({ a, ask }) => {
    const gate = Promise.withResolvers<void>();
    a.play([{ after: gate.promise, deed: { status: 529 } }], { status: 529 });
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

Deno.test("each time limit of a model's own ends in its error", async (t) => {
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
      const told = await (await ask()).json();
      assert.equal(told.error.type, "timeout_error");
    }));
  await t.step("silence: an error in the stream", () =>
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
    "the whole call: 504 before, an error in the stream after",
    () => {
      const clock = handClock();
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
  await t.step("reaching the upstream: 504", async () => {
    // Takes connections and says nothing, so that TLS never comes about.
    const mute = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    try {
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
    } finally {
      mute.close();
    }
  });
});

Deno.test("a candidate's own limits stand before the model's, and the others' stay", () =>
  withCandidates({
    a: { timeouts: { first_byte_seconds: 0.05 } },
    model: { timeouts: { first_byte_seconds: 500 } },
  }, async ({ a, b, ask, gateway }) => {
    a.play(["silence"]);
    const response = await ask();
    assert.match(await response.text(), /from b/);
    assert.equal(b.calls.length, 1);
    const [, second] = gateway.gateway.offer.all;
    assert.deepEqual(second?.limits, { firstByteTimeoutMs: 500_000 });
  }));
