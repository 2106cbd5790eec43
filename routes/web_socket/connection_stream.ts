/**
 * A connection as a stream of Node, which the package `ws` reads and writes.
 */
import { Duplex } from "node:stream";
import type { TimerId, Timers } from "../../gateway/timers.ts";
import { joinPieces } from "../../translate/bytes/buffers.ts";
import { LargeFrames } from "./large_frames.ts";
import type { RawConnection } from "./raw_upgrade.ts";

/**
 * Room for what arrives on a connection that is mostly idle, and on one that is not: its messages
 * are handled before another connection has its turn.
 */
const SMALL_READ = 1024;
const LARGE_READ = 16 * 1024;
/** Silence after which a client is taken to have read why it is cut off. */
const LINGER_MS = 500;

type Done = (error?: Error | null) => void;

/** Receives what happens on a connection. */
interface ConnectionWatcher {
  /** Bytes have arrived and are about to be handled. */
  arrived(bytes: number): void;
  handled(): void;
  /** The system has taken bytes for the client. */
  sent(): void;
}

export class ConnectionStream extends Duplex {
  readonly #connection: RawConnection;
  readonly #timers: Timers;
  readonly #watcher: ConnectionWatcher;
  readonly #frames: LargeFrames;
  #room = new Uint8Array(SMALL_READ);
  #timer: TimerId | undefined;
  /**
   * Whether the client may still send when this side has ended. To close the connection then would
   * reset it, and the client would lose what it has not read. The platform cannot close one side.
   */
  lingers = false;

  /**
   * Takes the connection over.
   * @param maxBytes of a message
   */
  constructor(
    connection: RawConnection,
    maxBytes: number,
    timers: Timers,
    watcher: ConnectionWatcher,
  ) {
    super();
    this.#connection = connection;
    this.#frames = new LargeFrames(maxBytes);
    this.#timers = timers;
    this.#watcher = watcher;
    this.once("finish", () => this.lingers ? this.#linger() : this.destroy());
  }

  override _read(): void {
    this.#connection.read(this.#room).then((length) => {
      if (length === null) {
        this.push(null);
        return;
      }
      // Frames are views of what is pushed: a small one must not keep a large buffer.
      const bytes = this.#room.slice(0, length);
      const size = length === this.#room.length ? LARGE_READ : SMALL_READ;
      if (size !== this.#room.length) this.#room = new Uint8Array(size);
      this.#watcher.arrived(length);
      const frames = this.#frames.split(bytes);
      if (frames.length > 0) this.push(frames);
      this.#watcher.handled();
      if (frames.length === 0) this._read();
      if (this.#timer !== undefined) this.#linger();
    }).catch((error) => this.destroy(error));
  }

  override _write(bytes: Uint8Array, _encoding: string, done: Done): void {
    this.#send(bytes).then(() => done(), done);
  }

  override _writev(
    pieces: { readonly chunk: Uint8Array }[],
    done: Done,
  ): void {
    this.#send(joinPieces(pieces.map(({ chunk }) => chunk)))
      .then(() => done(), done);
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#clearTimer();
    try {
      this.#connection.close();
    } catch {
      // It is closed.
    }
    done(error);
  }

  #linger(): void {
    this.#clearTimer();
    this.#timer = this.#timers.set(() => this.destroy(), LINGER_MS);
  }

  #clearTimer(): void {
    if (this.#timer !== undefined) this.#timers.clear(this.#timer);
    this.#timer = undefined;
  }

  async #send(bytes: Uint8Array): Promise<void> {
    for (let rest = bytes; rest.length > 0;) {
      rest = rest.subarray(await this.#connection.write(rest));
      this.#watcher.sent();
    }
  }
}
