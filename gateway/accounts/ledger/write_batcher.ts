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
 *   the ledger, or in `reservations`, where the next start finds it.
 * - *Settlements after replies.* They are written in the background. Until then the
 *   reservation covers the call; if the process dies in between, the call is settled as
 *   estimated. The request id makes a repeated settlement harmless.
 * - *A failed write has an unknown outcome*: it may have been committed and only the answer
 *   lost. Settlements are repeated. A reservation that a client waits for is refused as
 *   `unavailable` and then undone in the store, in case it is there. A reservation without
 *   a waiting client is closed by its own settlement.
 *
 * While the store is down, calls are refused without trying it, so the queue holds at most
 * the events of active calls; they are retried until they are written. Because a single
 * event may be at fault, the first retry writes one event alone, and an event that fails
 * moves to the end of the queue.
 *
 * @module
 */
import { ApiError } from "../../../translate/model/error.ts";
import type { EventResult, LedgerEvent } from "./events.ts";
import { startTimer, type Timer } from "../timer.ts";

/** Options of {@linkcode writeBatcher}. */
export interface WriteBatcherOptions {
  /** Applies events as one write: all or none. */
  readonly apply: (events: readonly LedgerEvent[]) => Promise<WrittenBatch>;
  /** Current Unix time in milliseconds. */
  readonly now: () => number;
  /** Absent: the platform's timer. */
  readonly timer?: Timer;
  /** Called when the store stops answering, and when it answers again. */
  readonly onState?: (up: boolean, error?: unknown) => void;
}

/** A committed batch. */
export interface WrittenBatch {
  /** One result per event, in order. */
  readonly results: readonly EventResult[];
  /** See {@linkcode Committed.durable}. */
  readonly durable: Promise<void>;
}

/** The result of a reservation. */
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

/** A reservation in the queue. */
export interface QueuedReservation {
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
   * Fails fast while the store is known to be down.
   *
   * @throws {ApiError} `unavailable` while the store is known to be down
   */
  assertAvailable(): void;
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

interface QueuedEvent {
  readonly event: LedgerEvent;
  /** Of a reservation. */
  readonly waiter?: PromiseWithResolvers<ReserveResult>;
  /** Whether a client waits for it. */
  isAwaited: boolean;
}

/** Creates a write batcher. */
export function writeBatcher(options: WriteBatcherOptions): WriteBatcher {
  const { apply, now } = options;
  const timer = options.timer ?? startTimer;
  let queue: QueuedEvent[] = [];
  let writing: Promise<void> | undefined;
  let scheduled:
    | { readonly atMs: number; readonly cancel: () => void }
    | undefined;
  let batchSize = MAX_EVENTS;
  /** Start time of the last write. */
  let startedAtMs = -Infinity;
  let lastDurable: Promise<void> = Promise.resolve();
  let outage: { retryMs: number; untilMs: number } | undefined;
  let closed = false;

  /**
   * Schedules the next write: soon if a client waits for it, otherwise after a delay that
   * lets events gather.
   */
  const schedule = (): void => {
    if (writing !== undefined || queue.length === 0 || closed) return;
    const waitMs = outage !== undefined
      ? Math.max(0, outage.untilMs - now())
      : queue.length >= MAX_EVENTS
      ? 0
      : queue.some((entry) => entry.isAwaited)
      ? Math.max(0, startedAtMs + MIN_GAP_MS - now())
      : MAX_WAIT_MS;
    const atMs = now() + waitMs;
    if (scheduled !== undefined && scheduled.atMs <= atMs) return;
    scheduled?.cancel();
    scheduled = { atMs, cancel: timer(waitMs, () => void write()) };
  };

  const write = (): Promise<void> => {
    scheduled?.cancel();
    scheduled = undefined;
    writing ??= writeBatch().finally(() => {
      writing = undefined;
      schedule();
    });
    return writing;
  };

  const writeBatch = async (): Promise<void> => {
    startedAtMs = now();
    const batch = queue.slice(0, batchSize);
    queue = queue.slice(batch.length);
    let written: WrittenBatch;
    try {
      written = await apply(batch.map((entry) => entry.event));
    } catch (error) {
      fail(batch, error);
      return;
    }
    batchSize = Math.min(MAX_EVENTS, batchSize * 2);
    if (outage !== undefined) {
      outage = undefined;
      options.onState?.(true);
    }
    const durable = whenDurable(batch, written.durable);
    for (const [index, entry] of batch.entries()) {
      const result = written.results[index];
      if (result === undefined) {
        entry.waiter?.reject(
          new Error("the ledger returned no result for the event"),
        );
      } else entry.waiter?.resolve({ result, durable });
    }
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
      const refusal = fail(settlements, error);
      schedule();
      throw refusal;
    });
    // Avoids an unhandled rejection if it is never awaited.
    done.catch(() => {});
    lastDurable = done;
    return done;
  };

  const fail = (batch: readonly QueuedEvent[], error: unknown): ApiError => {
    const retryMs = Math.min(
      MAX_RETRY_MS,
      outage === undefined ? FIRST_RETRY_MS : outage.retryMs * 2,
    );
    const wasUp = outage === undefined;
    outage = { retryMs, untilMs: now() + retryMs };
    batchSize = 1;
    const waiting = queue.filter((entry) => entry.waiter !== undefined);
    queue = queue.filter((entry) => entry.waiter === undefined);
    for (const { event, waiter } of batch) {
      if (waiter === undefined) queue.push({ event, isAwaited: false });
      else if (event.type === "reserve") {
        queue.push({
          event: { type: "void", call: event.call, atMs: now() },
          isAwaited: false,
        });
      }
    }
    for (const entry of [...batch, ...waiting]) {
      entry.waiter?.reject(unavailable(retryMs, error));
    }
    if (wasUp) options.onState?.(false, error);
    return unavailable(retryMs, error);
  };

  const push = (entry: QueuedEvent): void => {
    queue.push(entry);
    schedule();
  };

  return {
    reserve(event) {
      const waiter = Promise.withResolvers<ReserveResult>();
      const entry: QueuedEvent = { event, waiter, isAwaited: false };
      if (queue.length >= MAX_WAITING || closed) {
        waiter.reject(unavailable(MAX_RETRY_MS));
      } else push(entry);
      return {
        result: waiter.promise,
        hurry() {
          entry.isAwaited = true;
          schedule();
        },
      };
    },
    enqueue: (event) => push({ event, isAwaited: false }),
    assertAvailable() {
      if (outage === undefined) return;
      // A write under way may take until the store's deadline: at most one call waits for it.
      if (writing !== undefined || now() < outage.untilMs) {
        throw unavailable(Math.max(outage.retryMs, outage.untilMs - now()));
      }
    },
    isUp: () => outage === undefined,
    backlog: () => queue.length,
    async probe() {
      await write();
      return outage === undefined;
    },
    async flush() {
      while (writing !== undefined || queue.length > 0) {
        await write();
        if (outage !== undefined) return;
      }
      await lastDurable.catch(() => {});
    },
    async close(deadlineMs) {
      const endMs = now() + deadlineMs;
      while ((writing !== undefined || queue.length > 0) && now() <= endMs) {
        await write();
        if (outage !== undefined) {
          await new Promise<void>((resolve) =>
            timer(Math.min(outage?.retryMs ?? 0, deadlineMs), resolve)
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
