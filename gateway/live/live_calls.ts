/**
 * The live list and the reports behind it: writes to the store what this process is doing, reads
 * the reports of the others while a page shows the list, and streams it to the pages. Its cost per
 * second is bounded; a call costs a few counters. While the store does not reply, the list has the
 * calls of this process only.
 */
import { parseJson } from "../../translate/bytes/json.ts";
import type { AccountScope } from "../admin/account_scope.ts";
import type { CallRecord } from "../accounts/calls/call_record.ts";
import type {
  ProcessReport,
  ProcessReports,
  ReportPart,
} from "../accounts/reports/process_reports.ts";
import type { Timer } from "../accounts/timer.ts";
import { EndedCalls } from "./ended_calls.ts";
import {
  type CallsOfProcess,
  type LivePicture,
  livePicture,
} from "./live_picture.ts";
import { PROCESS_CALLS, type ProcessCalls } from "./live_call.ts";
import {
  PROCESS_STATE,
  type ProcessState,
  shortState,
} from "./process_state.ts";
import { underWaySample, type UnderWaySource } from "./under_way_sample.ts";
import { type ViewerOptions, Viewers } from "./viewers.ts";

/** What the live list works with. */
interface LiveCallsOptions {
  /** The reports of the processes on the store; absent: this process alone. */
  readonly reports?: ProcessReports;
  /** The calls under way, in the order of their beginning. */
  readonly underWay: () => Iterable<UnderWaySource>;
  readonly state: () => ProcessState;
  /** Changes whenever a breaker, a pause or a credential does. */
  readonly health: () => string;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  readonly timer: Timer;
}

/** The state of a process, and how old its report is. */
export interface KnownProcess {
  readonly processId: string;
  readonly isOwn: boolean;
  readonly reportedAtMs: number;
  readonly ageMs: number;
  readonly state: ProcessState;
}

export interface KnownProcesses {
  /** False: the store does not answer, and only this process is known. */
  readonly complete: boolean;
  /** This process first. */
  readonly data: readonly KnownProcess[];
}

/** Between two reports, and between two pictures: a page shows a change within two seconds. */
const TURN_MS = 750;
const STATE_MS = 5000;
/** Calls in an older report are no longer under way, or nothing is known of them. */
const CALLS_MAX_AGE_MS = 10_000;
/** A process that has been silent for longer has ended. */
const STATE_MAX_AGE_MS = 60_000;
/** How long a page waits for the store. */
const READ_MS = 1000;

export class LiveCalls {
  readonly #options: LiveCallsOptions;
  readonly #ended = new EndedCalls();
  readonly #viewers: Viewers;
  #cancel: () => void = () => {};
  #isClosed = false;
  #writing: Promise<void> | undefined;
  #wroteCalls = false;
  #health = "";
  #stateAtMs = 0;
  #purgedAtMs = 0;
  #isSending = false;

  /** Starts reporting. */
  constructor(options: LiveCallsOptions) {
    this.#options = options;
    this.#viewers = new Viewers(options.now);
    this.#schedule();
  }

  /** Adds a call that has ended. Takes constant time. */
  record(record: CallRecord): void {
    this.#ended.add(record);
  }

  /** The calls that a viewer may see now. */
  async look(scope: Partial<AccountScope>): Promise<LivePicture> {
    const { all, complete } = await this.#all();
    return livePicture(all, scope, new Map(), {
      atMs: this.#options.now(),
      complete,
    });
  }

  /**
   * An event stream with a picture in every turn.
   *
   * @throws {ApiError} `rate_limit` if too many are open
   */
  watch(options: ViewerOptions): ReadableStream<Uint8Array> {
    const stream = this.#viewers.open(options);
    void this.#send();
    return stream;
  }

  async processes(): Promise<KnownProcesses> {
    const { reports, state, now } = this.#options;
    const others = await this.#others("state");
    const nowMs = now();
    const data: KnownProcess[] = [{
      processId: reports?.processId ?? "process",
      isOwn: true,
      reportedAtMs: nowMs,
      ageMs: 0,
      state: state(),
    }];
    for (const { processId, atMs, body } of others ?? []) {
      const parsed = PROCESS_STATE.safeParse(parseJson(body));
      if (!parsed.success || nowMs - atMs > STATE_MAX_AGE_MS) continue;
      data.push({
        processId,
        isOwn: false,
        reportedAtMs: atMs,
        ageMs: Math.max(0, nowMs - atMs),
        state: parsed.data,
      });
    }
    return { complete: others !== undefined, data };
  }

  endViewers(): void {
    this.#viewers.endAll();
  }

  /** Stops, and removes this process's reports. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    this.endViewers();
    await this.#writing;
    // A store that is down keeps them; other processes remove them.
    await this.#options.reports?.remove().catch(() => {});
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#cancel = this.#options.timer(TURN_MS, () => {
      this.#schedule();
      this.#turn();
    });
  }

  #turn(): void {
    this.#ended.nextTurn();
    if (this.#writing === undefined) {
      this.#writing = this.#report().catch(() => {})
        .finally(() => this.#writing = undefined);
    }
    if (this.#viewers.count > 0) void this.#send();
  }

  /** Writes what has changed. Does not report outages of the store: the ledger's writer does. */
  async #report(): Promise<void> {
    const { reports, now, health, state } = this.#options;
    if (reports === undefined) return;
    const nowMs = now();
    const calls = this.#own(nowMs);
    const hasCalls = calls.underWay.total > 0 || calls.ended.length > 0;
    if (hasCalls || this.#wroteCalls) {
      await reports.put("calls", nowMs, JSON.stringify(calls));
      this.#wroteCalls = hasCalls;
    }
    const healthNow = health();
    if (healthNow !== this.#health || nowMs - this.#stateAtMs >= STATE_MS) {
      const body = JSON.stringify(shortState(state()));
      await reports.put("state", nowMs, body);
      this.#health = healthNow;
      this.#stateAtMs = nowMs;
    }
    if (nowMs - this.#purgedAtMs >= STATE_MAX_AGE_MS) {
      await reports.purge(nowMs - STATE_MAX_AGE_MS);
      this.#purgedAtMs = nowMs;
    }
  }

  #own(nowMs: number): ProcessCalls {
    return {
      underWay: underWaySample(this.#options.underWay(), nowMs),
      ended: this.#ended.recent(),
    };
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      const { all, complete } = await this.#all();
      const about = { atMs: this.#options.now(), complete };
      await this.#viewers.send((scope, seen) =>
        livePicture(all, scope, seen, about)
      );
    } finally {
      this.#isSending = false;
    }
  }

  async #all(): Promise<
    { readonly all: readonly CallsOfProcess[]; readonly complete: boolean }
  > {
    const others = await this.#others("calls");
    const nowMs = this.#options.now();
    const all: CallsOfProcess[] = [{
      processId: this.#options.reports?.processId ?? "process",
      calls: this.#own(nowMs),
    }];
    for (const { processId, atMs, body } of others ?? []) {
      if (nowMs - atMs > CALLS_MAX_AGE_MS) continue;
      const parsed = PROCESS_CALLS.safeParse(parseJson(body));
      if (parsed.success) all.push({ processId, calls: parsed.data });
    }
    return { all, complete: others !== undefined };
  }

  /** The reports of other processes; undefined if the store does not answer soon. */
  async #others(
    part: ReportPart,
  ): Promise<readonly ProcessReport[] | undefined> {
    const { reports, timer } = this.#options;
    if (reports === undefined) return [];
    const late = Promise.withResolvers<undefined>();
    const cancel = timer(READ_MS, () => late.resolve(undefined));
    try {
      return await Promise.race([reports.others(part), late.promise]);
    } catch {
      return undefined;
    } finally {
      cancel();
    }
  }
}
