/**
 * Connections to upstreams: idle ones are used again, otherwise a new one is opened. There is no
 * limit on their number: the limit on concurrent calls is the client's plan.
 *
 * @module
 */
import { setImmediate } from "node:timers";
import type { TimerId, Timers } from "../timers.ts";
import { Connection } from "./connection.ts";
import { dialer, type DialTarget, type Resolve } from "./dial.ts";
import { SystemEvents } from "./system_events.ts";

/** How long an idle connection is kept if the upstream does not report a time of its own. */
const KEEP_ALIVE_MS = 4_000;
/** An idle connection is closed this long before the time that the upstream reports. */
const KEEP_ALIVE_MARGIN_MS = 2_000;
const MAX_KEEP_ALIVE_MS = 600_000;

/**
 * A connection without a write for this long is checked thoroughly before the next one. Below it,
 * the check would cost a busy connection more than the race that is left.
 */
export const CHECK_AFTER_MS = 20;

/** Where a connection leads. */
export type Destination = Omit<DialTarget, "signal"> & {
  /** The same for equal destinations. */
  readonly origin: string;
};

/** The connections of one client. */
export class ConnectionPool {
  readonly #timers: Timers;
  readonly #dial: ReturnType<typeof dialer>;
  readonly #events = new SystemEvents();
  readonly #idle = new Map<string, Connection[]>();
  readonly #idleTimers = new Map<Connection, TimerId>();
  readonly #open = new Set<Connection>();
  readonly #dialing = new Set<AbortController>();
  /** Callbacks for the next turn of the event loop. */
  #nextTurn: (() => void)[] = [];

  /** Opens no connection yet. */
  constructor(timers: Timers, resolve?: Resolve) {
    this.#timers = timers;
    this.#dial = dialer(resolve);
  }

  /** Removes the idle connection that was used last; undefined if there is none. */
  take(origin: string): Connection | undefined {
    const connection = this.#idle.get(origin)?.pop();
    if (connection !== undefined) this.#clearTimer(connection);
    return connection;
  }

  /**
   * Calls back once the end of a connection that was idle would have been noticed, see
   * {@linkcode SystemEvents}.
   */
  afterCheck(connection: Connection, callback: () => void): void {
    if (performance.now() - connection.writtenMs >= CHECK_AFTER_MS) {
      return this.#events.after(callback);
    }
    this.#afterTurn(callback);
  }

  #afterTurn(callback: () => void): void {
    if (this.#nextTurn.push(callback) > 1) return;
    setImmediate(() => {
      const callbacks = this.#nextTurn;
      this.#nextTurn = [];
      for (const one of callbacks) one();
    });
  }

  /**
   * Opens a connection.
   *
   * @throws the reason of the attempt's signal if that was aborted; otherwise the system's error
   */
  async open(
    { origin, ...target }: Destination,
    attempt: AbortController,
  ): Promise<Connection> {
    this.#dialing.add(attempt);
    try {
      const conn = await this.#dial({ ...target, signal: attempt.signal });
      const connection = new Connection(
        conn,
        // The upstream may close the connection together with its response.
        (free) => this.#afterTurn(() => this.put(origin, free)),
        (closed) => {
          this.#open.delete(closed);
          this.#remove(origin, closed);
        },
      );
      this.#open.add(connection);
      return connection;
    } finally {
      this.#dialing.delete(attempt);
    }
  }

  /** Keeps a connection for further requests, for some time. */
  put(origin: string, connection: Connection): void {
    const { idleSeconds } = connection;
    if (connection.isClosed) return;
    const idleMs = idleSeconds === undefined ? KEEP_ALIVE_MS : Math.min(
      idleSeconds * 1000 - KEEP_ALIVE_MARGIN_MS,
      MAX_KEEP_ALIVE_MS,
    );
    if (idleMs <= 0) return connection.close(undefined);
    const idle = this.#idle.get(origin);
    if (idle === undefined) this.#idle.set(origin, [connection]);
    else idle.push(connection);
    this.#idleTimers.set(
      connection,
      this.#timers.set(() => connection.close(undefined), idleMs),
    );
  }

  /** Closes every connection and ends every attempt to open one. */
  close(error: Error): void {
    for (const attempt of [...this.#dialing]) attempt.abort(error);
    for (const connection of [...this.#open]) connection.close(error);
  }

  #remove(origin: string, connection: Connection): void {
    this.#clearTimer(connection);
    const idle = this.#idle.get(origin);
    const at = idle?.indexOf(connection) ?? -1;
    if (at >= 0) idle?.splice(at, 1);
    if (idle?.length === 0) this.#idle.delete(origin);
  }

  #clearTimer(connection: Connection): void {
    const timer = this.#idleTimers.get(connection);
    if (timer === undefined) return;
    this.#idleTimers.delete(connection);
    this.#timers.clear(timer);
  }
}
