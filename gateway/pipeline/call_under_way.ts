/**
 * Describes a call under way for the live list.
 */
import type { ReplyProgress } from "../../translate/model/reply_progress.ts";
import type { UnderWay } from "../live/live_call.ts";
import type { PumpState } from "./stream_pump.ts";

/** What is known of the call. */
interface CallSoFar {
  readonly call: {
    readonly requestId: string;
    readonly endpoint: string;
    readonly arrivedMs: number;
    readonly caller: { readonly accountId: string; readonly keyId: string };
  };
  readonly failover: {
    readonly model: { readonly id: string };
    readonly candidate: { readonly name: string };
    readonly attemptCount: number;
  };
  readonly stream: boolean;
  /** Unix time in milliseconds; undefined where no reply began. */
  readonly firstByteMs: number | undefined;
  /** Unix time in milliseconds; undefined where nothing was generated. */
  readonly firstTokenMs: number | undefined;
  /** Undefined before the stream. */
  readonly progress: ReplyProgress | undefined;
  readonly pump: PumpState | undefined;
  readonly nowMs: number;
}

/** As in the estimate of a charge. */
const CHARS_PER_TOKEN = 4;

export function callUnderWay(
  { call, failover, progress, pump, nowMs, ...known }: CallSoFar,
): UnderWay {
  const { generatedChars = 0, usage } = progress ?? {};
  // Some upstreams report one token with the first event, and the sum with the last.
  const estimate = Math.ceil(generatedChars / CHARS_PER_TOKEN);
  const reported = usage?.output ?? 0;
  return {
    requestId: call.requestId,
    accountId: call.caller.accountId,
    keyId: call.caller.keyId,
    model: failover.model.id,
    endpoint: call.endpoint,
    stream: known.stream,
    phase: pump?.paused === true
      ? "client"
      : known.firstByteMs === undefined
      ? "waiting"
      : "streaming",
    arrivedMs: call.arrivedMs,
    firstByteMs: known.firstByteMs,
    firstTokenMs: known.firstTokenMs,
    lastByteMs: pump?.quietMs === undefined
      ? undefined
      : Math.round(nowMs - pump.quietMs),
    outputTokens: Math.max(reported, estimate),
    estimated: estimate > reported,
    upstream: failover.candidate.name,
    attempts: failover.attemptCount,
  };
}
