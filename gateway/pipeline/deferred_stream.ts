/**
 * A stream whose response begins before the upstream replies, so that the client receives pings
 * while it waits. The pump drives this relay and source; both delegate to the real ones once there
 * is a reply.
 */
import type { Relay } from "../../translate/stream/relay_interface.ts";
import { joinPieces } from "../../translate/bytes/buffers.ts";
import type { ReplyProgress } from "../../translate/model/reply_progress.ts";
import type { ByteSource } from "../upstream/http/byte_source.ts";
import type { Reply, StreamedReply } from "../upstream/operation.ts";

/** A reply that is still pending. */
interface DeferredStreamOptions {
  /** Rejects if no attempt succeeds; the error is then sent in the stream. */
  readonly attempts: Promise<Reply>;
  /** Writes the pings, and the error if there is no reply. */
  readonly pingRelay: Relay;
  /** Cancels the attempts; called when the stream ends before the reply begins. */
  abortAttempts(): void;
}

/** Makes the pump call the relay, which then returns the reply's first bytes. */
const NOTHING = new Uint8Array(0);

/** The pending reply as a relay and a source, which begin with a ping. */
export function deferredStream(
  { attempts, pingRelay, abortAttempts }: DeferredStreamOptions,
): StreamedReply {
  let relay: Relay = pingRelay;
  let result: Reply | undefined;
  let isPaused = false;
  /** The first relayed bytes of the reply, until they are sent. */
  let first: Uint8Array | undefined;
  const withFirst = (bytes: Uint8Array): Uint8Array => {
    if (first === undefined) return bytes;
    const all = joinPieces([first, bytes]);
    first = undefined;
    return all;
  };
  const upstream = (): ByteSource | undefined =>
    result?.type === "stream" ? result.source : undefined;
  // Avoids an unhandled rejection: `flow()` may be called later or never.
  attempts.catch(() => {});
  return {
    type: "stream",
    first: pingRelay.ping(),
    relay: {
      push: (chunk) =>
        withFirst(chunk.length === 0 ? NOTHING : relay.push(chunk)),
      end: () => withFirst(relay.end()),
      fail: (error) => relay.fail(error),
      ping: () => relay.ping(),
      done: () => relay.done(),
      progress: () => relay.progress(),
    },
    source: {
      read: () =>
        Promise.reject(new Error("a deferred stream pushes; it has no read()")),
      pushTo(sink) {
        attempts.then((arrived) => {
          result = arrived;
          relay = arrived.type === "stream"
            ? arrived.relay
            : endedRelay(arrived.reply.progress);
          first = arrived.type === "stream"
            ? arrived.first
            : arrived.reply.body;
          sink.onChunk(NOTHING);
          if (arrived.type !== "stream") return sink.onEnd();
          // The pump may have paused this source before there was a reply.
          if (isPaused) arrived.source.pause();
          arrived.source.pushTo(sink);
        }).catch((error) => sink.onError(error));
      },
      pause() {
        isPaused = true;
        upstream()?.pause();
      },
      resume() {
        isPaused = false;
        upstream()?.resume();
      },
      // The attempt has counted them itself.
      countOnlyFrames: () => () => {},
      cancel() {
        if (result === undefined) abortAttempts();
        else upstream()?.cancel();
      },
    },
  };
}

/** A relay that has ended: a whole reply is sent at once. */
function endedRelay(progress: ReplyProgress): Relay {
  const noBytes = (): Uint8Array => new Uint8Array(0);
  return {
    push: noBytes,
    end: noBytes,
    fail: noBytes,
    ping: noBytes,
    done: () => true,
    progress: () => progress,
  };
}
