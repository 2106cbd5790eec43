import assert from "node:assert/strict";
import { type CallRecord, firstCallId } from "../accounts/calls/call_record.ts";
import { processReports } from "../accounts/reports/process_reports.ts";
import { openStore } from "../accounts/store/open_store.ts";
import { migrate } from "../accounts/store/migrate.ts";
import { faultyStores } from "../accounts/testing/faulty_store.ts";
import { ApiError } from "../../translate/model/error.ts";
import { EndedCalls } from "./ended_calls.ts";
import type { UnderWay } from "./live_call.ts";
import { LiveCalls } from "./live_calls.ts";
import type { LivePicture } from "./live_picture.ts";
import type { ProcessState } from "./process_state.ts";
import { underWaySample, type UnderWaySource } from "./under_way_sample.ts";
import { compact } from "../../translate/bytes/compact.ts";

const NOW_MS = 1_795_000_000_000;

function underWay(id: string, accountId: string): UnderWaySource {
  return {
    accountId,
    describe: (): UnderWay => ({
      requestId: id,
      accountId,
      keyId: `key_${accountId}`,
      model: "small",
      endpoint: "/v1/messages",
      stream: true,
      phase: "streaming",
      arrivedMs: NOW_MS - 5000,
      outputTokens: 3,
      estimated: true,
      upstream: "host/small",
      attempts: 1,
    }),
  };
}

function ended(id: string, accountId: string): CallRecord {
  return {
    requestId: `${firstCallId(NOW_MS)}${id}`,
    accountId,
    keyId: `key_${accountId}`,
    endpoint: "/v1/messages",
    ended: "complete",
    estimated: false,
    microUsd: 5,
    more: 0,
  };
}

const STATE: ProcessState = {
  version: "1",
  started_at: "2026-11-22T00:00:00.000Z",
  configuration: { hash: null, loaded_at: "2026-11-22T00:00:00.000Z" },
  calls: { under_way: 0, limit: 10, streams: 0 },
  connections: { open: 0, busy: 0 },
  ledger_backlog: 0,
  upstreams: [],
  upstreams_left_out: 0,
};

interface Process {
  readonly live: LiveCalls;
  readonly calls: UnderWaySource[];
  /** Runs the next turn, and waits for what it writes. */
  turn(): Promise<void>;
  setDown(isDown: boolean): void;
  health: string;
}

/** Two processes on one store, whose turns the test makes. */
async function withProcesses(
  run: (a: Process, b: Process, clock: { ms: number }) => Promise<void>,
): Promise<void> {
  await using store = await openStore("sqlite::memory:");
  await migrate(store);
  const view = faultyStores(store);
  const clock = { ms: NOW_MS };
  const open = (): Process => {
    const faulty = view();
    // Reports read through `report`, which faulty stores leave alone.
    const reports = processReports(
      { note: faulty.note, read: faulty.read },
      clock.ms,
    );
    const puts: Promise<unknown>[] = [];
    let next = (): void => {};
    const calls: UnderWaySource[] = [];
    const process: Process = {
      calls,
      health: "",
      live: new LiveCalls({
        reports: {
          ...reports,
          put(...args) {
            const put = reports.put(...args);
            puts.push(put.catch(() => {}));
            return put;
          },
        },
        underWay: () => calls,
        state: () => STATE,
        health: () => process.health,
        now: () => clock.ms,
        timer(ms, run) {
          // Only turns take less than a second: the others limit a wait for the store.
          if (ms < 1000) next = run;
          return () => {};
        },
      }),
      async turn() {
        clock.ms += 750;
        next();
        // A turn writes up to two reports, one after the other.
        for (let at = 0; at < 3; at++) {
          await Promise.all(puts.splice(0));
          await new Promise((resolve) => setTimeout(resolve, 0));
        }
      },
      setDown: faulty.setDown,
    };
    return process;
  };
  const [a, b] = [open(), open()];
  try {
    await run(a, b, clock);
  } finally {
    for (const { setDown, live } of [a, b]) {
      setDown(false);
      await live.close();
    }
  }
  assert.deepEqual(await store.read("SELECT * FROM process_reports"), []);
}

const idsOf = (picture: LivePicture): readonly string[] => [
  ...picture.underWay.data.map(({ requestId }) => requestId),
  ...picture.ended.data.map(({ requestId }) => requestId.slice(-1)),
];

Deno.test("a call under way and one that has ended are seen by the other process, within their account only", () =>
  withProcesses(async (a, b) => {
    a.calls.push(underWay("req_1", "one"), underWay("req_2", "two"));
    a.live.record(ended("x", "one"));
    await a.turn();
    const all = await b.live.look({});
    assert.deepEqual(idsOf(all), ["req_1", "req_2", "x"]);
    assert.deepEqual([all.processes, all.complete], [2, true]);
    const one = { accountId: "one" };
    assert.deepEqual(idsOf(await b.live.look(one)), ["req_1", "x"]);
    const ofOther = await b.live.look({ ...one, keyId: "key_two" });
    assert.deepEqual(idsOf(ofOther), []);
    a.calls.length = 0;
    await a.turn();
    assert.deepEqual(idsOf(await b.live.look({ accountId: "two" })), []);
  }));

Deno.test("calls of a process that has been silent are no longer under way, and its reports are removed", () =>
  withProcesses(async (a, b, clock) => {
    a.calls.push(underWay("req_1", "one"));
    await a.turn();
    clock.ms += 10_001;
    assert.deepEqual(idsOf(await b.live.look({})), []);
    assert.equal((await b.live.processes()).data.length, 2);
    clock.ms += 60_000;
    assert.equal((await b.live.processes()).data.length, 1);
    await b.turn();
    await a.turn();
    assert.equal((await b.live.processes()).data.length, 2, "it is back");
  }));

Deno.test("the state is reported every five seconds, and at once when a breaker changes", () =>
  withProcesses(async (a, b) => {
    const ageMs = async (): Promise<number | undefined> =>
      (await b.live.processes()).data[1]?.ageMs;
    await a.turn();
    assert.equal(await ageMs(), 0);
    for (let turns = 1; turns < 7; turns++) {
      await a.turn();
      assert.equal(await ageMs(), 750 * turns);
    }
    await a.turn();
    assert.equal(await ageMs(), 0, "after five seconds");
    await a.turn();
    a.health = "open";
    await a.turn();
    assert.equal(await ageMs(), 0, "a breaker has opened");
  }));

Deno.test("while the store is down a process shows itself, and reports again afterwards", () =>
  withProcesses(async (a, b) => {
    a.calls.push(underWay("req_1", "one"));
    b.calls.push(underWay("req_2", "one"));
    await a.turn();
    b.setDown(true);
    await b.turn();
    const picture = await b.live.look({});
    assert.deepEqual(idsOf(picture), ["req_2"]);
    assert.equal(picture.complete, false);
    const processes = await b.live.processes();
    assert.deepEqual([processes.complete, processes.data.length], [false, 1]);
    b.setDown(false);
    await b.turn();
    assert.deepEqual(idsOf(await a.live.look({})), ["req_1", "req_2"]);
  }));

Deno.test("a viewer receives each ended call once, and is dropped when it does not read or its session ends", () =>
  withProcesses(async (a, b, clock) => {
    let isValid = true;
    const reader = b.live.watch({
      visitor: "session_1",
      scope: {},
      check: () => Promise.resolve(isValid),
      render: (picture) => idsOf(picture).join(","),
    }).pipeThrough(new TextDecoderStream()).getReader();
    const texts: string[] = [];
    const until = async (wanted: string): Promise<void> => {
      while (!texts.includes(wanted)) {
        const { value, done } = await reader.read();
        assert.equal(done, false, texts.join(""));
        texts.push(value ?? "");
      }
    };
    await until("event: calls\ndata: \n\n");
    for (const id of ["x", "y"]) {
      a.live.record(ended(id, "one"));
      await a.turn();
      await b.turn();
      await until(`event: calls\ndata: ${id}\n\n`);
    }
    isValid = false;
    await b.turn();
    await until('event: end\ndata: {"reason":"signed_out"}\n\n');
    assert.equal((await reader.read()).done, true);

    // Not read: at most two events wait, whatever ends.
    const idle = b.live.watch({
      visitor: "session_2",
      scope: {},
      check: () => Promise.resolve(true),
      render: () => "x".repeat(100_000),
    });
    await b.turn();
    await b.turn();
    clock.ms += 15_000;
    await b.turn();
    const late = idle.getReader();
    await assert.rejects(late.read(), /reads too slowly/);
  }));

Deno.test("a session has at most four live lists, an account eight, and accounts leave room for operators", () =>
  withProcesses((a) => {
    const open = (visitor: string, accountId?: string): void => {
      void a.live.watch({
        visitor,
        scope: compact({ accountId }),
        check: () => Promise.resolve(true),
        render: () => "",
      });
    };
    const isRefused = (visitor: string, accountId?: string): void =>
      assert.throws(
        () => open(visitor, accountId),
        (error) =>
          error instanceof ApiError && error.status === 429 &&
          error.details.code === "too_many_live_lists",
      );
    for (let at = 0; at < 4; at++) open("s1", "one");
    isRefused("s1", "one");
    for (let at = 0; at < 4; at++) open("s2", "one");
    isRefused("s3", "one");
    for (let at = 0; at < 8; at++) open(`t${at}`, `other${at}`);
    isRefused("u1", "another");
    for (let at = 0; at < 4; at++) open("operator");
    isRefused("operator2");
    return Promise.resolve();
  }));

Deno.test("of many calls a bounded sample is shown, with every account in it and the rest counted", () => {
  const calls = Array.from(
    { length: 5000 },
    (_, at) => underWay(`req_${at}`, at === 2500 ? "small" : "large"),
  );
  const { total, data, left } = underWaySample(calls, NOW_MS);
  assert.deepEqual([total, data.length], [5000, 100]);
  assert.deepEqual(left, { large: 4900 });
  const ids = data.map(({ requestId }) => requestId);
  for (const id of ["req_0", "req_4999", "req_2500"]) {
    assert.ok(ids.includes(id));
  }

  const recent = new EndedCalls();
  for (let at = 0; at < 5000; at++) recent.add(ended(String(at), "large"));
  recent.add(ended("s", "small"));
  recent.nextTurn();
  const [turn] = recent.recent();
  assert.deepEqual([turn?.total, turn?.data.length], [5001, 21]);
  assert.deepEqual(turn?.left, { large: 4980 });
  for (let turns = 0; turns < 4; turns++) recent.nextTurn();
  assert.deepEqual(recent.recent(), []);
});
