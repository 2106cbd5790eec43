/**
 * The web sockets that are open: how many there may be, and when they end without their client: the
 * key is no longer valid, or the gateway stops.
 */
import { ApiError } from "../translate/model/error.ts";
import type { TimerId, Timers } from "./timers.ts";

export interface OpenSocket {
  /** The key that opened it. */
  readonly keyId: string;
  /** Ends it if its key is no longer valid. Never rejects. */
  check(): Promise<void>;
  /** Ends it as soon as it has no reply under way; takes no further requests. */
  drain(): void;
}

/** The most that may be open. */
interface SocketBounds {
  readonly all: number;
  readonly perKey: number;
}

/** How often keys are checked, in milliseconds. Requests check theirs in any case. */
const CHECK_MS = 5_000;

/** The open web sockets of a process. */
export class OpenSockets {
  readonly #timers: Timers;
  readonly #sockets = new Set<OpenSocket>();
  readonly #byKey = new Map<string, number>();
  #opened = 0;
  #timer: TimerId | undefined;
  #closed = Promise.withResolvers<void>();

  /** Begins without an open socket. */
  constructor(timers: Timers) {
    this.#timers = timers;
    this.#closed.resolve();
  }

  /** Number of all that have been opened. */
  get opened(): number {
    return this.#opened;
  }

  get count(): number {
    return this.#sockets.size;
  }

  /**
   * Whether the key may open one more.
   *
   * @throws {ApiError} `rate_limit` or `overloaded` if not
   */
  assertRoom(keyId: string, { all, perKey }: SocketBounds): void {
    const own = this.#byKey.get(keyId) ?? 0;
    if (own >= perKey) {
      throw new ApiError(
        "rate_limit",
        `the key has ${own} open web sockets, the most that it may have: close one, or send requests over HTTP`,
        {
          code: "concurrent_connections",
          retryAfterSeconds: 1,
          fill: { limit: perKey, used: own, needed: 1 },
        },
      );
    }
    const used = this.#sockets.size;
    if (used < all) return;
    throw new ApiError(
      "overloaded",
      "the gateway has reached its limit of open web sockets; send requests over HTTP",
      { retryAfterSeconds: 1, fill: { limit: all, used, needed: 1 } },
    );
  }

  /** Adds one that has been opened. */
  add(socket: OpenSocket): void {
    if (this.#sockets.size === 0) this.#closed = Promise.withResolvers();
    this.#opened++;
    this.#sockets.add(socket);
    this.#byKey.set(socket.keyId, (this.#byKey.get(socket.keyId) ?? 0) + 1);
    this.#timer ??= this.#nextCheck();
  }

  remove(socket: OpenSocket): void {
    if (!this.#sockets.delete(socket)) return;
    const left = (this.#byKey.get(socket.keyId) ?? 1) - 1;
    if (left === 0) this.#byKey.delete(socket.keyId);
    else this.#byKey.set(socket.keyId, left);
    if (this.#sockets.size > 0) return;
    if (this.#timer !== undefined) this.#timers.clear(this.#timer);
    this.#timer = undefined;
    this.#closed.resolve();
  }

  /** Ends all as soon as they have no reply under way. */
  drain(): void {
    for (const socket of [...this.#sockets]) socket.drain();
  }

  /** Resolves once none is open. */
  closed(): Promise<void> {
    return this.#closed.promise;
  }

  #nextCheck(): TimerId {
    return this.#timers.set(async () => {
      await Promise.all([...this.#sockets].map((socket) => socket.check()));
      this.#timer = this.#sockets.size === 0 ? undefined : this.#nextCheck();
    }, CHECK_MS);
  }
}
