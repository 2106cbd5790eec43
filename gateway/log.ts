/**
 * One line of JSON per call: who, what, how it ended, what it came to. No prompt, no reply, no key.
 *
 * @module
 */
import { ApiError } from "../translate/error.ts";
import type { Usage } from "../translate/reply.ts";
import type { AccountsEvent } from "./accounts/mod.ts";

/** An attempt that failed before the caller was told anything. */
export interface TriedUpstream {
  /** See {@linkcode LogEntry.upstream}. */
  readonly upstream: string;
  /** Kind of the error. */
  readonly error: string;
  /** What the upstream answered with; absent where it did not. */
  readonly upstream_status?: number;
}

/** What is logged of a call. */
export interface LogEntry {
  /** The id that the caller got in `request-id`. */
  readonly request_id: string;
  /** As sent, even where no route has it. */
  readonly method: string;
  /** Without the query, where some clients put their key. */
  readonly path: string;
  /** Path of the route, its variable parts as `:name`; absent where no route has the request's path and method. */
  readonly endpoint?: string;
  /** What the caller got: 200 for a stream that failed later, 499 where it had left before. */
  readonly status: number;
  /** From the request's arrival to the last byte or the caller's leaving. */
  readonly duration_ms: number;
  /** From the request's arrival to the first byte of the answer; absent where no call was granted or it got an error instead. */
  readonly ttfb_ms?: number;
  /** `complete`, `caller_left`, `failed` (in the middle) or `refused` (before the first byte). */
  readonly ended: string;
  /** Of the caller's `traceparent`; absent where it sent none in the valid form and no spans are collected. */
  readonly trace_id?: string;
  /** Names the key, is not the key; absent where no call was granted. */
  readonly key_id?: string;
  /** Id in the catalogue; absent where no call was granted. */
  readonly model?: string;
  /** `vendor/model`, the model in the vendor's own words: the upstream that answered, or whose error was told. Absent where no call was granted. */
  readonly upstream?: string;
  /** Attempts at upstreams; absent where no call was granted. */
  readonly attempts?: number;
  /** The attempts that failed before the caller was told anything, in order; absent where there was no second attempt. */
  readonly tried?: readonly TriedUpstream[];
  /** Status of an upstream's refusal; absent where it did not refuse. */
  readonly upstream_status?: number;
  /** Whether the caller asked for a stream; absent where no call was granted. */
  readonly stream?: boolean;
  /** Tokens as the upstream told them; absent where no reply began. */
  readonly usage?: Usage;
  /** What the call was charged, in micro-dollars; absent where no call was granted. */
  readonly cost_micro_usd?: number;
  /** Paths, in the caller's words, of what the upstream could not be told; absent where there are none. */
  readonly dropped?: readonly string[];
  /** Kind of the error; for a fault of ours, the top of its stack. */
  readonly error?: string;
  /** On whose side a granted call failed; absent where it did not. */
  readonly error_of?: "upstream" | "gateway";
}

/** Takes entries. */
export type RequestLog = (entry: LogEntry) => void;

/** A log that writes lines through `write`. */
export function jsonLog(
  write: (line: string) => void,
  now: () => number,
): RequestLog {
  return (entry) => {
    const ts = new Date(now()).toISOString();
    // The time goes first, and an entry is never empty.
    write(`{"ts":"${ts}",${JSON.stringify(entry).slice(1)}`);
  };
}

/** What `error` says of anything thrown: for a fault of ours, where it is, without what was being said. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) return error.kind;
  return error instanceof Error
    ? error.stack?.split("\n").slice(0, 6).join(" | ") ?? error.name
    : "unknown fault";
}

/** The line for something that an operator should know of the accounts. */
export function eventLine(event: AccountsEvent): string {
  const fault = "error" in event
    ? { error: event.error instanceof Error ? event.error.message : "unknown" }
    : {};
  return JSON.stringify({ ts: new Date().toISOString(), ...event, ...fault });
}
