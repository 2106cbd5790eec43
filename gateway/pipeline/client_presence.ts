/**
 * Whether a call's client is still there. Once it has left: how far its upstream is read on, and
 * what of the reply was generated out of its sight. A person who stops a reply pays for what was
 * generated until then.
 */
import type { GenerationRequest } from "../../translate/model/request.ts";
import type { ReplyProgress } from "../../translate/model/reply_progress.ts";
import type { Reservation } from "../accounts/accounts.ts";
import type { UnseenReply } from "../accounts/call_outcome.ts";
import type { Gateway } from "../gateway.ts";
import type { TimerId } from "../timers.ts";
import type { Candidate } from "../upstream/catalogue/model_registry.ts";
import {
  type OutputSample,
  usualTokens,
} from "../upstream/health/output_rates.ts";
import type { Failover } from "./failover.ts";
import { QuietTime } from "./quiet_time.ts";
import type { ReadOn } from "./stream_pump.ts";

/** What a generation may produce that its client does not see. */
export interface HiddenOutput {
  /** Requests of one kind reason at one speed: what they ask for of it. */
  readonly kind: string;
  /** Whether a model reasons that was not measured yet. */
  isExpected(candidate: Candidate): boolean;
}

/** The parts of a call that decide. */
interface PresentCall {
  readonly keyId: string;
  readonly isStream: boolean;
  readonly failover: Pick<Failover, "candidate" | "sentMs" | "clientLeft">;
  readonly reservation: Pick<Reservation, "maxOutputTokens">;
  /** Absent: nothing is generated out of sight. */
  readonly hidden: HiddenOutput | undefined;
}

/** Text that may have been on its way when the client left; more shows that the reply goes on. */
const IN_FLIGHT_CHARS = 64;
/** Most bytes of a reply that are read on; a picture has some of them. */
const MAX_BYTES = 16 * 1024 * 1024;
/** How long a reply is read on that is billed to its end. */
const MAX_BILLED_MS = 60_000;
/** Most characters of a token, on the average of a text. */
const CHARS_OF_TOKEN = 8;
const CHARS_PER_TOKEN = 4;
/** The kind of a whole reply: all of it is out of sight. */
const WHOLE = "whole";
/** Output that reasoning alone explains, and output without any, as multiples of the text. */
const SURELY_HIDDEN = 4;
const SURELY_VISIBLE = 2;

/** What a request asks of reasoning, which is hidden in part. */
export function hiddenOutputOf(
  { reasoning }: Pick<GenerationRequest, "reasoning">,
): HiddenOutput {
  const isOwn = (candidate: Candidate): boolean =>
    ["effort", "level"].includes(candidate.capabilities.reasoning);
  return reasoning === undefined ? { kind: "default", isExpected: isOwn } : {
    kind: `${reasoning.mode} ${reasoning.effort ?? ""}`,
    isExpected: () => reasoning.mode !== "off",
  };
}

/** The client of one call. */
export class ClientPresence {
  readonly #gateway: Pick<
    Gateway,
    "config" | "timers" | "now" | "leftCalls" | "outputRates"
  >;
  readonly #call: PresentCall;
  #left: { readonly atMs: number; readonly chars: number } | undefined;
  #quiet: QuietTime | undefined;
  #lastChunkMs: number | undefined;
  #timer: TimerId | undefined;
  #release = (): void => {};

  constructor(
    gateway: Pick<
      Gateway,
      "config" | "timers" | "now" | "leftCalls" | "outputRates"
    >,
    call: PresentCall,
  ) {
    this.#gateway = gateway;
    this.#call = call;
  }

  get hasLeft(): boolean {
    return this.#left !== undefined;
  }

  /** A chunk of the reply has been relayed. */
  relayed(progress: () => ReplyProgress): void {
    const nowMs = this.#gateway.now();
    this.#quiet ??= new QuietTime(
      this.#call.failover.sentMs ?? nowMs,
      progress,
    );
    this.#quiet.chunk(nowMs);
    this.#lastChunkMs = nowMs;
  }

  /** The client leaves before there is a reply; `cancel` ends the attempt, now or later. */
  leaveEarly(cancel: () => void): void {
    const readOn = this.leave(undefined);
    if (readOn === undefined) cancel();
    else this.#timer = this.#gateway.timers.set(cancel, readOn.ms);
  }

  /**
   * The client leaves.
   *
   * @returns how far the upstream is read on; undefined: it is cancelled at once
   */
  leave(progress: ReplyProgress | undefined): ReadOn | undefined {
    const { config, now, leftCalls } = this.#gateway;
    const { keyId, failover, reservation } = this.#call;
    const nowMs = now();
    if (this.#left === undefined) {
      this.#left = { atMs: nowMs, chars: progress?.generatedChars ?? 0 };
      failover.clientLeft();
      const release = config.leftClientMs > 0 && failover.sentMs !== undefined
        ? leftCalls.take(keyId)
        : undefined;
      if (release === undefined) return undefined;
      this.#release = release;
    }
    // The reply has begun meanwhile: what reads it on has a time of its own.
    if (this.#timer !== undefined) this.#gateway.timers.clear(this.#timer);
    const { atMs, chars } = this.#left;
    const [mostMs, further] = failover.candidate.billsCancelled
      ? [MAX_BILLED_MS, reservation.maxOutputTokens * CHARS_OF_TOKEN]
      : [config.leftClientMs, IN_FLIGHT_CHARS];
    return {
      ms: Math.max(0, atMs + mostMs - nowMs),
      chars: chars + further,
      bytes: MAX_BYTES,
    };
  }

  /** Characters of the reply that the client saw. */
  seenChars(progress: ReplyProgress | undefined): number {
    const chars = progress?.generatedChars ?? 0;
    return Math.min(this.#left?.chars ?? chars, chars);
  }

  /** What a client that left did not see; undefined if it stayed. */
  unseen(progress: ReplyProgress | undefined): UnseenReply | undefined {
    if (this.#left === undefined) return undefined;
    const later = (progress?.generatedChars ?? 0) - this.#left.chars;
    return {
      wasSent: this.#call.failover.sentMs !== undefined,
      isWhole: progress?.ended === true && progress.error === undefined,
      laterChars: later > IN_FLIGHT_CHARS ? later : 0,
      hiddenTokens: this.#hiddenTokens(progress),
    };
  }

  /** Measures how fast a reply was generated that was read to its end. */
  measure({ usage, generatedChars, thoughtChars }: ReplyProgress): void {
    const { failover, hidden, isStream } = this.#call;
    const { sentMs } = failover;
    const { output, reasoning } = usage;
    if (hidden === undefined || output === undefined || sentMs === undefined) {
      return;
    }
    const endMs = this.#lastChunkMs ?? this.#gateway.now();
    this.#add(WHOLE, { tokens: output, ms: endMs - sentMs });
    if (!isStream || this.#quiet === undefined) return;
    const visible = generatedChars / CHARS_PER_TOKEN;
    const answer = (generatedChars - (thoughtChars ?? generatedChars)) /
      CHARS_PER_TOKEN;
    const tokens = reasoning ??
      (output >= SURELY_HIDDEN * visible
        ? output - answer
        : output < SURELY_VISIBLE * visible
        ? 0
        : undefined);
    if (tokens === undefined) return;
    const { beforeAnswerMs, pausesMs } = this.#quiet.until(endMs);
    this.#add(hidden.kind, { tokens, ms: beforeAnswerMs + pausesMs });
  }

  /** The call is settled. */
  end(): void {
    if (this.#timer !== undefined) this.#gateway.timers.clear(this.#timer);
    this.#release();
  }

  #add(kind: string, sample: OutputSample): void {
    const { candidate } = this.#call.failover;
    this.#gateway.outputRates.add(candidateKey(candidate), kind, sample);
  }

  #hiddenTokens(progress: ReplyProgress | undefined): number {
    const { failover, hidden, isStream } = this.#call;
    const { sentMs, candidate } = failover;
    // What an upstream that failed had generated out of sight, its client never pays.
    if (
      hidden === undefined || sentMs === undefined ||
      progress?.error !== undefined
    ) return 0;
    const nowMs = this.#gateway.now();
    const { beforeAnswerMs, pausesMs } = isStream && this.#quiet !== undefined
      ? this.#quiet.until(nowMs)
      : { beforeAnswerMs: nowMs - sentMs, pausesMs: 0 };
    const isUsual = !isStream || hidden.isExpected(candidate);
    const tokens = this.#gateway.outputRates.tokens(
      candidateKey(candidate),
      isStream ? hidden.kind : WHOLE,
      beforeAnswerMs + pausesMs,
    ) ?? (isUsual ? usualTokens(beforeAnswerMs) : 0);
    const seen = this.seenChars(progress);
    const seenThoughts = Math.min(progress?.thoughtChars ?? seen, seen);
    return Math.max(0, tokens - Math.ceil(seenThoughts / CHARS_PER_TOKEN));
  }
}

function candidateKey({ model, name }: Candidate): string {
  return `${model.id}\n${name}`;
}
