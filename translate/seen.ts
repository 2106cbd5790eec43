/**
 * What a reply has shown so far: the figures that settling, logging and error handling need, gathered from its events.
 *
 * @module
 */
import type { ApiError } from "./error.ts";
import {
  mergeUsage,
  type ReplyEvent,
  type StopReason,
  type Usage,
} from "./reply.ts";

/** A reply as far as it has been seen. */
export interface Seen {
  /** True once anything but an error has come. */
  readonly started: boolean;
  /** True once the true end of the answer has come. */
  readonly ended: boolean;
  /** Merged from all figures told; empty where none was. */
  readonly usage: Usage;
  /** Absent until it is told. */
  readonly stop?: StopReason;
  /** How the answer failed, where it did. */
  readonly error?: ApiError;
  /** Characters generated so far (text, reasoning, tool arguments): the base of an estimate where no usage was told. */
  readonly generatedChars: number;
}

/** Gathers a {@linkcode Seen}. */
export interface Observer {
  /** Takes the next event. */
  observe(event: ReplyEvent): void;
  /** A snapshot: what comes later does not change it. */
  seen(): Seen;
}

/** Makes an {@linkcode Observer} for one reply. */
export function observer(): Observer {
  let started = false;
  let ended = false;
  let usage: Usage = {};
  let stop: StopReason | undefined;
  let error: ApiError | undefined;
  let generatedChars = 0;
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
        case "open":
          started = true;
          if (event.kind === "tool") generatedChars += event.name.length;
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
        case "sign":
        case "close":
          return;
      }
    },
    seen: () => ({
      started,
      ended,
      usage,
      generatedChars,
      ...(stop === undefined ? {} : { stop }),
      ...(error === undefined ? {} : { error }),
    }),
  };
}
