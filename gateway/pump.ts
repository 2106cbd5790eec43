/**
 * Drives a relay from an upstream's body to a caller: the only loop that reads a stream. Pings, the last word of a drained
 * gateway, slow callers and the caller's leaving live here; what the bytes mean, `translate/` knows.
 *
 * @module
 */
import { ApiError } from "../translate/error.ts";
import type { Relay } from "../translate/relay.ts";
import { joinPieces } from "../translate/slab.ts";
import type { TimerId, Timers } from "./timers.ts";
import type { ByteSink, ByteSource } from "./upstream/byte_source.ts";

/** A stream to be driven. */
export interface PumpOptions {
  /** The upstream's body; cancelled when the caller leaves or the answer has failed. */
  readonly source: ByteSource;
  /** Makes of the upstream's bytes what the caller gets. */
  readonly relay: Relay;
  /** What the relay gave while the first frame was awaited; goes first. */
  readonly first: Uint8Array;
  /** Silence toward the caller after which a ping goes out. */
  readonly pingMs: number;
  /** How long a caller may leave what is there for it unread; then it counts as gone. */
  readonly slowReaderMs: number;
  /** For pings, slow callers, and for how long the body's rest is read after the answer's end. */
  readonly timers: Timers;
  /** Called exactly once, when the caller has got all there is or has left. */
  readonly onEnd: (how: "complete" | "failed" | "caller_left") => void;
}

/** A running stream. */
export interface Pump {
  /** What the caller reads; cancelling it is how the caller leaves. */
  readonly body: ReadableStream<Uint8Array>;
  /** Breaks off: the caller is told the error as far as its dialect can say it. */
  fail(error: ApiError): void;
}

/** How long the rest of an upstream's body may take after the answer's end, so that its connection can be used again. */
const TAIL_MS = 1_000;

/** Bytes that may wait for the caller before the upstream is told to pause. */
const MAX_WAITING_BYTES = 128 * 1024;

/** Starts driving a stream. Nothing is read before the caller reads. */
export function pump(options: PumpOptions): Pump {
  const stream = new PumpedStream(options);
  return { body: stream.body, fail: (error) => stream.fail(error) };
}

/**
 * Pieces are pushed: what comes goes through the relay and on to the caller in one step, without a promise between. What the
 * caller has not taken waits in the body's own queue; when too much waits, the upstream is paused until all of it is taken.
 */
class PumpedStream implements ByteSink {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: PumpOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #began = false;
  /** Pieces that have come and are not looked at yet: never for longer than the present turn of the event loop. */
  #came: Uint8Array[] = [];
  #over = false;
  /** True once the relay has given all: what still comes is only read away. */
  #tail = false;
  #paused = false;
  /** How the answer ended, while the caller has yet to take the last of it. */
  #ending: "complete" | "failed" | undefined;
  /** Lets the body ask for more; see {@linkcode PumpedStream.#beAsked}. */
  #letAsk = (): void => {};
  #isToAsk = false;
  /** When the caller last got something, on the monotonic clock. */
  #heardMs = 0;
  /** Since when what waits for the caller has only become more, and how much less than nothing the body wanted then. */
  #stuck: { readonly sinceMs: number; readonly wanted: number } | undefined;
  #timer: TimerId | undefined;
  #tailTimer: TimerId | undefined;

  constructor(options: PumpOptions) {
    this.#options = options;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#pulled(),
      cancel: () => {
        // In this order: a source tells at once that it was cancelled.
        this.#finish("caller_left");
        options.source.cancel();
      },
    }, { highWaterMark: 0, size: (piece) => piece.byteLength });
  }

  /** The upstream's next piece. Those that one read of its socket brought come together and go on together. */
  piece(bytes: Uint8Array): void {
    if (this.#tail) return;
    this.#came.push(bytes);
    if (this.#came.length === 1) queueMicrotask(() => this.#takeCome());
  }

  /** The upstream's body is over. */
  ended(): void {
    this.#takeCome();
    if (this.#tail) return this.#endTail();
    try {
      this.#send(this.#options.relay.end());
    } catch (error) {
      return this.failed(error);
    }
    this.#complete(false);
  }

  /** The upstream's body broke, or the relay did. */
  failed(error: unknown): void {
    this.#takeCome();
    if (this.#tail) return this.#endTail();
    this.#breakOff(
      error instanceof ApiError ? error : new ApiError(
        "internal",
        "the gateway failed in the middle of the answer",
      ),
    );
  }

  #takeCome(): void {
    if (this.#came.length === 0 || this.#tail) return;
    const { relay } = this.#options;
    const come = this.#came;
    this.#came = [];
    let out: Uint8Array;
    try {
      out = relay.push(joinPieces(come));
    } catch (error) {
      return this.failed(error);
    }
    this.#send(out);
    if (relay.done()) this.#complete(true);
  }

  /** See {@linkcode Pump.fail}. */
  fail(error: ApiError): void {
    this.#takeCome();
    if (this.#over || this.#ending !== undefined) return;
    this.#breakOff(error);
  }

  /** The caller hears of it when it reads on; neither the upstream nor the books wait for that. */
  #breakOff(error: ApiError): void {
    const { source, relay } = this.#options;
    this.#tail = true;
    source.cancel();
    const first = this.#began ? [] : [this.#options.first];
    this.#began = true;
    this.#send(joinPieces([...first, relay.fail(error)]));
    this.#finish("failed");
    this.#controller?.close();
  }

  #pulled(): Promise<void> | void {
    if (this.#began) this.#allTaken();
    else this.#begin();
    if (this.#over || this.#isToAsk) return;
    return new Promise((resolve) => {
      this.#letAsk = resolve;
    });
  }

  /** The caller has taken all that waited, and wants more. */
  #allTaken(): void {
    this.#isToAsk = false;
    this.#stuck = undefined;
    if (this.#ending !== undefined) return this.#close(this.#ending);
    if (!this.#paused) return;
    this.#paused = false;
    this.#options.source.resume();
  }

  /**
   * Has the body ask again once the caller has taken all that waits. Else it is not asked for anything, for pieces come by
   * themselves.
   */
  #beAsked(): void {
    this.#isToAsk = true;
    this.#letAsk();
  }

  #begin(): void {
    const { first, relay, source, pingMs } = this.#options;
    this.#began = true;
    this.#heardMs = performance.now();
    this.#listen(pingMs);
    this.#send(first);
    if (relay.done()) this.#complete(true);
    source.flow(this);
  }

  #send(bytes: Uint8Array): void {
    const controller = this.#controller;
    if (bytes.length === 0 || this.#over || controller === undefined) return;
    controller.enqueue(bytes);
    this.#heardMs = performance.now();
    if ((controller.desiredSize ?? 0) < -MAX_WAITING_BYTES && !this.#paused) {
      this.#paused = true;
      this.#options.source.pause();
      this.#beAsked();
    }
  }

  /** All of the answer is there. The rest of the upstream's body is read away where there may be one. */
  #complete(mayHaveRest: boolean): void {
    const { relay, source, timers } = this.#options;
    this.#tail = true;
    const failed = relay.seen().error !== undefined;
    if (failed) source.cancel();
    else if (mayHaveRest) {
      this.#tailTimer = timers.set(() => source.cancel(), TAIL_MS);
      if (this.#paused) source.resume();
    }
    const how = failed ? "failed" : "complete";
    if ((this.#controller?.desiredSize ?? 0) === 0) return this.#close(how);
    this.#ending = how;
    this.#beAsked();
  }

  #endTail(): void {
    if (this.#tailTimer === undefined) return;
    this.#options.timers.clear(this.#tailTimer);
    this.#tailTimer = undefined;
  }

  #close(how: "complete" | "failed"): void {
    this.#controller?.close();
    this.#finish(how);
  }

  #finish(how: "complete" | "failed" | "caller_left"): void {
    if (this.#over) return;
    this.#over = true;
    this.#tail = true;
    if (this.#timer !== undefined) this.#options.timers.clear(this.#timer);
    this.#beAsked();
    this.#options.onEnd(how);
  }

  /** One timer a stream: pieces only note the time, and the timer looks at the note when it goes off. */
  #listen(ms: number): void {
    const { timers } = this.#options;
    this.#timer = timers.set(() => {
      const nextMs = this.#look();
      if (!this.#over) this.#listen(nextMs);
    }, ms);
  }

  /** Does what the silence until now asks for; gives how long to wait with the next look. */
  #look(): number {
    const { relay, pingMs, slowReaderMs } = this.#options;
    const nowMs = performance.now();
    const wanted = this.#controller?.desiredSize ?? 0;
    if (wanted < 0) {
      if (this.#stuck === undefined || wanted > this.#stuck.wanted) {
        this.#stuck = { sinceMs: nowMs, wanted };
        // Once all is taken, it is known.
        this.#beAsked();
      } else if (nowMs - this.#stuck.sinceMs >= slowReaderMs) this.#cutOff();
      return Math.min(pingMs, slowReaderMs);
    }
    this.#stuck = undefined;
    const quietMs = nowMs - this.#heardMs;
    if (quietMs < pingMs) return pingMs - quietMs;
    this.#send(relay.ping());
    this.#heardMs = nowMs;
    return pingMs;
  }

  /** The caller holds a place and takes nothing. */
  #cutOff(): void {
    this.#finish("caller_left");
    this.#controller?.error(new Error("the caller reads too slowly"));
    this.#options.source.cancel();
  }
}
