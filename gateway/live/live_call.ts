/**
 * Calls as the live list shows them: under way, and just ended. Processes pass them to each other
 * through the store. No prompt, no reply.
 */
import { z } from "zod";

const COUNT = z.int().exactOptional();

/**
 * `waiting`: no byte of a reply yet; `streaming`: the reply is being sent; `client`: the client
 * leaves the reply unread, and the upstream waits.
 */
type Phase = "waiting" | "streaming" | "client";

/** A call under way. Times are Unix milliseconds, by the clock of its process. */
export interface UnderWay {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly endpoint: string;
  readonly stream: boolean;
  readonly phase: Phase;
  readonly arrivedMs: number;
  /** Absent: no byte of a reply so far. */
  readonly firstByteMs?: number | undefined;
  /** Absent: nothing was generated so far. */
  readonly firstTokenMs?: number | undefined;
  /** Absent: no byte of a reply so far, or no stream. */
  readonly lastByteMs?: number | undefined;
  /** Generated so far. */
  readonly outputTokens: number;
  /** Whether `outputTokens` is an estimate. */
  readonly estimated: boolean;
  /** Name of the upstream that is being called. */
  readonly upstream: string;
  /** Number of attempts begun. */
  readonly attempts: number;
}

/** A call that has just ended: the part of its record that the live list shows. */
export interface JustEnded {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly endpoint: string;
  readonly ended: string;
  /** Undefined: of a process of an earlier version. */
  readonly outcome?: string | undefined;
  readonly microUsd: number;
  readonly estimated: boolean;
  readonly model?: string | undefined;
  readonly stream?: boolean | undefined;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly firstByteMs?: number | undefined;
  readonly firstTokenMs?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly upstream?: string | undefined;
}

/** How many calls of each account a list leaves out. */
export type LeftOut = Readonly<Record<string, number>>;

/** Calls of a process, as many as are shown. */
export interface Sample<T> {
  readonly total: number;
  readonly left: LeftOut;
  readonly data: readonly T[];
}

export interface EndedTurn extends Sample<JustEnded> {
  /** Increases with every turn of the process. */
  readonly turn: number;
}

/** The calls of a process at one time. */
export interface ProcessCalls {
  readonly underWay: Sample<UnderWay>;
  /** Oldest first. */
  readonly ended: readonly EndedTurn[];
}

const LEFT = z.record(z.string(), z.int());
const ENDED = z.object({
  requestId: z.string(),
  accountId: z.string(),
  keyId: z.string(),
  endpoint: z.string(),
  ended: z.string(),
  outcome: z.string().exactOptional(),
  microUsd: z.int(),
  estimated: z.boolean(),
  model: z.string().exactOptional(),
  stream: z.boolean().exactOptional(),
  status: COUNT,
  code: z.string().exactOptional(),
  durationMs: COUNT,
  firstByteMs: COUNT,
  firstTokenMs: COUNT,
  outputTokens: COUNT,
  upstream: z.string().exactOptional(),
});
const UNDER_WAY = z.object({
  requestId: z.string(),
  accountId: z.string(),
  keyId: z.string(),
  model: z.string(),
  endpoint: z.string(),
  stream: z.boolean(),
  phase: z.enum(["waiting", "streaming", "client"]),
  arrivedMs: z.int(),
  firstByteMs: COUNT,
  firstTokenMs: COUNT,
  lastByteMs: COUNT,
  outputTokens: z.int(),
  estimated: z.boolean(),
  upstream: z.string(),
  attempts: z.int(),
});

/** Checks the report of another process, whose version may be another one. */
export const PROCESS_CALLS: z.ZodType<ProcessCalls> = z.object({
  underWay: z.object({
    total: z.int(),
    left: LEFT,
    data: z.array(UNDER_WAY),
  }),
  ended: z.array(z.object({
    turn: z.int(),
    total: z.int(),
    left: LEFT,
    data: z.array(ENDED),
  })),
});
