/**
 * A stream whose last bytes wait until the reply is stored, so that a client that received them can
 * refer to the reply at once. They are the frames that the relay wrote in one step with the last
 * one: sent apart, the last frame would wait for the acknowledgement of the others. The pump drives
 * this relay and source in place of the real ones.
 */
import { joinPieces } from "../../translate/bytes/buffers.ts";
import type { Relay } from "../../translate/stream/relay_interface.ts";
import type { ReplyKeeper } from "../responses/conversation.ts";
import type { ByteSink, ByteSource } from "../upstream/http/byte_source.ts";
import type { StreamedReply } from "../upstream/operation.ts";

/** Makes the pump call the relay. */
const NOTHING = new Uint8Array(0);

/** The stream with its last bytes held back. */
export function keptStream(
  { relay: inner, source, first }: StreamedReply,
  { streamEnd, keep }: ReplyKeeper,
): StreamedReply {
  let phase: "running" | "storing" | "ended" = "running";
  /** Makes the last bytes that state that the reply is not stored. */
  let unstored: (() => Uint8Array) | undefined;
  /** Bytes for the client that no call of the pump has taken yet. */
  let waiting: Uint8Array[] = [];
  let sink: ByteSink | undefined;
  let sourceEnded = false;

  const takeHeld = (): Uint8Array => {
    const bytes = joinPieces(waiting.length === 0 ? [NOTHING] : waiting);
    waiting = [];
    return bytes;
  };
  const finish = (last: Uint8Array): void => {
    if (phase !== "storing") return;
    phase = "ended";
    waiting.push(last);
    sink?.onChunk(NOTHING);
    if (sourceEnded) sink?.onEnd();
  };
  /** The part of the relay's bytes that may be sent now. */
  const passOn = (bytes: Uint8Array): Uint8Array => {
    if (!inner.done()) return bytes;
    const end = inner.progress().error === undefined
      ? streamEnd(bytes)
      : undefined;
    if (end === undefined) {
      phase = "ended";
      return bytes;
    }
    phase = "storing";
    unstored = end.unstored;
    keep(end).then((isStored) => finish(isStored ? bytes : end.unstored()));
    return NOTHING;
  };
  const relay: Relay = {
    push(chunk) {
      if (phase === "running") waiting.push(passOn(inner.push(chunk)));
      return takeHeld();
    },
    end: takeHeld,
    fail(error) {
      if (phase === "running") return inner.fail(error);
      // The reply is complete; whether it is stored is not known.
      if (phase === "storing" && unstored !== undefined) {
        waiting.push(unstored());
      }
      phase = "ended";
      return takeHeld();
    },
    ping: () => phase === "running" ? inner.ping() : NOTHING,
    done: () => phase === "ended" && waiting.length === 0,
    progress: inner.progress,
  };
  const onSourceEnd = (to: ByteSink): void => {
    try {
      if (phase === "running") waiting.push(passOn(inner.end()));
    } catch (error) {
      return to.onError(error);
    }
    if (phase !== "storing") return to.onEnd();
    sourceEnded = true;
  };
  const onSourceError = (to: ByteSink, error: unknown): void => {
    if (phase === "running") to.onError(error);
    else if (phase === "storing") sourceEnded = true;
    else to.onEnd();
  };
  const heldSource: ByteSource = {
    read: () => source.read(),
    pushTo(to) {
      sink = to;
      if (phase === "ended") to.onChunk(NOTHING);
      source.pushTo({
        onChunk: (bytes) => to.onChunk(bytes),
        // The pump relays the last chunks in a microtask: only then the phase is known.
        onEnd: () => queueMicrotask(() => onSourceEnd(to)),
        onError: (error) => queueMicrotask(() => onSourceError(to, error)),
      });
    },
    pause: () => source.pause(),
    resume: () => source.resume(),
    countOnlyFrames: () => source.countOnlyFrames(),
    cancel: () => source.cancel(),
  };
  return { type: "stream", relay, source: heldSource, first: passOn(first) };
}
