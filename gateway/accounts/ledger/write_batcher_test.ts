import assert from "node:assert/strict";
import { ApiError } from "../../../translate/model/error.ts";
import type { LedgerEvent } from "./events.ts";
import {
  type ReserveResult,
  type WriteBatcher,
  writeBatcher,
  type WrittenBatch,
} from "./write_batcher.ts";
import type { ReservedCall } from "../records.ts";
import { PRICE } from "../testing/open_test_accounts.ts";

/** A write batcher on a simulated store: the test decides the outcome of the oldest write. */
interface Bench {
  readonly batcher: WriteBatcher;
  /** Ids of the events in each write so far. */
  readonly writes: (readonly string[])[];
  readonly clock: { ms: number };
  readonly states: boolean[];
  /** Advances the clock; due timers run. */
  pass(ms: number): Promise<void>;
  succeed(): Promise<void>;
  fail(error?: Error): Promise<void>;
  /** Commits the oldest write without the events of these lanes. */
  leaveOut(...lanes: readonly string[]): Promise<void>;
  /** Makes the written batch durable, or fails its fsync with `error`. */
  reachDisk(error?: Error): Promise<void>;
}

/** The first letters of ids are lanes, if `most` writes run at a time. */
function bench(isSlow = false, most = 0): Bench {
  const clock = { ms: 0 };
  const states: boolean[] = [];
  const writes: (readonly string[])[] = [];
  const timers = new Map<number, { atMs: number; run: () => void }>();
  let ids = 0;
  const underWay: {
    readonly events: readonly LedgerEvent[];
    readonly outcome: PromiseWithResolvers<WrittenBatch>;
  }[] = [];
  const disk = Promise.withResolvers<void>();
  if (!isSlow) disk.resolve();
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  const leaveOut = async (...lanes: readonly string[]): Promise<void> => {
    const write = underWay.shift();
    write?.outcome.resolve({
      results: write.events.map((event) =>
        lanes.includes(laneOf(event))
          ? undefined
          : { type: "granted", limits: {} }
      ),
      durable: disk.promise,
    });
    await settle();
  };
  const batcher = writeBatcher({
    apply(events) {
      writes.push(events.map(nameOf));
      const outcome = Promise.withResolvers<WrittenBatch>();
      underWay.push({ events, outcome });
      return outcome.promise;
    },
    ...(most === 0 ? {} : {
      most,
      laneOf,
      isOfLane: (error: unknown) => error === LOCKED,
    }),
    now: () => clock.ms,
    timer(ms, run) {
      const id = ids++;
      timers.set(id, { atMs: clock.ms + ms, run });
      return () => timers.delete(id);
    },
    onState: (up) => states.push(up),
  });
  return {
    batcher,
    writes,
    clock,
    states,
    async reachDisk(error) {
      if (error === undefined) disk.resolve();
      else disk.reject(error);
      await settle();
    },
    async pass(ms) {
      clock.ms += ms;
      for (const [id, { atMs, run }] of [...timers]) {
        if (atMs > clock.ms) continue;
        timers.delete(id);
        run();
      }
      await settle();
    },
    succeed: () => leaveOut(),
    leaveOut,
    async fail(error = new Error("connection lost")) {
      underWay.shift()?.outcome.reject(error);
      await settle();
    },
  };
}

const LOCKED = new Error("locked");

function laneOf(event: LedgerEvent): string {
  const id = event.type === "top_up" ? event.id : event.call.requestId;
  return id.slice(0, 1);
}

function nameOf(event: LedgerEvent): string {
  return event.type === "top_up"
    ? event.id
    : `${event.type} ${event.call.requestId}`;
}

function callOf(requestId: string): ReservedCall {
  return {
    requestId,
    accountId: "a",
    keyId: "k",
    model: "m",
    inputTokens: 1,
    maxOutputTokens: 1,
    price: PRICE,
    reservedMicroUsd: 3,
    atMs: 0,
  };
}

function reserve(id: string): LedgerEvent & { readonly type: "reserve" } {
  return { type: "reserve", call: callOf(id), leaseId: "o" };
}

/** The result of a reservation that a client waits for. */
function reserved(batcher: WriteBatcher, id: string): Promise<ReserveResult> {
  const { result, hurry } = batcher.reserve(reserve(id));
  hurry();
  return result;
}

function settle(id: string): LedgerEvent {
  return {
    type: "settle",
    call: callOf(id),
    charge: {
      tokens: { input: 1, cacheRead: 0, cacheWrite: 0, output: 1 },
      reasoningTokens: 0,
      estimated: false,
      ended: "complete",
      costMicroUsd: 3,
    },
    atMs: 0,
  };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.kind === "unavailable" &&
    (error.details.retryAfterSeconds ?? 0) >= 1;
}

Deno.test("reservations in the same turn share one write", async () => {
  const { batcher, writes, pass, succeed } = bench();
  const decisions = ["a", "b", "c"].map((id) => reserved(batcher, id));
  await pass(0);
  assert.deepEqual(writes, [["reserve a", "reserve b", "reserve c"]]);
  await succeed();
  assert.equal((await Promise.all(decisions)).length, 3);
});

Deno.test("events that arrive during a write go into the next one", async () => {
  const { batcher, writes, pass, succeed } = bench();
  const first = reserved(batcher, "a");
  await pass(0);
  const second = reserved(batcher, "b");
  // Longer than the minimum interval between two writes.
  await pass(3);
  assert.equal(writes.length, 1);
  await succeed();
  await pass(0);
  assert.deepEqual(writes, [["reserve a"], ["reserve b"]]);
  await succeed();
  await Promise.all([first, second]);
});

Deno.test("a settlement waits ten milliseconds for other events", async () => {
  const { batcher, writes, pass, succeed } = bench();
  batcher.enqueue(settle("a"));
  await pass(9);
  assert.deepEqual(writes, []);
  batcher.enqueue(settle("b"));
  await pass(1);
  assert.deepEqual(writes, [["settle a", "settle b"]]);
  await succeed();
});

Deno.test("a settlement does not wait when a reservation arrives", async () => {
  const { batcher, writes, pass, succeed } = bench();
  batcher.enqueue(settle("a"));
  const decision = reserved(batcher, "b");
  await pass(0);
  assert.deepEqual(writes, [["settle a", "reserve b"]]);
  await succeed();
  await decision;
});

Deno.test("a reservation for which no client waits gathers with other events", async () => {
  const { batcher, writes, pass, succeed } = bench();
  const first = batcher.reserve(reserve("a"));
  await pass(9);
  assert.deepEqual(writes, []);
  const second = batcher.reserve(reserve("b"));
  await pass(1);
  assert.deepEqual(writes, [["reserve a", "reserve b"]]);
  await succeed();
  await Promise.all([first.result, second.result]);
});

Deno.test("a reservation gathers no longer once a client waits for it", async () => {
  const { batcher, writes, pass, succeed } = bench();
  const first = batcher.reserve(reserve("a"));
  const second = batcher.reserve(reserve("b"));
  await pass(5);
  second.hurry();
  await pass(0);
  assert.deepEqual(writes, [["reserve a", "reserve b"]]);
  await succeed();
  await Promise.all([first.result, second.result]);
  // It is written: nothing is left to hurry.
  first.hurry();
  await pass(10);
  assert.equal(writes.length, 1);
});

Deno.test("a reservation whose client begins to wait during a write goes into the next one, soon", async () => {
  const { batcher, writes, pass, succeed } = bench();
  const first = reserved(batcher, "a");
  await pass(0);
  const second = batcher.reserve(reserve("b"));
  second.hurry();
  await succeed();
  await pass(2);
  assert.deepEqual(writes, [["reserve a"], ["reserve b"]]);
  await succeed();
  await Promise.all([first, second.result]);
});

Deno.test("a hundred events are written at once, and no more than a hundred", async () => {
  const { batcher, writes, pass, succeed } = bench();
  for (let i = 0; i < 150; i++) batcher.enqueue(settle(`${i}`));
  await pass(0);
  assert.deepEqual(writes.map((ids) => ids.length), [100]);
  await succeed();
  await pass(10);
  assert.deepEqual(writes.map((ids) => ids.length), [100, 50]);
  await succeed();
});

Deno.test("a reservation is decided before it is on disk, and durable once it is", async () => {
  const { batcher, pass, succeed, reachDisk } = bench(true);
  const decision = reserved(batcher, "a");
  await pass(0);
  await succeed();
  const { result, durable } = await decision;
  assert.equal(result.type, "granted");
  let survives = false;
  durable.then(() => {
    survives = true;
  });
  await pass(0);
  assert.equal(survives, false);
  await reachDisk();
  assert.equal(survives, true);
});

Deno.test("writes with waiting clients keep a minimum interval, and flush() waits for the disk", async () => {
  const { batcher, writes, pass, succeed, reachDisk } = bench(true);
  const first = reserved(batcher, "a");
  await pass(0);
  await succeed();
  await first;
  const second = reserved(batcher, "b");
  await pass(0);
  assert.equal(writes.length, 1);
  await pass(2);
  assert.equal(writes.length, 2);
  await succeed();
  await second;
  let flushed = false;
  const flush = batcher.flush().then(() => {
    flushed = true;
  });
  await pass(0);
  assert.equal(flushed, false);
  await reachDisk();
  await flush;
});

Deno.test("when the disk fails, a reservation is refused and settlements are written again", async () => {
  const { batcher, writes, states, pass, succeed, reachDisk } = bench(true);
  const decision = reserved(batcher, "a");
  batcher.enqueue(settle("b"));
  await pass(0);
  await succeed();
  const { durable } = await decision;
  const refused = assert.rejects(durable, isUnavailable);
  await reachDisk(new Error("EIO"));
  await refused;
  assert.deepEqual(states, [false]);
  await pass(100);
  assert.deepEqual(writes, [["reserve a", "settle b"], ["settle b"]]);
});

Deno.test("a reservation whose write failed is refused, then undone", async () => {
  const { batcher, writes, states, pass, fail, succeed } = bench();
  const decision = reserved(batcher, "a");
  await pass(0);
  const refused = assert.rejects(decision, isUnavailable);
  await fail();
  await refused;
  assert.deepEqual(states, [false]);
  await pass(100);
  assert.deepEqual(writes, [["reserve a"], ["void a"]]);
  await succeed();
  assert.deepEqual(states, [false, true]);
});

Deno.test("a reservation that waited behind a failed write is refused and was never written", async () => {
  const { batcher, writes, pass, fail, succeed } = bench();
  const first = reserved(batcher, "a");
  await pass(0);
  const second = reserved(batcher, "b");
  const refused = [first, second].map((decision) =>
    assert.rejects(decision, isUnavailable)
  );
  await fail();
  await Promise.all(refused);
  await pass(100);
  await succeed();
  assert.deepEqual(writes, [["reserve a"], ["void a"]]);
});

Deno.test("while the store is down, reservations are refused without trying it", async () => {
  const { batcher, writes, pass, fail, clock } = bench();
  batcher.enqueue(settle("a"));
  await pass(10);
  await fail();
  assert.throws(() => batcher.assertAvailable(), isUnavailable);
  clock.ms += 100;
  // The retry is due: the next reservation may be the one that tries.
  batcher.assertAvailable();
  assert.equal(writes.length, 1);
});

Deno.test("during a retry no further call waits for the store", async () => {
  const { batcher, pass, clock, fail, succeed } = bench();
  batcher.enqueue(settle("a"));
  await pass(10);
  await fail();
  clock.ms += 100;
  const tried = reserved(batcher, "b");
  await pass(0);
  assert.throws(() => batcher.assertAvailable(), isUnavailable);
  await succeed();
  batcher.assertAvailable();
  await pass(10);
  await succeed();
  await tried;
});

Deno.test("settlements are kept and retried, at growing intervals", async () => {
  const { batcher, writes, pass, fail, succeed } = bench();
  batcher.enqueue(settle("a"));
  await pass(10);
  for (const waitMs of [100, 200, 400, 500, 500]) {
    await fail();
    const tries = writes.length;
    await pass(waitMs - 1);
    assert.equal(writes.length, tries);
    await pass(1);
    assert.equal(writes.length, tries + 1);
  }
  await succeed();
  assert.deepEqual(new Set(writes.flat()), new Set(["settle a"]));
});

Deno.test("after a failure events are retried one by one, and a failing one does not block the others", async () => {
  const { batcher, writes, pass, fail, succeed } = bench();
  for (const id of ["bad", "b", "c"]) batcher.enqueue(settle(id));
  await pass(10);
  await fail();
  await pass(100);
  assert.deepEqual(writes.at(-1), ["settle bad"]);
  await fail();
  await pass(200);
  assert.deepEqual(writes.at(-1), ["settle b"]);
  await succeed();
  await pass(10);
  assert.deepEqual(writes.at(-1), ["settle c", "settle bad"]);
  await succeed();
});

Deno.test("probe() retries a store while no call does", async () => {
  const { batcher, pass, fail, succeed } = bench();
  const refused = assert.rejects(reserved(batcher, "a"));
  await pass(0);
  await fail();
  await refused;
  const probe = batcher.probe();
  await succeed();
  assert.equal(await probe, true);
  assert.equal(batcher.isUp(), true);
});

Deno.test("close() writes the queue and refuses later reservations", async () => {
  const { batcher, writes, succeed } = bench();
  batcher.enqueue(settle("a"));
  const closed = batcher.close(1000);
  await succeed();
  await closed;
  assert.deepEqual(writes, [["settle a"]]);
  await assert.rejects(reserved(batcher, "b"), isUnavailable);
});

Deno.test("lanes are written beside each other, each in order", async () => {
  const { batcher, writes, pass, succeed } = bench(false, 2);
  const decisions = ["a1", "b1"].map((id) => reserved(batcher, id));
  await pass(0);
  decisions.push(...["a2", "c1", "d1"].map((id) => reserved(batcher, id)));
  await pass(2);
  // Two writes run: the third waits for the end of one.
  decisions.push(reserved(batcher, "e1"));
  await pass(2);
  assert.deepEqual(writes, [
    ["reserve a1", "reserve b1"],
    ["reserve c1", "reserve d1"],
  ]);
  await succeed();
  await pass(2);
  assert.deepEqual(writes[2], ["reserve a2", "reserve e1"]);
  await succeed();
  await succeed();
  await Promise.all(decisions);
});

Deno.test("a lane that writes leave out comes back in order, and soon has a write of its own", async () => {
  const { batcher, writes, pass, succeed, leaveOut } = bench(false, 2);
  const decisions = ["a1", "b1", "a2"].map((id) => reserved(batcher, id));
  await pass(0);
  await leaveOut("a");
  for (const id of ["b2", "b3"]) {
    decisions.push(reserved(batcher, id));
    await pass(2);
    await leaveOut("a");
  }
  decisions.push(reserved(batcher, "b4"));
  await pass(2);
  await pass(2);
  assert.deepEqual(writes.slice(1), [
    ["reserve a1", "reserve a2", "reserve b2"],
    ["reserve a1", "reserve a2", "reserve b3"],
    ["reserve a1", "reserve a2"],
    ["reserve b4"],
  ]);
  await succeed();
  await succeed();
  await Promise.all(decisions);
});

Deno.test("a failure of one lane refuses its reservations, and leaves the others and the store up", async () => {
  const lanes = bench(false, 2);
  const { batcher, writes, states, clock, pass, fail, succeed } = lanes;
  const refused = assert.rejects(reserved(batcher, "a1"), isUnavailable);
  await pass(0);
  const waits = assert.rejects(reserved(batcher, "a2"), isUnavailable);
  await fail(LOCKED);
  await Promise.all([refused, waits]);
  assert.throws(() => batcher.assertAvailable("a"), isUnavailable);
  batcher.assertAvailable("b");
  assert.equal(batcher.isUp(), true);
  const other = reserved(batcher, "b1");
  await pass(2);
  await succeed();
  await other;
  assert.deepEqual(writes, [["reserve a1"], ["reserve b1"]]);
  clock.ms += 98;
  batcher.assertAvailable("a");
  await pass(0);
  assert.deepEqual(writes[2], ["void a1"]);
  await succeed();
  batcher.assertAvailable("a");
  assert.deepEqual(states, []);
});

Deno.test("writes that run at the same time fail together, and one at a time tries the store again", async () => {
  const { batcher, writes, states, pass, fail, succeed } = bench(false, 4);
  for (const id of ["a1", "b1", "c1"]) {
    batcher.enqueue(settle(id));
    await pass(10);
  }
  assert.equal(writes.length, 3);
  batcher.enqueue(settle("d1"));
  for (let left = 3; left > 0; left--) await fail();
  assert.deepEqual(states, [false]);
  await pass(99);
  assert.equal(writes.length, 3);
  await pass(1);
  assert.deepEqual(writes.slice(3), [["settle d1"]]);
  await pass(100);
  assert.equal(writes.length, 4);
  await succeed();
  await pass(10);
  assert.deepEqual(states, [false, true]);
  assert.deepEqual(writes.slice(4), [["settle a1", "settle b1"]]);
  await succeed();
  await pass(10);
  assert.deepEqual(writes.slice(5), [["settle c1"]]);
  await succeed();
});
