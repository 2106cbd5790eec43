/**
 * A stream whose caller has been kept waiting long enough: its head goes out, and pings after it, while the upstream is still
 * being waited for. What the pump drives is then this, until the answer is there.
 *
 * @module
 */
import type { Relay } from "../translate/relay.ts";
import type { Seen } from "../translate/seen.ts";
import type { AttemptResult } from "./upstream/attempt.ts";
import type { ByteSource } from "./upstream/byte_source.ts";

/** An answer that will come, or will not. */
export interface Awaited {
  /** Rejects where there will be none; that is then told in the stream. */
  readonly answer: Promise<AttemptResult>;
  /** Writes pings, and the error where no answer comes. */
  readonly waiting: Relay;
  /** Ends the wait. */
  giveUp(): void;
}

/** Stands for the bytes of the upstream that the answer has relayed already. */
const HERE = new Uint8Array(0);

/** The answer as a relay and a source; nothing has gone to the caller yet but a first ping. */
export function lateAnswer(
  { answer, waiting, giveUp }: Awaited,
): AttemptResult & { type: "stream" } {
  let relay: Relay = waiting;
  let here: AttemptResult | undefined;
  let isPaused = false;
  const streamed = (): ByteSource | undefined =>
    here?.type === "stream" ? here.source : undefined;
  // It is looked at when it is read; the caller may leave before.
  answer.catch(() => {});
  return {
    type: "stream",
    first: waiting.ping(),
    relay: {
      push(chunk) {
        if (chunk !== HERE || here === undefined) return relay.push(chunk);
        return here.type === "stream" ? here.first : here.reply.body;
      },
      end: () => relay.end(),
      fail: (error) => relay.fail(error),
      ping: () => relay.ping(),
      done: () => relay.done(),
      seen: () => relay.seen(),
    },
    source: {
      read: () => Promise.reject(new Error("a late answer is driven only")),
      flow(sink) {
        answer.then((come) => {
          here = come;
          relay = come.type === "stream" ? come.relay : over(come.reply.seen);
          sink.piece(HERE);
          if (come.type !== "stream") return sink.ended();
          // The caller may have been slow before there was anything to pause.
          if (isPaused) come.source.pause();
          come.source.flow(sink);
        }).catch((error) => sink.failed(error));
      },
      pause() {
        isPaused = true;
        streamed()?.pause();
      },
      resume() {
        isPaused = false;
        streamed()?.resume();
      },
      cancel() {
        if (here === undefined) giveUp();
        else streamed()?.cancel();
      },
    },
  };
}

/** The relay of a whole reply, which has been written at once. */
function over(seen: Seen): Relay {
  const nothing = (): Uint8Array => HERE;
  return {
    push: nothing,
    end: nothing,
    fail: nothing,
    ping: nothing,
    done: () => true,
    seen: () => seen,
  };
}
