/**
 * One line of JSON per call: who, what, how it ended, what it came to. No prompt, no reply, no key.
 *
 * @module
 */
import type { Usage } from "../translate/reply.ts";

/** What is logged of a call. */
export interface LogEntry {
  readonly request_id: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** From the request's arrival to the last byte or the caller's leaving. */
  readonly duration_ms: number;
  readonly ended: string;
  readonly key_id?: string;
  readonly model?: string;
  readonly upstream?: string;
  readonly upstream_status?: number;
  readonly stream?: boolean;
  readonly usage?: Usage;
  readonly dropped?: readonly string[];
  readonly error?: string;
}

/** Takes entries. */
export type RequestLog = (entry: LogEntry) => void;

/** A log that writes lines through `write`. */
export function jsonLog(
  write: (line: string) => void,
  now: () => number,
): RequestLog {
  return (entry) =>
    write(JSON.stringify({ ts: new Date(now()).toISOString(), ...entry }));
}
