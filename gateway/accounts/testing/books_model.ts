/**
 * A model of the books: processes that are only played on one store, and in a few lines what must come out of what they do.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ApiError } from "../../../translate/error.ts";
import type { Reservation } from "../accounts.ts";
import { audit } from "../audit.ts";
import { enter } from "../books.ts";
import { chargeFor } from "../charge.ts";
import { openAccounts, type OpenedAccounts } from "../open_accounts.ts";
import type { LedgerEntry, OpenCall } from "../records.ts";
import type { Store } from "../store.ts";
import { MODELS, PRICE, testClock } from "./opened.ts";
import { type PlayedStore, playedStores } from "./faulty_store.ts";

/** One thing that happens. Numbers pick among what there is. */
export type Step =
  | ({ readonly do: "reserve" } & Wanted)
  /** The process dies with the write of a reservation, before or after it. */
  | (
    & { readonly do: "die reserving"; readonly when: "before" | "after" }
    & Wanted
  )
  | { readonly do: "settle"; readonly which: number; readonly part: number }
  | { readonly do: "settle again"; readonly which: number }
  | { readonly do: "flush"; readonly process: number }
  | {
    readonly do: "fault";
    readonly process: number;
    readonly when: "before" | "after";
  }
  | { readonly do: "crash"; readonly process: number }
  | {
    readonly do: "top up";
    readonly account: number;
    readonly purse: boolean;
    readonly microUsd: number;
  }
  | { readonly do: "wait"; readonly ms: number };

/** A call, and whose. */
export interface Wanted {
  /** Which of the two processes. */
  readonly process: number;
  /** Which of the two accounts. */
  readonly account: number;
  /** Which of the models. */
  readonly model: number;
  /** Prompt tokens. */
  readonly input: number;
  /** The most tokens that can be generated. */
  readonly max: number;
}

interface Process {
  opened: OpenedAccounts;
  store: PlayedStore;
  /** Settled, and not certainly written. */
  readonly pending: Map<string, Call>;
  isFaulty: boolean;
}

interface Call {
  readonly open: OpenCall;
  readonly reservation: Reservation;
  readonly process: Process;
  /** The account's index, and the model where that has a balance of its own. */
  readonly purse: string;
  cost?: number;
}

/** The processes, and what the books should say. */
export interface World {
  /** Starts the processes, and makes what they work with. */
  begin(): Promise<void>;
  /** Lets something happen. Fails where what comes of it is not what should. */
  take(step: Step): Promise<void>;
  /** Fails where the books are not in order. */
  holds(): Promise<void>;
  /** Settles what is open, and compares everything. */
  end(): Promise<void>;
}

/** Makes a world on an empty store. */
export function worldOn(store: Store): World {
  return new Played(store);
}

class Played implements World {
  readonly clock = testClock();
  readonly processes: Process[] = [];
  readonly balances = new Map<string, number>();
  readonly open = new Map<string, Call>();
  readonly settled: Call[] = [];
  readonly costs = new Map<string, number>();
  /** Refused because the store failed: nobody may be charged, unless the process died before it could take them back. */
  readonly failed = new Set<string>();
  keys: readonly string[] = [];
  accountIds: readonly string[] = [];
  calls = 0;
  readonly store: Store;
  readonly #view: () => PlayedStore;

  constructor(store: Store) {
    this.store = store;
    this.#view = playedStores(store);
  }

  async start(): Promise<Process> {
    const store = this.#view();
    const opened = await openAccounts({
      store,
      price: (model) => MODELS.includes(model) ? PRICE : undefined,
      now: this.clock.now,
      // Nothing happens by itself.
      timer: () => () => {},
    });
    return { opened, store, pending: new Map(), isFaulty: false };
  }

  async begin(): Promise<void> {
    this.processes.push(await this.start(), await this.start());
    const { admin } = this.process(0).opened;
    const accounts = [
      await admin.accounts.create({}),
      await admin.accounts.create({}),
    ];
    this.accountIds = accounts.map(({ id }) => id);
    const keys = await Promise.all(
      accounts.map(({ id }) => admin.keys.issue({ accountId: id })),
    );
    this.keys = keys.map(({ text = "" }) => text);
  }

  process(index: number): Process {
    const found = this.processes[index];
    assert.ok(found !== undefined);
    return found;
  }

  available(purse: string): number {
    let left = this.balances.get(purse) ?? 0;
    for (const call of this.open.values()) {
      if (call.purse === purse) left -= call.open.reservedMicroUsd;
    }
    return left;
  }

  add(purse: string, microUsd: number): void {
    this.balances.set(purse, (this.balances.get(purse) ?? 0) + microUsd);
  }

  /** What a process has settled is written. */
  written(process: Process): void {
    for (const [id, call] of process.pending) {
      this.open.delete(id);
      this.costs.set(id, call.cost ?? NaN);
      this.add(call.purse, -(call.cost ?? NaN));
    }
    process.pending.clear();
  }

  async flush(process: Process): Promise<void> {
    await process.opened.flush();
    if (process.isFaulty) {
      process.isFaulty = false;
      process.store.failNext(undefined);
      this.clock.ms += 10_000;
      await process.opened.flush();
    }
    this.written(process);
  }

  async reserve(step: Wanted): Promise<void> {
    const process = this.process(step.process);
    const model = MODELS[step.model] ?? "";
    const key = this.keys[step.account] ?? "";
    const caller = await process.opened.accounts.authenticate([key]);
    const own = `${step.account} ${model}`;
    const purse = this.balances.has(own) ? own : `${step.account}`;
    const call: OpenCall = {
      requestId: `req_${++this.calls}`,
      accountId: caller.accountId,
      keyId: caller.keyId,
      model,
      inputTokens: step.input,
      maxOutputTokens: step.max,
      price: PRICE,
      reservedMicroUsd: step.input + 2 * step.max,
      atMs: this.clock.ms,
    };
    const wasFaulty = process.isFaulty;
    const answer = process.opened.accounts.reserve(caller, call).then(
      (reservation) => reservation,
      (error: unknown) => {
        assert.ok(error instanceof ApiError);
        return error;
      },
    );
    await process.opened.flush();
    const outcome = await answer;
    if (wasFaulty) {
      assert.ok(outcome instanceof ApiError);
      assert.equal(outcome.kind, "unavailable");
      this.failed.add(call.requestId);
      return;
    }
    this.written(process);
    const covered = this.available(purse) >= call.reservedMicroUsd;
    if (outcome instanceof ApiError) {
      assert.equal(outcome.details.code, "insufficient_balance");
      assert.equal(covered, false);
      return;
    }
    assert.equal(covered, true);
    this.open.set(call.requestId, {
      open: call,
      reservation: outcome,
      process,
      purse,
    });
  }

  settle(which: number, part: number): void {
    const running = [...this.open.values()].filter((call) =>
      call.cost === undefined
    );
    const call = running[which % Math.max(1, running.length)];
    if (call === undefined) return;
    const { open, reservation, process } = call;
    const output = Math.floor(open.maxOutputTokens * part / 100);
    call.cost = open.inputTokens + 2 * output;
    reservation.settle({
      usage: { input: open.inputTokens, output },
      generatedChars: 1,
      ended: "complete",
    });
    process.pending.set(open.requestId, call);
    this.settled.push(call);
  }

  /** The same settlement told again, in the process and past it. */
  async settleAgain(which: number): Promise<void> {
    const call = this.settled[which % Math.max(1, this.settled.length)];
    if (call === undefined) return;
    const outcome = {
      usage: { input: 999, output: 999 },
      generatedChars: 1,
      ended: "complete",
    } as const;
    call.reservation.settle(outcome);
    if (!this.costs.has(call.open.requestId)) return;
    const verdicts = await this.store.write((sql) =>
      enter(sql, this.store.dialect, [{
        type: "settle",
        call: call.open,
        charge: chargeFor(call.open, outcome),
        atMs: this.clock.ms,
      }])
    );
    assert.deepEqual(verdicts, [{ type: "again" }]);
  }

  /** The process dies with what it has not written; the next one settles for it. */
  async crash(index: number): Promise<void> {
    const dead = this.process(index);
    dead.store.die();
    this.processes[index] = await this.start();
    const entries = await this.entries();
    for (const [id, call] of this.open) {
      if (call.process !== dead) continue;
      const entry = entries.get(id);
      assert.ok(entry !== undefined, `${id} was lost`);
      const cost = 0 - entry.microUsd;
      if (entry.ended === "lost") {
        assert.ok(cost >= 0 && cost <= call.open.reservedMicroUsd);
        assert.equal(entry.estimated, true);
      } else assert.equal(cost, call.cost);
      this.open.delete(id);
      this.costs.set(id, cost);
      this.add(call.purse, -cost);
    }
    for (const id of this.failed) {
      const entry = entries.get(id);
      if (entry === undefined || this.costs.has(id)) continue;
      assert.equal(entry.ended, "lost");
      this.costs.set(id, 0 - entry.microUsd);
      const index = this.accountIds.indexOf(entry.accountId);
      this.add(
        entry.purse === undefined ? `${index}` : `${index} ${entry.purse}`,
        entry.microUsd,
      );
    }
  }

  async topUp(step: Step & { do: "top up" }): Promise<void> {
    // By the operator's own process: here only one that does not fail.
    const process = this.processes.find(({ isFaulty }) => !isFaulty);
    if (process === undefined) return;
    await process.opened.admin.accounts.topUp(
      this.accountIds[step.account] ?? "",
      {
        microUsd: step.microUsd,
        ...(step.purse ? { model: "small" } : {}),
      },
    );
    this.add(
      step.purse ? `${step.account} small` : `${step.account}`,
      step.microUsd,
    );
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "reserve":
        await this.reserve(step);
        // A failure is not left standing: the model does not know how far it got until it is made good.
        if (this.process(step.process).isFaulty) {
          await this.flush(this.process(step.process));
        }
        return;
      case "die reserving":
        this.process(step.process).store.failNext(step.when);
        this.process(step.process).isFaulty = true;
        await this.reserve(step);
        return await this.crash(step.process);
      case "settle":
        return this.settle(step.which, step.part);
      case "settle again":
        return await this.settleAgain(step.which);
      case "flush":
        return await this.flush(this.process(step.process));
      case "fault": {
        const process = this.process(step.process);
        process.store.failNext(step.when);
        process.isFaulty = true;
        return;
      }
      case "crash":
        return await this.crash(step.process);
      case "top up":
        return await this.topUp(step);
      case "wait":
        this.clock.ms += step.ms;
        return;
    }
  }

  async entries(): Promise<ReadonlyMap<string, LedgerEntry>> {
    const found = new Map<string, LedgerEntry>();
    const { admin } = this.process(0).opened;
    for await (const page of admin.allLedger({})) {
      for (const entry of page) {
        assert.ok(!found.has(entry.requestId));
        if (entry.kind === "charge") found.set(entry.requestId, entry);
      }
    }
    return found;
  }

  async holds(): Promise<void> {
    assert.deepEqual(await audit(this.store), []);
    const { data } = await this.process(0).opened.admin.accounts.list();
    for (const { billing, purses, ...account } of data) {
      const held = billing === "prepaid" ? [account, ...purses] : purses;
      for (const { balanceMicroUsd, reservedMicroUsd } of held) {
        assert.ok(balanceMicroUsd >= reservedMicroUsd);
      }
    }
  }

  async end(): Promise<void> {
    while ([...this.open.values()].some((call) => call.cost === undefined)) {
      this.settle(0, 100);
    }
    for (const process of this.processes) await this.flush(process);
    await this.holds();
    const entries = await this.entries();
    assert.deepEqual(
      new Map([...entries].map(([id, { microUsd }]) => [id, 0 - microUsd])),
      new Map([...this.costs].map(([id, cost]) => [id, cost])),
    );
    for (const [index, id] of this.accountIds.entries()) {
      const kept = await this.process(0).opened.admin.accounts.get(id);
      assert.equal(kept.balanceMicroUsd, this.balances.get(`${index}`) ?? 0);
      assert.equal(kept.reservedMicroUsd, 0);
    }
  }
}
