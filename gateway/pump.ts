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
  let reading: Promise<Uint8Array | undefined> | undefined;
  /** What the caller still gets once the stream was broken off. */
  let lastWords: Uint8Array | undefined;
  let breakOff = (): void => {};
  const broken = new Promise<"broken">((resolve) => {
    breakOff = () => resolve("broken");
  });

  const finish = (how: "complete" | "failed" | "caller_left"): void => {
    if (over) return;
    over = true;
    options.onEnd(how);
  };

  /**
   * The next piece of the body, or "silence" when it is time for a ping.
   *
   * @throws {ApiError} what the source throws
   */
  const nextOrSilence = async (): Promise<
    Uint8Array | undefined | "silence"
  > => {
    reading ??= source.read();
    let timer: TimerId | undefined;
    const silence = new Promise<"silence">((resolve) => {
      timer = timers.set(() => resolve("silence"), options.pingMs);
    });
    try {
      const next = await Promise.race([reading, silence, broken]);
      if (next === "broken") return undefined;
      if (next !== "silence") reading = undefined;
      return next;
    } finally {
      if (timer !== undefined) timers.clear(timer);
    }
  };

  /** What the caller gets next; it is not empty, unless the stream is over. */
  const step = async (): Promise<Uint8Array> => {
    for (;;) {
      let out: Uint8Array;
      let ended = false;
      try {
        // Looked at before the source: one that is always ready would win every race.
        const next = lastWords === undefined
          ? await nextOrSilence()
          : undefined;
        if (lastWords !== undefined) return lastWords;
        ended = next === undefined;
        out = next === "silence"
          ? relay.ping()
          : next === undefined
          ? relay.end()
          : relay.push(next);
      } catch (error) {
        source.cancel();
        // Breaking off also ends the read that is under way: that is no failure of the source's.
        if (lastWords !== undefined) return lastWords;
        out = relay.fail(
          error instanceof ApiError ? error : new ApiError(
            "internal",
            "the gateway failed in the middle of the answer",
          ),
        );
        finish("failed");
        return out;
      }
      if (relay.done() || ended) {
        if (relay.seen().error !== undefined) source.cancel();
        else if (!ended) letFinish(source, timers);
        finish(relay.seen().error === undefined ? "complete" : "failed");
        return out;
      }
      if (out.length > 0) return out;
    }
  };

  let first: Uint8Array | undefined = options.first;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      let out: Uint8Array;
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
      reading?.catch(() => {});
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
      reading?.catch(() => {});
      finish("failed");
      breakOff();
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
