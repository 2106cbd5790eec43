/**
 * Progress of a reply: the figures that settling, logging and error handling need, gathered from
 * its events.
 */
import type { ApiError } from "./error.ts";
import {
  mergeUsage,
  type ReplyEvent,
  type StopReason,
  type Usage,
} from "./reply.ts";
import { unreadableReply } from "./reply_faults.ts";

/** The state of a reply so far. */
export interface ReplyProgress {
  /** True after the first event that is not an error. */
  readonly started: boolean;
  /** True after the `end` event. */
  readonly ended: boolean;
  /** Merged from all reported figures; empty where there were none. */
  readonly usage: Usage;
  /** Absent until it is reported. */
  readonly stop?: StopReason;
  /** Absent unless the reply failed. */
  readonly error?: ApiError;
  /**
   * Characters generated so far (text, reasoning, tool arguments): the base of an estimate where no
   * usage is reported.
   */
  readonly generatedChars: number;
  /** Those of the reasoning before the answer; absent until the answer begins. */
  readonly thoughtChars?: number;
  /** Kinds of parts that the client does not receive, each once; absent where there are none. */
  readonly lost?: readonly string[];
  /** Whether the answer may be among the lost parts, since the client receives none. */
  readonly isAnswerLost?: true;
}

/** Blocks of a reply at most: what is kept of each, and its events, have no other bound. */
const MAX_BLOCKS = 32_768;

/** Kinds of lost parts that are kept of a reply, and the characters of each. */
const MAX_LOST = 10;
const MAX_LOST_CHARS = 64;

/** Gathers a {@linkcode ReplyProgress}. */
interface ProgressTracker {
  /**
   * Adds the next event.
   *
   * @throws {ApiError} `upstream` for a block beyond {@linkcode MAX_BLOCKS}
   */
  observe(event: ReplyEvent): void;
  /** A snapshot; later events do not change it. */
  progress(): ReplyProgress;
}

/** The event; the end of a reply whose answer was lost gets the stop reason `other`. */
export function withLoss(
  event: ReplyEvent,
  { isAnswerLost }: ReplyProgress,
): ReplyEvent {
  return isAnswerLost === true && event.type === "stop" &&
      event.reason === "end"
    ? { ...event, reason: "other" }
    : event;
}

/** Makes an {@linkcode ProgressTracker} for one reply. */
export function progressTracker(): ProgressTracker {
  let started = false;
  let ended = false;
  let usage: Usage = {};
  let stop: StopReason | undefined;
  let error: ApiError | undefined;
  let generatedChars = 0;
  let blocks = 0;
  const lost = new Set<string>();
  let thoughtChars: number | undefined;
  const countBlock = (): void => {
    started = true;
    if (++blocks > MAX_BLOCKS) throw unreadableReply("it has too many blocks");
  };
  return {
    observe(event) {
      switch (event.type) {
        case "start":
          started = true;
          if (event.usage !== undefined) usage = mergeUsage(usage, event.usage);
          return;
        case "usage":
          started = true;
          usage = mergeUsage(usage, event.usage);
          return;
        case "delta":
          generatedChars += event.text.length;
          return;
        case "code":
          countBlock();
          generatedChars += event.code.length;
          return;
        case "open":
          countBlock();
          if (event.kind !== "reasoning") thoughtChars ??= generatedChars;
          if (event.kind === "tool") generatedChars += event.name.length;
          return;
        case "search":
          started = true;
          if (++blocks > MAX_BLOCKS) {
            throw unreadableReply("it has too many blocks");
          }
          return;
        case "stop":
          started = true;
          stop = event.reason;
          return;
        case "end":
          ended = true;
          return;
        case "error":
          error = event.error;
          return;
        case "lost":
          if (lost.size < MAX_LOST) {
            lost.add(event.kind.slice(0, MAX_LOST_CHARS));
          }
          return;
        case "sign":
        case "cite":
        case "probabilities":
        case "close":
          return;
      }
    },
    progress: () => ({
      started,
      ended,
      usage,
      generatedChars,
      ...(thoughtChars === undefined ? {} : { thoughtChars }),
      ...(stop === undefined ? {} : { stop }),
      ...(error === undefined ? {} : { error }),
      ...(lost.size === 0 ? {} : {
        lost: [...lost],
        ...(thoughtChars === undefined ? { isAnswerLost: true } : {}),
      }),
    }),
  };
}
