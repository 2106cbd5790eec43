/**
 * Drives a relay from an upstream's body to a client: the only loop that reads a stream. Handles
 * pings, shutdown, slow readers and disconnects. The relay interprets the bytes.
 */
import { ApiError, GatewayFault } from "../../translate/model/error.ts";
import type { Relay } from "../../translate/stream/relay_interface.ts";
import { joinPieces } from "../../translate/bytes/buffers.ts";
import { monotonicMs } from "../monotonic_ms.ts";
import type { TimerId, Timers } from "../timers.ts";
import type { ByteSink, ByteSource } from "../upstream/http/byte_source.ts";

/** The stream and its limits. */
interface PumpOptions {
  /** The upstream's body; cancelled when the reply has failed, or its client has left for good. */
  readonly source: ByteSource;
  /** Translates the upstream's bytes for the client. */
  readonly relay: Relay;
  /** Bytes relayed before the pump started; sent first. */
  readonly first: Uint8Array;
  /** Milliseconds without bytes to the client after which a ping is sent. */
  readonly pingMs: number;
  /**
   * Milliseconds for which a client may leave sent bytes unread; then it counts as disconnected.
   */
  readonly slowReaderMs: number;
  /** For pings, slow readers, and the time limit on discarding the rest of the body. */
  readonly timers: Timers;
  /** Called once, when the relay has sent the first generated text; never for a ping. */
  readonly onToken?: () => void;
  /** Called after each chunk of the upstream. */
  readonly onChunk?: () => void;
  /**
   * Called once, when the client leaves before the end: how far the upstream is read on. Absent, or
   * without a result: it is cancelled at once.
   */
  readonly onLeave?: () => ReadOn | undefined;
  /** Called exactly once: when the client has received everything or has disconnected. */
  readonly onEnd: (how: "complete" | "failed" | "caller_left") => void;
}

/** How far an upstream is read whose client has left. */
export interface ReadOn {
  readonly ms: number;
  /** Characters of the whole reply that show that it goes on without its client. */
  readonly chars: number;
  readonly bytes: number;
}

/** A running stream. */
export interface Pump {
  /** The response body; cancelled when the client disconnects. */
  readonly body: ReadableStream<Uint8Array>;
  /** Ends the stream with an error, as far as the client's dialect can express it. */
  fail(error: ApiError): void;
  /** How the stream stands. */
  state(): PumpState;
}

/** The state of a stream, for the list of calls under way. */
export interface PumpState {
  /** Milliseconds since the last bytes of the reply, pings excepted; undefined before the first. */
  readonly quietMs: number | undefined;
  /** Whether the upstream waits for the client to read. */
  readonly paused: boolean;
}

/**
 * Limit on discarding the rest of an upstream's body after the end of the reply. A body that was
 * read to its end leaves its connection reusable.
 */
const DISCARD_MS = 1_000;

/** Bytes that may wait for the client before the upstream is paused. */
const MAX_WAITING_BYTES = 128 * 1024;

/** Starts a stream. Nothing is read before the client reads. */
export function pump(options: PumpOptions): Pump {
  const stream = new PumpedStream(options);
  return {
    body: stream.body,
    fail: (error) => stream.fail(error),
    state: () => stream.state(),
  };
}

/**
 * Chunks are pushed through the relay to the client in one step, without a promise in between.
 * Bytes that the client has not read wait in the body's own queue; when they exceed
 * `MAX_WAITING_BYTES`, the upstream is paused until the queue is empty.
 */
class PumpedStream implements ByteSink {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: PumpOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #started = false;
  /** Chunks received in the current turn of the event loop, not relayed yet. */
  #pending: Uint8Array[] = [];
  #finished = false;
  /** True once the relay has ended: further chunks are discarded. */
  #discarding = false;
  #paused = false;
  #hasToken = false;
  /** How the reply ended; set while the client has not read all of it yet. */
  #outcome: "complete" | "failed" | undefined;
  /** Resolves a pending `pull()`; see {@linkcode PumpedStream.#requestPull}. */
  #resolvePull = (): void => {};
  #pullRequested = false;
  /** When bytes were last sent to the client, on the monotonic clock. */
  #lastSentMs = 0;
  /** When bytes of the reply were last sent, on the monotonic clock; 0: never. */
  #lastReplyMs = 0;
  /**
   * When the client's backlog last stopped shrinking, and its size then (a negative `desiredSize`).
   */
  #stalled:
    | { readonly sinceMs: number; readonly desiredSize: number }
    | undefined;
  /** The client has left, and the upstream is read on so far. */
  #readOn: ReadOn | undefined;
  /** Bytes of the upstream since then. */
  #readOnBytes = 0;
  #timer: TimerId | undefined;
  #discardTimer: TimerId | undefined;

  constructor(options: PumpOptions) {
    this.#options = options;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#onPull(),
      cancel: () => this.#leave(),
    }, { highWaterMark: 0, size: (chunk) => chunk.byteLength });
  }

  /** Takes the upstream's next chunk. Chunks of one socket read are relayed together. */
  onChunk(bytes: Uint8Array): void {
    if (this.#discarding) return;
    this.#pending.push(bytes);
    if (this.#pending.length === 1) queueMicrotask(() => this.#relayPending());
  }

  /** The upstream's body has ended. */
  onEnd(): void {
    this.#relayPending();
    if (this.#discarding) return this.#discardEnded();
    try {
      this.#send(this.#options.relay.end());
    } catch (error) {
      return this.onError(error);
    }
    this.#complete(false);
  }

  /** The upstream's body or the relay has failed. */
  onError(error: unknown): void {
    this.#relayPending();
    if (this.#discarding) return this.#discardEnded();
    // The failure belongs to the reply, although its client does not see it.
    if (this.#readOn !== undefined && error instanceof ApiError) {
      this.#options.relay.fail(error);
    }
    this.#abort(
      error instanceof ApiError
        ? error
        : new GatewayFault("the gateway failed during the reply"),
    );
  }

  #relayPending(): void {
    if (this.#pending.length === 0 || this.#discarding) return;
    const { relay, onChunk } = this.#options;
    const chunk = joinPieces(this.#pending);
    this.#pending = [];
    let out: Uint8Array;
    try {
      out = relay.push(chunk);
    } catch (error) {
      return this.onError(error);
    }
    onChunk?.();
    this.#send(out);
    if (out.length > 0) this.#lastReplyMs = this.#lastSentMs;
    this.#noteToken();
    if (relay.done()) this.#complete(true);
    else this.#judgeReadOn(chunk.length);
  }

  /** See {@linkcode Pump.state}. */
  state(): PumpState {
    return {
      quietMs: this.#lastReplyMs === 0
        ? undefined
        : monotonicMs() - this.#lastReplyMs,
      paused: this.#paused,
    };
  }

  #noteToken(): void {
    if (this.#hasToken) return;
    const { relay, onToken } = this.#options;
    if (relay.progress().generatedChars === 0) return;
    this.#hasToken = true;
    onToken?.();
  }

  /** See {@linkcode Pump.fail}. */
  fail(error: ApiError): void {
    this.#relayPending();
    if (this.#finished || this.#outcome !== undefined) return;
    this.#abort(error);
  }

  /**
   * The client receives the error when it reads on; cancellation and settlement do not wait for
   * that.
   */
  #abort(error: ApiError): void {
    const { source, relay } = this.#options;
    this.#discarding = true;
    if (this.#readOn !== undefined) return this.#endLeft();
    source.cancel();
    const first = this.#started ? [] : [this.#options.first];
    this.#started = true;
    this.#send(joinPieces([...first, relay.fail(error)]));
    // The reader may cancel the body while it takes the bytes.
    if (this.#finished) return;
    this.#finish("failed");
    if (relay.breaksOff === true) {
      this.#controller?.error(new Error("the reply broke off"));
    } else this.#controller?.close();
  }

  #onPull(): Promise<void> | void {
    if (this.#started) this.#onQueueEmpty();
    else this.#start();
    if (this.#finished || this.#pullRequested) return;
    return new Promise((resolve) => {
      this.#resolvePull = resolve;
    });
  }

  /** The client has read the whole queue and wants more. */
  #onQueueEmpty(): void {
    this.#pullRequested = false;
    this.#stalled = undefined;
    if (this.#outcome !== undefined) return this.#close(this.#outcome);
    if (!this.#paused) return;
    this.#paused = false;
    this.#options.source.resume();
  }

  /**
   * Makes the stream call `pull()` again when its queue is empty. Until then `pull()` stays
   * pending: chunks are pushed.
   */
  #requestPull(): void {
    this.#pullRequested = true;
    this.#resolvePull();
  }

  #start(): void {
    const { first, relay, source, pingMs } = this.#options;
    this.#started = true;
    this.#lastSentMs = monotonicMs();
    this.#setTimer(pingMs);
    this.#send(first);
    if (first.length > 0) this.#lastReplyMs = this.#lastSentMs;
    this.#noteToken();
    if (relay.done()) this.#complete(true);
    source.pushTo(this);
  }

  #send(bytes: Uint8Array): void {
    const controller = this.#controller;
    if (bytes.length === 0 || this.#finished || controller === undefined) {
      return;
    }
    controller.enqueue(bytes);
    this.#lastSentMs = monotonicMs();
    if ((controller.desiredSize ?? 0) < -MAX_WAITING_BYTES && !this.#paused) {
      this.#paused = true;
      this.#options.source.pause();
      this.#requestPull();
    }
  }

  /** The reply is complete. Discards the rest of the upstream's body, if there may be any. */
  #complete(mayHaveMore: boolean): void {
    if (this.#finished) return;
    const { relay, source, timers } = this.#options;
    this.#discarding = true;
    const failed = relay.progress().error !== undefined;
    if (failed) source.cancel();
    else if (mayHaveMore) {
      this.#discardTimer = timers.set(() => source.cancel(), DISCARD_MS);
      if (this.#paused) source.resume();
    }
    if (this.#readOn !== undefined) return this.#finish("caller_left");
    const how = failed ? "failed" : "complete";
    if ((this.#controller?.desiredSize ?? 0) === 0) return this.#close(how);
    this.#outcome = how;
    this.#requestPull();
  }

  #discardEnded(): void {
    if (this.#discardTimer === undefined) return;
    this.#options.timers.clear(this.#discardTimer);
    this.#discardTimer = undefined;
  }

  #close(how: "complete" | "failed"): void {
    this.#controller?.close();
    this.#finish(how);
  }

  #finish(how: "complete" | "failed" | "caller_left"): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#discarding = true;
    this.#stopTimer();
    this.#requestPull();
    this.#options.onEnd(how);
  }

  #stopTimer(): void {
    if (this.#timer !== undefined) this.#options.timers.clear(this.#timer);
    this.#timer = undefined;
  }

  /** One timer per stream: chunks only record the time, and the timer checks it. */
  #setTimer(ms: number): void {
    const { timers } = this.#options;
    this.#timer = timers.set(() => {
      const nextMs = this.#onTimer();
      if (!this.#finished && this.#readOn === undefined) {
        this.#setTimer(nextMs);
      }
    }, ms);
  }

  /** Sends a ping or drops a slow reader if due; returns the milliseconds until the next check. */
  #onTimer(): number {
    const { relay, pingMs, slowReaderMs } = this.#options;
    const nowMs = monotonicMs();
    const desiredSize = this.#controller?.desiredSize ?? 0;
    if (desiredSize < 0) {
      if (
        this.#stalled === undefined || desiredSize > this.#stalled.desiredSize
      ) {
        this.#stalled = { sinceMs: nowMs, desiredSize };
        // So that an empty queue resets `#stalled`.
        this.#requestPull();
      }
      const leftMs = this.#stalled.sinceMs + slowReaderMs - nowMs;
      if (leftMs <= 0) this.#dropSlowReader();
      return Math.min(pingMs, leftMs);
    }
    this.#stalled = undefined;
    const quietMs = nowMs - this.#lastSentMs;
    if (quietMs < pingMs) return pingMs - quietMs;
    this.#send(relay.ping());
    this.#lastSentMs = nowMs;
    return pingMs;
  }

  /** A client that does not read must not hold its concurrency slot. */
  #dropSlowReader(): void {
    const controller = this.#controller;
    this.#leave();
    controller?.error(new Error("the client reads too slowly"));
  }

  /** The client has left. The upstream may be read on, for what it reports at the end. */
  #leave(): void {
    if (this.#finished) return;
    const { relay, source, timers, onLeave } = this.#options;
    this.#controller = undefined;
    const readOn = this.#outcome !== undefined || relay.progress().ended
      ? undefined
      : onLeave?.();
    if (readOn === undefined) return this.#endLeft();
    this.#readOn = readOn;
    this.#stopTimer();
    this.#timer = timers.set(() => this.#endLeft(), readOn.ms);
    if (!this.#started) {
      this.#started = true;
      source.pushTo(this);
    } else if (this.#paused) {
      this.#paused = false;
      source.resume();
    }
  }

  /** Stops reading on if the reply goes on without its client, or beyond the bounds. */
  #judgeReadOn(bytes: number): void {
    if (this.#readOn === undefined || this.#finished) return;
    this.#readOnBytes += bytes;
    const { generatedChars } = this.#options.relay.progress();
    if (
      generatedChars > this.#readOn.chars ||
      this.#readOnBytes > this.#readOn.bytes
    ) this.#endLeft();
  }

  #endLeft(): void {
    // First the outcome: the source reports its cancellation at once, as a failure.
    this.#finish("caller_left");
    this.#options.source.cancel();
  }
}
