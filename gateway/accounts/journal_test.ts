import assert from "node:assert/strict";
import { ApiError } from "../../translate/error.ts";
import type { BookEvent } from "./books.ts";
import { type Entered, type Journal, openJournal } from "./journal.ts";
import type { OpenCall } from "./records.ts";
import { PRICE } from "./testing/opened.ts";

/** A journal whose books are played: every write waits until the test says how it ends. */
interface Bench {
  readonly journal: Journal;
  /** The writes so far: the ids in each. */
  readonly writes: (readonly string[])[];
  readonly clock: { ms: number };
  readonly states: boolean[];
  /** Lets so much time pass; timers that are due run. */
  pass(ms: number): Promise<void>;
  succeed(): Promise<void>;
  fail(): Promise<void>;
  /** What was written survives; with an error: nobody knows. */
  reachDisk(error?: Error): Promise<void>;
}

function bench(isSlow = false): Bench {
  const clock = { ms: 0 };
  const states: boolean[] = [];
  const writes: (readonly string[])[] = [];
  const timers = new Map<number, { atMs: number; run: () => void }>();
  let ids = 0;
  let current: PromiseWithResolvers<Entered> | undefined;
  let events: readonly BookEvent[] = [];
  const disk = Promise.withResolvers<void>();
  if (!isSlow) disk.resolve();
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  const journal = openJournal({
    enter(batch) {
      events = batch;
      writes.push(batch.map(nameOf));
      current = Promise.withResolvers();
      return current.promise;
    },
    now: () => clock.ms,
    timer(ms, run) {
      const id = ids++;
      timers.set(id, { atMs: clock.ms + ms, run });
      return () => timers.delete(id);
    },
    onState: (up) => states.push(up),
  });
  return {
    journal,
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
    async succeed() {
      current?.resolve({
        verdicts: events.map(() => ({ type: "granted", limits: {} })),
        durable: disk.promise,
      });
      await settle();
    },
    async fail() {
      current?.reject(new Error("connection lost"));
      await settle();
    },
  };
}

function nameOf(event: BookEvent): string {
  return event.type === "top_up"
    ? event.id
    : `${event.type} ${event.call.requestId}`;
}

function callOf(requestId: string): OpenCall {
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

function reserve(id: string): BookEvent & { readonly type: "reserve" } {
  return { type: "reserve", call: callOf(id), ownerId: "o" };
}

function settle(id: string): BookEvent {
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

Deno.test("reservations that come together share one write", async () => {
  const { journal, writes, pass, succeed } = bench();
  const answers = ["a", "b", "c"].map((id) => journal.reserve(reserve(id)));
  await pass(0);
  assert.deepEqual(writes, [["reserve a", "reserve b", "reserve c"]]);
  await succeed();
  assert.equal((await Promise.all(answers)).length, 3);
});

Deno.test("what comes during a write goes into the next one", async () => {
  const { journal, writes, pass, succeed } = bench();
  const first = journal.reserve(reserve("a"));
  await pass(0);
  const second = journal.reserve(reserve("b"));
  // Longer than the least time between two writes.
  await pass(3);
  assert.equal(writes.length, 1);
  await succeed();
  await pass(0);
  assert.deepEqual(writes, [["reserve a"], ["reserve b"]]);
  await succeed();
  await Promise.all([first, second]);
});

Deno.test("a settlement waits ten milliseconds for company", async () => {
  const { journal, writes, pass, succeed } = bench();
  journal.owe(settle("a"));
  await pass(9);
  assert.deepEqual(writes, []);
  journal.owe(settle("b"));
  await pass(1);
  assert.deepEqual(writes, [["settle a", "settle b"]]);
  await succeed();
});

Deno.test("a settlement does not wait when a reservation comes", async () => {
  const { journal, writes, pass, succeed } = bench();
  journal.owe(settle("a"));
  const answer = journal.reserve(reserve("b"));
  await pass(0);
  assert.deepEqual(writes, [["settle a", "reserve b"]]);
  await succeed();
  await answer;
});

Deno.test("a hundred events go at once, and no more than a hundred", async () => {
  const { journal, writes, pass, succeed } = bench();
  for (let i = 0; i < 150; i++) journal.owe(settle(`${i}`));
  await pass(0);
  assert.deepEqual(writes.map((ids) => ids.length), [100]);
  await succeed();
  await pass(10);
  assert.deepEqual(writes.map((ids) => ids.length), [100, 50]);
  await succeed();
});

Deno.test("a reservation is decided before the disk has it, and survives when the disk has it", async () => {
  const { journal, pass, succeed, reachDisk } = bench(true);
  const answer = journal.reserve(reserve("a"));
  await pass(0);
  await succeed();
  const { verdict, durable } = await answer;
  assert.equal(verdict.type, "granted");
  let survives = false;
  durable.then(() => {
    survives = true;
  });
  await pass(0);
  assert.equal(survives, false);
  await reachDisk();
  assert.equal(survives, true);
});

Deno.test("writes that somebody waits for keep a distance, and flush() waits for the disk", async () => {
  const { journal, writes, pass, succeed, reachDisk } = bench(true);
  const first = journal.reserve(reserve("a"));
  await pass(0);
  await succeed();
  await first;
  const second = journal.reserve(reserve("b"));
  await pass(0);
  assert.equal(writes.length, 1);
  await pass(2);
  assert.equal(writes.length, 2);
  await succeed();
  await second;
  let flushed = false;
  const flush = journal.flush().then(() => {
    flushed = true;
  });
  await pass(0);
  assert.equal(flushed, false);
  await reachDisk();
  await flush;
});

Deno.test("where the disk fails, a reservation is refused and what is owed is told again", async () => {
  const { journal, writes, states, pass, succeed, reachDisk } = bench(true);
  const answer = journal.reserve(reserve("a"));
  journal.owe(settle("b"));
  await pass(0);
  await succeed();
  const { durable } = await answer;
  const refused = assert.rejects(durable, isUnavailable);
  await reachDisk(new Error("EIO"));
  await refused;
  assert.deepEqual(states, [false]);
  await pass(100);
  assert.deepEqual(writes, [["reserve a", "settle b"], ["settle b"]]);
});

Deno.test("a reservation whose write failed is refused, then taken back", async () => {
  const { journal, writes, states, pass, fail, succeed } = bench();
  const answer = journal.reserve(reserve("a"));
  await pass(0);
  const refused = assert.rejects(answer, isUnavailable);
  await fail();
  await refused;
  assert.deepEqual(states, [false]);
  await pass(100);
  assert.deepEqual(writes, [["reserve a"], ["void a"]]);
  await succeed();
  assert.deepEqual(states, [false, true]);
});

Deno.test("a reservation that waited behind a failed write is refused and was never written", async () => {
  const { journal, writes, pass, fail, succeed } = bench();
  const first = journal.reserve(reserve("a"));
  await pass(0);
  const second = journal.reserve(reserve("b"));
  const refused = [first, second].map((answer) =>
    assert.rejects(answer, isUnavailable)
  );
  await fail();
  await Promise.all(refused);
  await pass(100);
  await succeed();
  assert.deepEqual(writes, [["reserve a"], ["void a"]]);
});

Deno.test("while the store is down reservations are refused without asking it", async () => {
  const { journal, writes, pass, fail, clock } = bench();
  journal.owe(settle("a"));
  await pass(10);
  await fail();
  assert.throws(() => journal.refuseIfDown(), isUnavailable);
  clock.ms += 100;
  // Time for a try: the next reservation may be it.
  journal.refuseIfDown();
  assert.equal(writes.length, 1);
});

Deno.test("what is owed is kept and tried again, at longer and longer intervals", async () => {
  const { journal, writes, pass, fail, succeed } = bench();
  journal.owe(settle("a"));
  await pass(10);
  for (const waitMs of [100, 200, 400, 800, 1600, 2000, 2000]) {
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

Deno.test("after a failure events are tried one by one, and one at fault holds up no other", async () => {
  const { journal, writes, pass, fail, succeed } = bench();
  for (const id of ["bad", "b", "c"]) journal.owe(settle(id));
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

Deno.test("probe() asks a store that nobody else asks", async () => {
  const { journal, pass, fail, succeed } = bench();
  const refused = assert.rejects(journal.reserve(reserve("a")));
  await pass(0);
  await fail();
  await refused;
  const probe = journal.probe();
  await succeed();
  assert.equal(await probe, true);
  assert.equal(journal.isUp(), true);
});

Deno.test("close() writes what is owed and refuses what comes after", async () => {
  const { journal, writes, succeed } = bench();
  journal.owe(settle("a"));
  const closed = journal.close(1000);
  await succeed();
  await closed;
  assert.deepEqual(writes, [["settle a"]]);
  await assert.rejects(journal.reserve(reserve("b")), isUnavailable);
});
