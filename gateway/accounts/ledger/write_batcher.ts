/**
 * Group commit for ledger events: gathers them and applies many in one write, because a
 * write's cost is waiting for the disk, not the number of rows.
 *
 * Durability:
 *
 * - *Reservations before replies.* A call that admission may well refuse waits for its batch
 *   to be decided. The disk is awaited while the upstream is called. A call that admission
 *   will probably grant (`foresight.ts`), or cannot refuse, waits for neither; its
 *   reservation gathers with other events until something of the reply is there. The
 *   pipeline awaits the reservation before it sends the client the first byte. So no client
 *   receives a byte of a reply whose reservation a `kill -9` could erase: every reply is in
 *   the ledger, or in `open_calls`, where the next start finds it.
 * - *Settlements after replies.* They are written in the background. Until then the
 *   reservation covers the call; if the process dies in between, the call is settled as
 *   estimated. The request id makes a repeated settlement harmless.
 * - *A failed write has an unknown outcome*: it may have been committed and only the answer
 *   lost. Settlements are repeated. A reservation that a client waits for is refused as
 *   `unavailable` and then undone in the store, in case it is there. A reservation without
 *   a waiting client is closed by its own settlement.
 *
 * Where the store writes accounts beside each other, events have lanes, one for each account: a
 * lane's events are written in order, one write after another, and a write takes those of many
 * lanes. What a write leaves out, because another process has the lane's lock, goes into later
 * ones, and after some into one of its own, which waits for the lock.
 *
 * While the store is down, calls are refused without trying it, so the queue holds at most
 * the events of active calls; they are retried until they are written. Because a single
 * event may be at fault, the first retry writes one event alone, and an event that fails
 * moves to the end of the queue. A failure that concerns one lane leaves the others as they are.
 */
import { ApiError } from "../../../translate/model/error.ts";
import type { EventResult, LedgerEvent } from "./events.ts";
import { startTimer, type Timer } from "../timer.ts";

interface WriteBatcherOptions {
  /**
   * Applies events as one write: all or none, except for those of lanes that cannot be written now.
   * A write of one lane applies all of its events.
   */
  readonly apply: (events: readonly LedgerEvent[]) => Promise<WrittenBatch>;
  /** Current Unix time in milliseconds. */
  readonly now: () => number;
  /** Absent: the platform's timer. */
  readonly timer?: Timer;
  /** Name of the lane of an event; absent: there is one lane. */
  readonly laneOf?: (event: LedgerEvent) => string;
  /** Writes at a time; absent: one. */
  readonly most?: number;
  /** Whether a failed write concerns its lane only; absent: it never does. */
  readonly isOfLane?: (error: unknown) => boolean;
  /** Called when the store stops answering, and when it answers again. */
  readonly onState?: (up: boolean, error?: unknown) => void;
}

/** A committed batch. */
export interface WrittenBatch {
  /** One result per event, in order; undefined: its lane could not be written now. */
  readonly results: readonly (EventResult | undefined)[];
  /** See {@linkcode Committed.durable}. */
  readonly durable: Promise<void>;
}

export interface ReserveResult {
  /** Committed and visible to all processes. */
  readonly result: EventResult;
  /**
   * Resolves once the write survives a crash.
   *
   * @throws {ApiError} `unavailable` if that failed
   */
  readonly durable: Promise<void>;
}

interface QueuedReservation {
  /**
   * Its result, once it is written.
   *
   * @throws {ApiError} `unavailable` if it could not be written
   */
  readonly result: Promise<ReserveResult>;
  /** Ends the wait for other events: a client waits for this one. */
  hurry(): void;
}

/** Queues events and writes them in batches. */
export interface WriteBatcher {
  /** Queues a reservation. */
  reserve(
    event: LedgerEvent & { readonly type: "reserve" },
  ): QueuedReservation;
  /** Queues an event without waiting. It is retried until it is written. */
  enqueue(event: LedgerEvent): void;
  /**
   * Fails fast while the store, or the lane, is known to be down.
   *
   * @throws {ApiError} `unavailable` while it is known to be down
   */
  assertAvailable(lane?: string): void;
  /** Whether the last write succeeded. */
  isUp(): boolean;
  /** Number of events that are not written yet. */
  backlog(): number;
  /** Writes a batch now, empty if nothing is queued. Resolves to whether the store answered. */
  probe(): Promise<boolean>;
  /** Writes all queued events now. Stops at the first failure; the rest is retried later. */
  flush(): Promise<void>;
  /** Writes all queued events, for at most `deadlineMs`. The next start recovers what is left. */
  close(deadlineMs: number): Promise<void>;
}

const MAX_EVENTS = 100;
/**
 * Minimum interval between the starts of two writes: events within it share one. After a
 * longer pause a write starts at once.
 */
const MIN_GAP_MS = 2;
const MAX_WAIT_MS = 10;
/** Length of the queue above which reservations are refused. */
const MAX_WAITING = 10_000;
const FIRST_RETRY_MS = 100;
/** Short, so that service resumes soon after the store is back. */
const MAX_RETRY_MS = 500;

/** After so many writes that left a lane out, one waits for it alone. */
const MAX_LEFT_OUT = 3;

interface QueuedEvent {
  readonly event: LedgerEvent;
  readonly lane: string;
  /** Settles with the outcome of a reservation; absent for other events. */
  readonly waiter?: PromiseWithResolvers<ReserveResult>;
  /** Whether a client waits for it. */
  isAwaited: boolean;
}

/** How long nothing is written after a failure. */
interface Pause {
  readonly sinceMs: number;
  readonly retryMs: number;
  readonly untilMs: number;
}

export function writeBatcher(options: WriteBatcherOptions): WriteBatcher {
  const {
    apply,
    now,
    laneOf = () => "",
    most = 1,
    isOfLane = () => false,
  } = options;
  const timer = options.timer ?? startTimer;
  let queue: QueuedEvent[] = [];
  const underWay = new Set<Promise<void>>();
  /** Lanes with a write under way. */
  const busy = new Set<string>();
  /** How many writes have left a lane out. */
  const leftOut = new Map<string, number>();
  /** Lanes that failed alone. */
  const pauses = new Map<string, Pause>();
  let scheduled:
    | { readonly atMs: number; readonly cancel: () => void }
    | undefined;
  let batchSize = MAX_EVENTS;
  /** Start time of the last write. */
  let startedAtMs = -Infinity;
  /** Duration of the last write that ended. */
  let tookMs = 0;
  let lastDurable: Promise<void> = Promise.resolve();
  let outage: Pause | undefined;
  let closed = false;

  /** When a lane may be written. */
  const startOf = (lane: string): number =>
    busy.has(lane) ? Infinity : pauses.get(lane)?.untilMs ?? -Infinity;

  /**
   * Schedules the next write: soon if a client waits for it, otherwise after a delay that
   * lets events gather.
   */
  const schedule = (): void => {
    if (closed || underWay.size >= (outage === undefined ? most : 1)) return;
    const nowMs = now();
    let count = 0;
    let isAwaited = false;
    let pausedUntilMs = Infinity;
    for (const entry of queue) {
      const startMs = startOf(entry.lane);
      if (startMs > nowMs) pausedUntilMs = Math.min(pausedUntilMs, startMs);
      else {
        count++;
        isAwaited ||= entry.isAwaited;
        if (isAwaited || count >= MAX_EVENTS) break;
      }
    }
    if (count === 0 && pausedUntilMs === Infinity) return;
    // Writes that run beside each other are spread, so that each has many events.
    const gapMs = Math.max(MIN_GAP_MS, underWay.size > 0 ? tookMs / most : 0);
    const waitMs = outage !== undefined
      ? Math.max(0, outage.untilMs - nowMs)
      : count === 0
      ? pausedUntilMs - nowMs
      : count >= MAX_EVENTS
      ? 0
      : isAwaited
      ? Math.max(0, startedAtMs + gapMs - nowMs)
      : MAX_WAIT_MS;
    const atMs = nowMs + waitMs;
    if (scheduled !== undefined && scheduled.atMs <= atMs) return;
    scheduled?.cancel();
    scheduled = { atMs, cancel: timer(waitMs, () => void write()) };
  };

  const write = (): Promise<void> => {
    scheduled?.cancel();
    scheduled = undefined;
    startedAtMs = now();
    const batch = take(startedAtMs);
    for (const { lane } of batch) busy.add(lane);
    const written = writeBatch(batch, startedAtMs).finally(() => {
      underWay.delete(written);
      for (const { lane } of batch) busy.delete(lane);
      schedule();
    });
    underWay.add(written);
    schedule();
    return written;
  };

  /** Takes the first events whose lanes may be written. */
  const take = (nowMs: number): readonly QueuedEvent[] => {
    // Fast path, for nearly every write: no lane is held back.
    if (busy.size + pauses.size + leftOut.size === 0) {
      return queue.splice(0, batchSize);
    }
    const batch: QueuedEvent[] = [];
    const rest: QueuedEvent[] = [];
    let alone: string | undefined;
    for (const [at, entry] of queue.entries()) {
      if (batch.length >= batchSize) {
        rest.push(...queue.slice(at));
        break;
      }
      const { lane } = entry;
      const isReady = startOf(lane) <= nowMs;
      const isAlone = (leftOut.get(lane) ?? 0) >= MAX_LEFT_OUT;
      if (batch.length === 0 && isReady && isAlone) alone = lane;
      const isTaken = isReady &&
        (alone === undefined ? !isAlone : lane === alone);
      (isTaken ? batch : rest).push(entry);
    }
    queue = rest;
    return batch;
  };

  const writeBatch = async (
    batch: readonly QueuedEvent[],
    startMs: number,
  ): Promise<void> => {
    let written: WrittenBatch;
    try {
      written = await apply(batch.map((entry) => entry.event));
    } catch (error) {
      fail(batch, error, startMs, isOfLane(error));
      return;
    }
    tookMs = now() - startMs;
    batchSize = Math.min(MAX_EVENTS, batchSize * 2);
    if (outage !== undefined) {
      outage = undefined;
      options.onState?.(true);
    }
    const durable = whenDurable(batch, written.durable);
    const left: QueuedEvent[] = [];
    const lanes = new Set<string>();
    for (const [index, entry] of batch.entries()) {
      const result = written.results[index];
      if (result === undefined) {
        left.push(entry);
        lanes.add(entry.lane);
      } else {
        entry.waiter?.resolve({ result, durable });
        leftOut.delete(entry.lane);
        pauses.delete(entry.lane);
      }
    }
    queue = [...left, ...queue];
    for (const lane of lanes) leftOut.set(lane, (leftOut.get(lane) ?? 0) + 1);
  };

  /**
   * If the disk fails, settlements are written again although they are committed, until
   * they are durable.
   */
  const whenDurable = (
    batch: readonly QueuedEvent[],
    durable: Promise<void>,
  ): Promise<void> => {
    const done = durable.catch((error) => {
      const settlements = batch.filter((entry) => entry.waiter === undefined);
      const refusal = fail(settlements, error, now(), false);
      schedule();
      throw refusal;
    });
    // Avoids an unhandled rejection if it is never awaited.
    done.catch(() => {});
    lastDurable = done;
    return done;
  };

  const fail = (
    batch: readonly QueuedEvent[],
    error: unknown,
    startMs: number,
    isOfLanes: boolean,
  ): ApiError => {
    const lanes = new Set(isOfLanes ? batch.map(({ lane }) => lane) : []);
    let pause: Pause | undefined;
    if (isOfLanes) {
      for (const lane of lanes) {
        pauses.set(lane, pause = pauseAfter(pauses.get(lane), startMs, now()));
      }
    } else {
      const wasUp = outage === undefined;
      pause = outage = pauseAfter(outage, startMs, now());
      batchSize = 1;
      scheduled?.cancel();
      scheduled = undefined;
      if (wasUp) options.onState?.(false, error);
    }
    const refused = queue.filter(({ waiter, lane }) =>
      waiter !== undefined && (!isOfLanes || lanes.has(lane))
    );
    const gone = new Set(refused);
    queue = queue.filter((entry) => !gone.has(entry));
    for (const entry of batch) {
      const { event, lane, waiter } = entry;
      if (waiter === undefined) queue.push(entry);
      else if (event.type === "reserve") {
        queue.push({
          event: { type: "void", call: event.call, atMs: now() },
          lane,
          isAwaited: false,
        });
      }
    }
    const refusal = unavailable(pause?.retryMs ?? FIRST_RETRY_MS, error);
    for (const { waiter } of [...batch, ...refused]) waiter?.reject(refusal);
    return refusal;
  };

  const push = (entry: QueuedEvent): void => {
    queue.push(entry);
    // The end of the write schedules what waits for it, and one more event does not advance a write
    // that comes in time for it.
    if (
      busy.has(entry.lane) ||
      (scheduled !== undefined && queue.length < MAX_EVENTS &&
        scheduled.atMs - now() <= MAX_WAIT_MS)
    ) return;
    schedule();
  };

  /** Ends when a write has ended: one that is under way, or one of what is queued. */
  const writeNow = (): Promise<void> =>
    underWay.size > 0 ? Promise.race(underWay) : write();

  return {
    reserve(event) {
      const waiter = Promise.withResolvers<ReserveResult>();
      const entry: QueuedEvent = {
        event,
        lane: laneOf(event),
        waiter,
        isAwaited: false,
      };
      if (queue.length >= MAX_WAITING || closed) {
        waiter.reject(unavailable(MAX_RETRY_MS));
      } else push(entry);
      return {
        result: waiter.promise,
        hurry() {
          entry.isAwaited = true;
          if (!busy.has(entry.lane)) schedule();
        },
      };
    },
    enqueue: (event) => push({ event, lane: laneOf(event), isAwaited: false }),
    assertAvailable(lane = "") {
      const pause = outage ?? pauses.get(lane);
      if (pause === undefined) return;
      const isTried = outage === undefined ? busy.has(lane) : underWay.size > 0;
      // A write under way may take until the store's deadline: at most one call waits for it.
      if (isTried || now() < pause.untilMs) {
        throw unavailable(Math.max(pause.retryMs, pause.untilMs - now()));
      }
    },
    isUp: () => outage === undefined,
    backlog: () => queue.length,
    async probe() {
      await writeNow();
      return outage === undefined;
    },
    async flush() {
      while (underWay.size > 0 || queue.length > 0) {
        await writeNow();
        if (outage !== undefined || pauses.size > 0) return;
      }
      await lastDurable.catch(() => {});
    },
    async close(deadlineMs) {
      const endMs = now() + deadlineMs;
      while ((underWay.size > 0 || queue.length > 0) && now() <= endMs) {
        await writeNow();
        if (outage !== undefined || pauses.size > 0) {
          await new Promise<void>((resolve) =>
            timer(
              Math.min(outage?.retryMs ?? FIRST_RETRY_MS, deadlineMs),
              resolve,
            )
          );
        }
      }
      await lastDurable.catch(() => {});
      closed = true;
      scheduled?.cancel();
      scheduled = undefined;
    },
  };
}

function pauseAfter(
  before: Pause | undefined,
  startMs: number,
  nowMs: number,
): Pause {
  // Writes that ran at the same time fail together.
  if (before !== undefined && startMs <= before.sinceMs) return before;
  const retryMs = before === undefined
    ? FIRST_RETRY_MS
    : Math.min(MAX_RETRY_MS, before.retryMs * 2);
  return { sinceMs: nowMs, retryMs, untilMs: nowMs + retryMs };
}

/** The error while the store cannot be reached. */
export function unavailable(waitMs: number, cause?: unknown): ApiError {
  const error = new ApiError(
    "unavailable",
    "the accounts cannot be reached at the moment: try again later",
    { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
  );
  error.cause = cause;
  return error;
}
