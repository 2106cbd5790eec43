/**
 * A model of the ledger: simulated processes on one store, and the results expected of
 * their actions.
 */
import assert from "node:assert/strict";
import { ApiError } from "../../../translate/model/error.ts";
import type { Reservation } from "../accounts.ts";
import { audit } from "../audits/audit.ts";
import { withCorrections } from "../ledger/correction.ts";
import { recovery } from "../ledger/recovery.ts";
import { applyEvents } from "../ledger/transaction.ts";
import type { CallOutcome } from "../call_outcome.ts";
import { chargeFor } from "../charges/charge.ts";
import { openAccountService, type OpenedAccounts } from "../service.ts";
import type { LedgerEntry, ReservedCall } from "../records.ts";
import type { Admin } from "../repositories/admin.ts";
import type { Store } from "../store/store.ts";
import { MODELS, PRICE, testClock } from "./open_test_accounts.ts";
import { checkKeyUse } from "./check_key_use.ts";
import { readingAdmin } from "./reading_admin.ts";
import { type FaultyStore, faultyStores } from "./faulty_store.ts";

/** One action of the test. Numbers select among the existing processes, accounts or calls. */
export type LedgerAction =
  | ({ readonly do: "reserve" } & CallRequest)
  /** The process dies during the write of a reservation, before or after the commit. */
  | (
    & { readonly do: "die reserving"; readonly when: "before" | "after" }
    & CallRequest
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
  /** The process cannot reach the store, or is suspended; another one settles its calls. */
  | { readonly do: "cut"; readonly process: number }
  /** The same during the write of a reservation, before or after the commit. */
  | (
    & { readonly do: "cut reserving"; readonly when: "before" | "after" }
    & CallRequest
  )
  /** The process is back and writes what it has. */
  | { readonly do: "heal"; readonly process: number }
  | {
    readonly do: "top up";
    readonly account: number;
    readonly ownBalance: boolean;
    readonly microUsd: number;
  }
  | { readonly do: "wait"; readonly ms: number };

interface CallRequest {
  /** Index of the process, 0 or 1. */
  readonly process: number;
  /** Index of the account, 0 or 1. */
  readonly account: number;
  readonly model: number;
  /** Prompt tokens. */
  readonly input: number;
  /** Upper bound of the generated tokens. */
  readonly max: number;
  /** Whether the client leaves at once: before the decision, if the call went ahead of it. */
  readonly leaves: boolean;
}

interface Process {
  opened: OpenedAccounts;
  store: FaultyStore;
  /** Settled calls that may not be written yet. */
  readonly pending: Map<string, GrantedCall>;
  /** Costs of calls that were refused to the client and charged as lost, by id. */
  readonly lostRefusals: Map<string, { cost: number; balanceKey: string }>;
  isFaulty: boolean;
  isCut: boolean;
}

const NOTHING_SENT: CallOutcome = {
  usage: {},
  generatedChars: 0,
  ended: "caller_left",
};

interface GrantedCall {
  readonly open: ReservedCall;
  readonly reservation: Reservation;
  readonly process: Process;
  /** The account's index, followed by the model if that has its own balance. */
  readonly balanceKey: string;
  cost?: number;
  /** What it was charged as lost. */
  lostCost?: number;
  /** Charged as lost, and its process died before it corrected that: a settlement still does. */
  isUncorrected?: true;
}

/** The simulation on an empty store: processes, and the expected state of the ledger. */
export class LedgerModel {
  readonly clock = testClock();
  readonly processes: Process[] = [];
  readonly balances = new Map<string, number>();
  readonly open = new Map<string, GrantedCall>();
  /** Calls charged as lost whose process lives and has not corrected them. */
  readonly lost = new Map<string, GrantedCall>();
  /** Balances that a correction charged more than estimated, so that they may be overdrawn. */
  readonly overdrawable = new Set<string>();
  readonly settled: GrantedCall[] = [];
  readonly costs = new Map<string, number>();
  /**
   * Ids of calls refused because the store failed. They may be charged only if the process
   * died before it could undo the reservation.
   */
  readonly failed = new Set<string>();
  keys: readonly string[] = [];
  /** Sees the store whatever the processes see. */
  #admin: Admin | undefined;
  readonly accountIds: string[] = [];
  calls = 0;
  readonly store: Store;
  readonly #view: () => FaultyStore;

  constructor(store: Store) {
    this.store = store;
    this.#view = faultyStores(store);
  }

  async startProcess(): Promise<Process> {
    const store = this.#view();
    const opened = await openAccountService({
      store,
      price: (model) => MODELS.includes(model) ? PRICE : undefined,
      now: this.clock.now,
      // Timers never fire: the actions flush.
      timer: () => () => {},
    });
    return {
      opened,
      store,
      pending: new Map(),
      lostRefusals: new Map(),
      isFaulty: false,
      isCut: false,
    };
  }

  async start(): Promise<void> {
    this.processes.push(await this.startProcess(), await this.startProcess());
    const { admin } = this;
    for (let n = 0; n < 2; n++) {
      this.accountIds.push((await admin.accounts.create({})).id);
    }
    const keys = await Promise.all(
      // With a limit, so that the use of the keys is counted.
      this.accountIds.map((accountId) =>
        admin.keys.issue({ accountId, tokensPerMonth: 1e12 })
      ),
    );
    this.keys = keys.map(({ text = "" }) => text);
  }

  get admin(): Admin {
    return this.#admin ??= readingAdmin(this.store, this.clock.now);
  }

  process(index: number): Process {
    return this.processes[index] ?? assert.fail("there is no such process");
  }

  available(balanceKey: string): number {
    let left = this.balances.get(balanceKey) ?? 0;
    for (const call of this.open.values()) {
      if (call.balanceKey === balanceKey) left -= call.open.reservedMicroUsd;
    }
    return left;
  }

  add(balanceKey: string, microUsd: number): void {
    this.balances.set(
      balanceKey,
      (this.balances.get(balanceKey) ?? 0) + microUsd,
    );
  }

  /** Applies the settlements of a process that are now written. */
  applyWritten(process: Process): void {
    for (const [id, call] of process.pending) {
      this.open.delete(id);
      this.lost.delete(id);
      const cost = call.cost ?? NaN;
      const before = call.lostCost ?? 0;
      this.costs.set(id, cost);
      this.add(call.balanceKey, before - cost);
      if (call.lostCost !== undefined && cost > before) {
        this.overdrawable.add(call.balanceKey);
      }
    }
    process.pending.clear();
    for (const [id, { cost, balanceKey }] of process.lostRefusals) {
      this.costs.set(id, 0);
      this.add(balanceKey, cost);
    }
    process.lostRefusals.clear();
  }

  async flush(process: Process): Promise<void> {
    await process.opened.flush();
    if (process.isCut) return;
    if (process.isFaulty) {
      process.isFaulty = false;
      process.store.failNext(undefined);
      this.clock.ms += 10_000;
      await process.opened.flush();
    }
    this.applyWritten(process);
  }

  async reserve(action: CallRequest): Promise<void> {
    const process = this.process(action.process);
    if (process.isCut) return;
    const model = MODELS[action.model] ?? "";
    const key = this.keys[action.account] ?? "";
    const caller = await process.opened.accounts.authenticate([key]);
    const ownKey = `${action.account} ${model}`;
    const balanceKey = this.balances.has(ownKey) ? ownKey : `${action.account}`;
    const call: ReservedCall = {
      requestId: `req_${++this.calls}`,
      accountId: caller.accountId,
      keyId: caller.keyId,
      model,
      inputTokens: action.input,
      maxOutputTokens: action.max,
      price: PRICE,
      reservedMicroUsd: action.input + 2 * action.max,
      atMs: this.clock.ms,
    };
    const wasFaulty = process.isFaulty;
    const decision = process.opened.accounts.reserve(caller, call)
      .then(async (reservation) => {
        if (action.leaves) reservation.settle(NOTHING_SENT);
        await reservation.decided;
        return reservation;
      }).catch((error: unknown) => {
        assert.ok(error instanceof ApiError);
        return error;
      });
    await process.opened.flush();
    const outcome = await decision;
    if (wasFaulty) {
      assert.ok(outcome instanceof ApiError);
      assert.equal(outcome.kind, "unavailable");
      this.failed.add(call.requestId);
      return;
    }
    this.applyWritten(process);
    const covered = this.available(balanceKey) >= call.reservedMicroUsd;
    if (outcome instanceof ApiError) {
      assert.equal(outcome.details.code, "insufficient_balance");
      assert.equal(covered, false);
      return;
    }
    assert.equal(covered, true);
    const granted: GrantedCall = {
      open: call,
      reservation: outcome,
      process,
      balanceKey,
    };
    this.open.set(call.requestId, granted);
    if (action.leaves) {
      granted.cost = 0;
      process.pending.set(call.requestId, granted);
      await this.flush(process);
    }
  }

  settle(which: number, part: number): void {
    const running = [...this.open.values(), ...this.lost.values()].filter(
      (call) => call.cost === undefined,
    );
    const call = running[which % Math.max(1, running.length)];
    if (call === undefined) return;
    const { open, reservation, process } = call;
    const output = Math.floor(open.maxOutputTokens * part / 100);
    call.cost = open.inputTokens + 2 * output;
    reservation.settle({
      usage: { input: open.inputTokens, output },
      generatedChars: Math.min(output, 1),
      ended: "complete",
    });
    process.pending.set(open.requestId, call);
    this.settled.push(call);
  }

  /** Repeats a settlement, through the service and directly in the ledger. */
  async settleAgain(which: number): Promise<void> {
    const call = this.settled[which % Math.max(1, this.settled.length)];
    if (call === undefined) return;
    const outcome = {
      usage: { input: 999, output: 999 },
      generatedChars: 1,
      ended: "complete",
    } as const;
    call.reservation.settle(outcome);
    const { requestId } = call.open;
    if (!this.costs.has(requestId) || this.lost.has(requestId)) return;
    if (call.isUncorrected === true) return;
    const results = await this.store.write((sql) =>
      applyEvents(sql, this.store.dialect, [{
        type: "settle",
        call: call.open,
        charge: chargeFor(call.open, outcome),
        atMs: this.clock.ms,
      }])
    );
    assert.deepEqual(results.map(({ type }) => type), ["duplicate"]);
  }

  /** Kills a process with its unwritten settlements; its successor settles the calls. */
  async crash(index: number): Promise<void> {
    const dead = this.process(index);
    dead.store.die();
    this.processes[index] = await this.startProcess();
    await this.expectSettled(dead);
    // No process corrects these estimates any more.
    for (const [id, call] of this.lost) {
      if (call.process !== dead) continue;
      this.lost.delete(id);
      call.isUncorrected = true;
    }
  }

  /** Cuts a process off from the store; the calls that it has not settled are charged as lost. */
  async cut(index: number): Promise<void> {
    const process = this.process(index);
    if (process.isCut) return;
    process.isCut = true;
    process.store.setDown(true);
    process.store.die();
    const recover = recovery({
      store: this.#view(),
      leaseId: "observer",
      onSettled() {},
      onLocked: (error) => assert.fail(String(error)),
    });
    await recover(this.clock.ms);
    await this.expectSettled(process);
  }

  async heal(index: number): Promise<void> {
    const process = this.process(index);
    if (!process.isCut) return;
    process.isCut = false;
    process.store.setDown(false);
    this.clock.ms += 10_000;
    await this.flush(process);
  }

  /** Another process has settled the open calls of this one. */
  async expectSettled(process: Process): Promise<void> {
    const entries = await this.entries();
    for (const [id, call] of this.open) {
      if (call.process !== process) continue;
      const entry = entries.get(id);
      assert.ok(entry !== undefined, `${id} was lost`);
      const cost = 0 - entry.microUsd;
      if (entry.ended === "lost") {
        assert.ok(cost >= 0 && cost <= call.open.reservedMicroUsd);
        assert.equal(entry.estimated, true);
        call.lostCost = cost;
        this.lost.set(id, call);
      } else {
        assert.equal(cost, call.cost);
        process.pending.delete(id);
      }
      this.open.delete(id);
      this.costs.set(id, cost);
      this.add(call.balanceKey, -cost);
    }
    for (const id of this.failed) {
      const entry = entries.get(id);
      if (entry === undefined || this.costs.has(id)) continue;
      assert.equal(entry.ended, "lost");
      const cost = 0 - entry.microUsd;
      const index = this.accountIds.indexOf(entry.accountId);
      const balanceKey = entry.balanceModel === undefined
        ? `${index}`
        : `${index} ${entry.balanceModel}`;
      this.costs.set(id, cost);
      this.add(balanceKey, -cost);
      process.lostRefusals.set(id, { cost, balanceKey });
    }
  }

  async topUp(action: LedgerAction & { do: "top up" }): Promise<void> {
    // Through a process whose store does not fail, like the command line's own.
    const process = this.processes.find(({ isFaulty, isCut }) =>
      !isFaulty && !isCut
    );
    if (process === undefined) return;
    await process.opened.admin.accounts.topUp(
      this.accountIds[action.account] ?? "",
      {
        microUsd: action.microUsd,
        ...(action.ownBalance ? { model: "small" } : {}),
      },
    );
    this.add(
      action.ownBalance ? `${action.account} small` : `${action.account}`,
      action.microUsd,
    );
  }

  /** Performs an action. Fails if its result is not the expected one. */
  async perform(action: LedgerAction): Promise<void> {
    switch (action.do) {
      case "reserve":
        await this.reserve(action);
        // Repaired at once: until then the model does not know whether the write was committed.
        if (this.process(action.process).isFaulty) {
          await this.flush(this.process(action.process));
        }
        return;
      case "cut":
        return await this.cut(action.process);
      case "cut reserving": {
        const process = this.process(action.process);
        if (process.isCut) return;
        process.store.failNext(action.when);
        process.isFaulty = true;
        await this.reserve(action);
        return await this.cut(action.process);
      }
      case "heal":
        return await this.heal(action.process);
      case "die reserving":
        this.process(action.process).store.failNext(action.when);
        this.process(action.process).isFaulty = true;
        await this.reserve(action);
        return await this.crash(action.process);
      case "settle":
        return this.settle(action.which, action.part);
      case "settle again":
        return await this.settleAgain(action.which);
      case "flush":
        return await this.flush(this.process(action.process));
      case "fault": {
        const process = this.process(action.process);
        process.store.failNext(action.when);
        process.isFaulty = true;
        return;
      }
      case "crash":
        return await this.crash(action.process);
      case "top up":
        return await this.topUp(action);
      case "wait":
        this.clock.ms += action.ms;
        return;
    }
  }

  async entries(): Promise<ReadonlyMap<string, LedgerEntry>> {
    const all = (await Array.fromAsync(this.admin.allLedger({}))).flat();
    assert.equal(new Set(all.map((one) => one.requestId)).size, all.length);
    const charges = all.filter(({ kind }) => kind === "charge");
    return new Map(
      withCorrections(charges).map((entry) => [entry.requestId, entry]),
    );
  }

  /** Fails if the ledger is inconsistent. */
  async check(): Promise<void> {
    assert.deepEqual(await audit(this.store), []);
    for (const [index, id] of this.accountIds.entries()) {
      const { modelBalances, ...account } = await this.admin.accounts.get(id);
      for (const held of [account, ...modelBalances]) {
        const key = "model" in held ? `${index} ${held.model}` : `${index}`;
        assert.ok(
          held.balanceMicroUsd >= held.reservedMicroUsd ||
            this.overdrawable.has(key),
        );
      }
    }
  }

  /** Settles all active calls and compares every entry and balance. */
  async finish(): Promise<void> {
    const ongoing = () => [...this.open.values(), ...this.lost.values()];
    while (ongoing().some((call) => call.cost === undefined)) {
      this.settle(0, 100);
    }
    for (const index of this.processes.keys()) await this.heal(index);
    for (const process of this.processes) await this.flush(process);
    await this.check();
    const entries = await this.entries();
    assert.deepEqual(
      new Map([...entries].map(([id, { microUsd }]) => [id, 0 - microUsd])),
      new Map([...this.costs].map(([id, cost]) => [id, cost])),
    );
    for (const [index, id] of this.accountIds.entries()) {
      const kept = await this.admin.accounts.get(id);
      assert.equal(kept.balanceMicroUsd, this.balances.get(`${index}`) ?? 0);
      assert.equal(kept.reservedMicroUsd, 0);
    }
    await checkKeyUse(this.store);
  }
}
