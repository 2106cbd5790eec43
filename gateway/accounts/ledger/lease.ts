/**
 * The heartbeat: renews this process's lease, and settles the calls of processes whose
 * lease expired.
 */
import { recovery } from "./recovery.ts";
import type { Store } from "../store/store.ts";
import type { Timer } from "../timer.ts";

interface LeaseOptions {
  /** The store with the leases. */
  readonly store: Store;
  /** Lease id of this process. */
  readonly leaseId: string;
  /** Current Unix time in milliseconds. */
  readonly now: () => number;
  readonly timer: Timer;
  /** Interval between heartbeats, in milliseconds. */
  readonly heartbeatMs: number;
  readonly onRenewed: () => void;
  /**
   * Called with the number of calls settled for dead processes, even if the heartbeat then fails.
   */
  readonly onRecovered: (calls: number) => void;
  /** Called when a heartbeat failed. The next one runs all the same. */
  readonly onFailed: (error: unknown) => void;
}

/** Interval after a failed heartbeat, in milliseconds. */
const RETRY_MS = 1000;
/** Interval between renewals while calls are being settled, in milliseconds. */
const RENEW_MS = 2000;

/** A running heartbeat. */
interface Lease {
  /**
   * Stops the heartbeat. Removes the lease, unless this process has open reservations for
   * others to settle.
   */
  release(): Promise<void>;
}

/**
 * Starts the heartbeat. Calls of dead processes are settled before it resolves.
 *
 * @throws {Error} when the store does not answer
 */
export async function startHeartbeat(options: LeaseOptions): Promise<Lease> {
  const { store, leaseId, now } = options;
  const recover = recovery({
    store,
    leaseId,
    onSettled: options.onRecovered,
    onLocked: options.onFailed,
  });
  let cancel: () => void = () => {};
  let running: Promise<void> = Promise.resolve();
  let ended = false;
  /** Renews the lease while calls are settled: many take longer than a lease lasts. */
  const renewDuring = async (work: Promise<void>): Promise<void> => {
    let isDone = false;
    let cancelNext: () => void = () => {};
    let renewal: Promise<void> = Promise.resolve();
    const scheduleRenewal = (): void => {
      if (isDone) return;
      cancelNext = options.timer(RENEW_MS, () => {
        // A store that does not answer fails the work, too.
        renewal = store.leases.renew(leaseId).catch(() => {}).then(
          scheduleRenewal,
        );
      });
    };
    scheduleRenewal();
    try {
      await work;
    } finally {
      isDone = true;
      cancelNext();
      await renewal;
    }
  };
  const heartbeat = async (): Promise<void> => {
    await store.leases.renew(leaseId);
    options.onRenewed();
    await renewDuring(recover(now()));
  };
  const scheduleNext = (waitMs: number): void => {
    if (ended) return;
    cancel = options.timer(waitMs, () => {
      running = heartbeat().then(
        () => scheduleNext(options.heartbeatMs),
        (error) => {
          options.onFailed(error);
          // Soon after an outage, before another process considers this lease expired.
          scheduleNext(Math.min(options.heartbeatMs, RETRY_MS));
        },
      );
    });
  };
  await store.leases.register(leaseId);
  await heartbeat();
  scheduleNext(options.heartbeatMs);
  return {
    async release() {
      ended = true;
      cancel();
      await running;
      try {
        const open = await store.read(
          "SELECT request_id FROM open_calls WHERE owner_id = $1 LIMIT 1",
          [leaseId],
        );
        if (open.length === 0) await store.leases.remove(leaseId);
      } catch (error) {
        options.onFailed(error);
      }
    },
  };
}
