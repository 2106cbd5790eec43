/**
 * Between the requests and the books: gathers events and enters many with one write (group commit), because what costs is the
 * disk's "it is safe now", not the rows.
 *
 * When is what durable?
 *
 * - *Reservations before replies.* A call whose answer depends on the books (a balance, a limit) waits for its batch, a write
 *   shared with whatever else is waiting, which decides it; that the disk has the write is waited for while the upstream is being
 *   called. A call that cannot be refused (no balance, no limit) does not wait for either. The pipeline looks at `written`
 *   before the first byte goes to the caller. Either way a caller never holds a byte of a reply whose reservation a `kill -9` could
 *   erase; so every reply is in the ledger, or in `reservations`, where the next start finds it.
 * - *Settlements after replies.* Nobody waits for them. Until theirs is written, the reservation stands for them; when the
 *   process dies in between, the call is settled as estimated. They are told apart from a second telling by the request's id.
 * - *A failed write leaves open what happened*: it may have been carried out and only the answer lost. Settlements simply come
 *   again. A reservation that somebody waits for is refused as `unavailable` and then taken back in the books, in case it is there.
 *   One that nobody waited for is closed by its own settlement.
 *
 * While the store is down, calls are refused without asking it, so what is owed is at most what was under way; it is kept and
 * tried again until it is written. A failure may also be one event's own fault: tries begin with a single event, and one that
 * fails goes to the back, so that it holds nobody up.
 *
 * @module
 */
import { ApiError } from "../../translate/error.ts";
import type { BookEvent, Verdict } from "./books.ts";
import { startTimer, type Timer } from "./timer.ts";

/** What the journal works with. */
export interface JournalOptions {
  /** Enters events as one write: all or none. */
  readonly enter: (events: readonly BookEvent[]) => Promise<Entered>;
  /** The clock. */
  readonly now: () => number;
  /** Absent: the platform's own. */
  readonly timer?: Timer;
  /** Told when the store stops answering, and when it answers again. */
  readonly onState?: (up: boolean, error?: unknown) => void;
}

/** Events that are in the books. */
export interface Entered {
  /** One for each event, in their order. */
  readonly verdicts: readonly Verdict[];
  /** See {@linkcode Committed.durable}. */
  readonly durable: Promise<void>;
}

/** What became of a reservation. */
export interface Answer {
  /** It is in the books, and seen by everybody. */
  readonly verdict: Verdict;
  /**
   * Resolves once it would survive.
   *
   * @throws {ApiError} `unavailable` where that could not be made sure
   */
  readonly durable: Promise<void>;
}

/** Gathers events and has them entered. */
export interface Journal {
  /**
   * Enters a reservation.
   *
   * @throws {ApiError} `unavailable` when it could not be written
   */
  reserve(event: BookEvent & { readonly type: "reserve" }): Promise<Answer>;
  /** Enters an event that nobody waits for. Kept and tried again until it is written. */
  owe(event: BookEvent): void;
  /**
   * Fails while it is known that the store would.
   *
   * @throws {ApiError} `unavailable` while the store is known to be down
   */
  refuseIfDown(): void;
  /** Whether the last write went through. */
  isUp(): boolean;
  /** Events that are not written yet. */
  backlog(): number;
  /** Tries now what is owed, or an empty write. Whether the store answered. */
  probe(): Promise<boolean>;
  /** Writes now what is still to be written. Gives up when the store does not answer; it is tried again later. */
  flush(): Promise<void>;
  /** Writes what is still to be written, for at most so long; what is left then, the next start finds. */
  close(deadlineMs: number): Promise<void>;
}

const MAX_EVENTS = 100;
/** The least time from one write's beginning to the next: what comes in it shares one. After a longer rest a write is made at once. */
const MIN_GAP_MS = 2;
const MAX_WAIT_MS = 10;
/** More calls than this waiting for their answer is more than any store will catch up with. */
const MAX_WAITING = 10_000;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 2000;

interface Entry {
  readonly event: BookEvent;
  readonly answer?: PromiseWithResolvers<Answer>;
}

/** Opens a journal. */
export function openJournal(options: JournalOptions): Journal {
  const { enter, now } = options;
  const timer = options.timer ?? startTimer;
  let queue: Entry[] = [];
  let writing: Promise<void> | undefined;
  let due: { readonly atMs: number; readonly cancel: () => void } | undefined;
  let batchSize = MAX_EVENTS;
  /** When the last write began. */
  let beganMs = -Infinity;
  let lastDurable: Promise<void> = Promise.resolve();
  let down: { retryMs: number; untilMs: number } | undefined;
  let closed = false;

  /** A write that somebody waits for comes soon, at once where the last one is a while ago; others wait for company. */
  const schedule = (): void => {
    if (writing !== undefined || queue.length === 0 || closed) return;
    const waitMs = down !== undefined
      ? Math.max(0, down.untilMs - now())
      : queue.length >= MAX_EVENTS
      ? 0
      : queue.some((entry) => entry.answer !== undefined)
      ? Math.max(0, beganMs + MIN_GAP_MS - now())
      : MAX_WAIT_MS;
    const atMs = now() + waitMs;
    if (due !== undefined && due.atMs <= atMs) return;
    due?.cancel();
    due = { atMs, cancel: timer(waitMs, () => void write()) };
  };

  const write = (): Promise<void> => {
    due?.cancel();
    due = undefined;
    writing ??= writeBatch().finally(() => {
      writing = undefined;
      schedule();
    });
    return writing;
  };

  const writeBatch = async (): Promise<void> => {
    beganMs = now();
    const batch = queue.slice(0, batchSize);
    queue = queue.slice(batch.length);
    let entered: Entered;
    try {
      entered = await enter(batch.map((entry) => entry.event));
    } catch (error) {
      fail(batch, error);
      return;
    }
    batchSize = Math.min(MAX_EVENTS, batchSize * 2);
    if (down !== undefined) {
      down = undefined;
      options.onState?.(true);
    }
    const durable = survived(batch, entered.durable);
    for (const [index, entry] of batch.entries()) {
      const verdict = entered.verdicts[index];
      if (verdict === undefined) {
        entry.answer?.reject(new Error("the books gave no verdict"));
      } else entry.answer?.resolve({ verdict, durable });
    }
  };

  /** Where the disk fails, what is owed is told again, though it is in the books: then it is tried again until it survives. */
  const survived = (
    batch: readonly Entry[],
    durable: Promise<void>,
  ): Promise<void> => {
    const done = durable.catch((error) => {
      const owed = batch.filter((entry) => entry.answer === undefined);
      const refusal = fail(owed, error);
      schedule();
      throw refusal;
    });
    // Who waits for it looks at it; others need not.
    done.catch(() => {});
    lastDurable = done;
    return done;
  };

  const fail = (batch: readonly Entry[], error: unknown): ApiError => {
    const retryMs = Math.min(
      MAX_RETRY_MS,
      down === undefined ? FIRST_RETRY_MS : down.retryMs * 2,
    );
    const wasUp = down === undefined;
    down = { retryMs, untilMs: now() + retryMs };
    batchSize = 1;
    const waiting = queue.filter((entry) => entry.answer !== undefined);
    queue = queue.filter((entry) => entry.answer === undefined);
    for (const { event, answer } of batch) {
      if (answer === undefined) queue.push({ event });
      else if (event.type === "reserve") {
        queue.push({ event: { type: "void", call: event.call, atMs: now() } });
      }
    }
    for (const entry of [...batch, ...waiting]) {
      entry.answer?.reject(unavailable(retryMs, error));
    }
    if (wasUp) options.onState?.(false, error);
    return unavailable(retryMs, error);
  };

  const push = (entry: Entry): void => {
    queue.push(entry);
    schedule();
  };

  return {
    reserve(event) {
      if (queue.length >= MAX_WAITING || closed) {
        return Promise.reject(unavailable(MAX_RETRY_MS));
      }
      const answer = Promise.withResolvers<Answer>();
      push({ event, answer });
      return answer.promise;
    },
    owe: (event) => push({ event }),
    refuseIfDown() {
      if (down !== undefined && now() < down.untilMs) {
        throw unavailable(down.untilMs - now());
      }
    },
    isUp: () => down === undefined,
    backlog: () => queue.length,
    async probe() {
      await write();
      return down === undefined;
    },
    async flush() {
      while (writing !== undefined || queue.length > 0) {
        await write();
        if (down !== undefined) return;
      }
      await lastDurable.catch(() => {});
    },
    async close(deadlineMs) {
      const endMs = now() + deadlineMs;
      while ((writing !== undefined || queue.length > 0) && now() <= endMs) {
        await write();
        if (down !== undefined) {
          await new Promise<void>((resolve) =>
            timer(Math.min(down?.retryMs ?? 0, deadlineMs), resolve)
          );
        }
      }
      await lastDurable.catch(() => {});
      closed = true;
      due?.cancel();
      due = undefined;
    },
  };
}

/** The answer while the store cannot be asked. */
export function unavailable(waitMs: number, cause?: unknown): ApiError {
  const error = new ApiError(
    "unavailable",
    "the accounts cannot be reached at the moment: try again",
    { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
  );
  error.cause = cause;
  return error;
}
