/**
 * Drives a relay from an upstream's body to a caller: the only loop that reads a stream. Pings, the last word of a drained
 * gateway and the caller's leaving live here; what the bytes mean, `translate/` knows.
 *
 * @module
 */
import { ApiError } from "../translate/error.ts";
import { joined } from "../translate/json_splice.ts";
import type { Relay } from "../translate/relay.ts";
import type { ByteSource } from "./upstream/http_client.ts";

/** A timer that is set. */
export type TimerId = ReturnType<typeof setTimeout>;

/** Timers, passed in so that tests can stand in for them. */
export interface Timers {
  /** Calls back once after `ms` milliseconds. */
  set(callback: () => void, ms: number): TimerId;
  /** Keeps a timer from calling back; nothing where it has. */
  clear(id: TimerId): void;
}

/** The timers of the platform. */
export const SYSTEM_TIMERS: Timers = {
  set: (callback, ms) => setTimeout(callback, ms),
  clear: (id) => clearTimeout(id),
};

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
  /** For pings, and for how long the body's rest is read after the answer's end. */
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

/** Starts driving a stream. Nothing is read before the caller reads. */
export function pump(options: PumpOptions): Pump {
  const { source, relay, timers } = options;
  let over = false;
  let reading = false;
  /** What the read under way gave, until it is looked at. */
  let read: { readonly piece: Uint8Array | undefined } | {
    readonly error: unknown;
  } | undefined;
  let silent = false;
  /** What the caller still gets once the stream was broken off. */
  let lastWords: Uint8Array | undefined;
  let wake = (): void => {};
  let heardMs = performance.now();
  // One timer a stream: pieces only note the time, and the timer looks at the note when it goes off.
  let timer: TimerId | undefined;
  const listen = (ms: number): void => {
    timer = timers.set(() => {
      const quietMs = performance.now() - heardMs;
      silent ||= quietMs >= options.pingMs;
      listen(silent ? options.pingMs : options.pingMs - quietMs);
      if (silent) wake();
    }, ms);
  };

  const finish = (how: "complete" | "failed" | "caller_left"): void => {
    if (over) return;
    over = true;
    if (timer !== undefined) timers.clear(timer);
    options.onEnd(how);
  };

  const beginRead = (): void => {
    if (reading || read !== undefined) return;
    reading = true;
    source.read().then((piece) => {
      read = { piece };
    }, (error) => {
      read = { error };
    }).finally(() => {
      reading = false;
      wake();
    });
  };

  const broke = (error: unknown): Uint8Array => {
    source.cancel();
    const out = relay.fail(
      error instanceof ApiError ? error : new ApiError(
        "internal",
        "the gateway failed in the middle of the answer",
      ),
    );
    finish("failed");
    return out;
  };

  /** What the caller gets next; it is not empty, unless the stream is over. */
  const step = async (): Promise<Uint8Array> => {
    for (;;) {
      // Looked at before the source: one that is always ready would never let the last words through.
      if (lastWords !== undefined) return lastWords;
      beginRead();
      if (read === undefined && !silent) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if (read === undefined) {
        silent = false;
        heardMs = performance.now();
        const ping = relay.ping();
        if (ping.length > 0) return ping;
        continue;
      }
      const now = read;
      read = undefined;
      if ("error" in now) return broke(now.error);
      let out: Uint8Array;
      try {
        out = now.piece === undefined ? relay.end() : relay.push(now.piece);
      } catch (error) {
        return broke(error);
      }
      if (relay.done() || now.piece === undefined) {
        if (relay.seen().error !== undefined) source.cancel();
        else if (now.piece !== undefined) letFinish(source, timers);
        finish(relay.seen().error === undefined ? "complete" : "failed");
        return out;
      }
      if (out.length === 0) continue;
      silent = false;
      heardMs = performance.now();
      return out;
    }
  };

  let first: Uint8Array | undefined = options.first;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      let out: Uint8Array;
      if (timer === undefined && !over) listen(options.pingMs);
      if (first !== undefined && first.length > 0) {
        out = lastWords === undefined ? first : joined([first, lastWords]);
        if (relay.done()) {
          letFinish(source, timers);
          finish(relay.seen().error === undefined ? "complete" : "failed");
        }
      } else {
        out = await step();
      }
      first = undefined;
      try {
        if (out.length > 0) controller.enqueue(out);
        if (over) controller.close();
      } catch {
        // The caller left between the read and the write: cancel() has seen to it.
      }
    },
    cancel() {
      source.cancel();
      finish("caller_left");
    },
  }, { highWaterMark: 0 });
  return {
    body,
    fail(error) {
      if (over) return;
      // The caller hears of it when it reads on; neither the upstream nor the books wait for that.
      lastWords = relay.fail(error);
      source.cancel();
      finish("failed");
      wake();
    },
  };
}

/** Reads what little is left of a body, for a while, then lets it go. */
function letFinish(source: ByteSource, timers: Timers): void {
  const timer = timers.set(() => source.cancel(), TAIL_MS);
  const drain = async (): Promise<void> => {
    while (await source.read() !== undefined);
  };
  drain().catch(() => {}).finally(() => timers.clear(timer));
}
