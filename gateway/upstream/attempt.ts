/**
 * One attempt at one candidate: the call, and the look at its head (and at the first frame of a stream) that decides whether
 * there is an answer for the caller. What follows a failure is not known here, see `retry_policy.ts`.
 *
 * @module
 */
import type {
  DecodeContext,
  Dialect,
  EncodeContext,
  UpstreamDialect,
} from "../../translate/dialect.ts";
import { ApiError } from "../../translate/error.ts";
import { joinPieces } from "../../translate/slab.ts";
import {
  type Relay,
  streamOfWhole,
  streamRelay,
  type UpstreamRequest,
  wholeOfStream,
  type WholeReply,
  wholeReply,
} from "../../translate/relay.ts";
import type { Trace } from "../trace.ts";
import { callHeaders } from "./call_headers.ts";
import type { Candidate } from "./candidates.ts";
import {
  type AttemptFailure,
  byStatus,
  inFirstFrame,
  inReply,
  withoutAnswer,
} from "./failure.ts";
import type { ByteSource } from "./byte_source.ts";
import type { UpstreamClient, UpstreamResponse } from "./http_client.ts";

/** What an attempt gave: a stream that has begun well, or a whole reply (for a caller that wanted a stream: its text). */
export type AttemptResult =
  | {
    readonly type: "stream";
    readonly relay: Relay;
    readonly source: ByteSource;
    readonly first: Uint8Array;
  }
  | { readonly type: "whole"; readonly reply: WholeReply };

/** An attempt. */
export interface Attempt {
  /** Makes the call and keeps its time limits. */
  readonly client: UpstreamClient;
  /** Where the call goes, in which dialect and with which key. */
  readonly candidate: Candidate;
  /** What the reply is written in. */
  readonly caller: Dialect;
  /** The request, written for the candidate. */
  readonly upstream: UpstreamRequest;
  /** Whether the caller wants a stream; the upstream is asked for the same and may answer with the other. */
  readonly stream: boolean;
  /** What the reply's encoder must know of the caller. */
  readonly encode: EncodeContext;
  /** The caller's headers of its dialect, for pass-through. */
  readonly dialectHeaders: Readonly<Record<string, string>>;
  /** The trace that the caller told, to be passed on. */
  readonly trace: Trace | undefined;
  /** Ends the attempt in any phase; its reason is what is thrown. */
  readonly signal: AbortSignal;
}

/** The longest whole reply or error that is read, in bytes. */
const MAX_WHOLE_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 256 * 1024;

/**
 * Makes the attempt.
 *
 * @throws the signal's reason where it was aborted; nothing else but faults of ours
 */
export async function attempt(
  options: Attempt,
): Promise<AttemptResult | AttemptFailure> {
  const { candidate } = options;
  const { dialect } = candidate;
  let meaning = withoutAnswer;
  try {
    const response = await options.client.call({
      url: `${candidate.access.baseUrl}${
        candidate.wire.path(candidate.upstreamModel, options.stream)
      }`,
      headers: callHeaders(options),
      body: options.upstream.bytes,
      signal: options.signal,
      ...(candidate.limits === undefined ? {} : { limits: candidate.limits }),
    });
    if (response.status < 200 || response.status > 299) {
      return await refused(dialect, response, options.signal);
    }
    const isStream = isEventStream(response, options.stream);
    meaning = isStream && options.stream ? inFirstFrame : inReply;
    return await answered(options, dialect, response, isStream);
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (!(error instanceof ApiError)) throw error;
    return meaning(error);
  }
}

async function refused(
  dialect: UpstreamDialect,
  response: UpstreamResponse,
  signal: AbortSignal,
): Promise<AttemptFailure> {
  const { status } = response;
  let text = "";
  try {
    text = new TextDecoder().decode(
      await readUpTo(response.body, MAX_ERROR_BYTES, "cut"),
    );
  } catch (error) {
    // Where the words do not come, the status says enough.
    if (signal.aborted || !(error instanceof ApiError)) throw error;
  }
  return byStatus(
    status,
    dialect.decodeError(status, response.headers(), text),
  );
}

async function answered(
  options: Attempt,
  dialect: UpstreamDialect,
  response: UpstreamResponse,
  isStream: boolean,
): Promise<AttemptResult> {
  const { caller, encode } = options;
  const decode: DecodeContext = options.upstream.context;
  if (isStream && options.stream) {
    const relay = streamRelay(caller, dialect, decode, encode);
    return await begun(relay, response.body);
  }
  const body = await readUpTo(response.body, MAX_WHOLE_BYTES, "fail");
  const answer = isStream
    ? wholeOfStream
    : options.stream
    ? streamOfWhole
    : wholeReply;
  return {
    type: "whole",
    reply: answer(caller, dialect, decode, encode, body),
  };
}

/** What the content type says; where it says neither JSON nor HTML, what was asked for. */
function isEventStream(response: UpstreamResponse, asked: boolean): boolean {
  const type = response.header("content-type")?.toLowerCase() ?? "";
  if (type.includes("event-stream")) return true;
  return asked && !type.includes("json") && !type.includes("html");
}

/** Waits for a stream's first frame, so that an error told there becomes a real status. */
async function begun(
  relay: Relay,
  source: ByteSource,
): Promise<AttemptResult> {
  const first: Uint8Array[] = [];
  try {
    while (!relay.seen().started && !relay.done()) {
      const chunk = await source.read();
      const out = chunk === undefined ? relay.end() : relay.push(chunk);
      if (out.length > 0) first.push(out);
      if (chunk === undefined) break;
    }
  } catch (error) {
    source.cancel();
    throw error;
  }
  const { started, error } = relay.seen();
  if (error !== undefined && !started) {
    source.cancel();
    throw error;
  }
  return { type: "stream", relay, source, first: joinPieces(first) };
}

/**
 * Reads a body to its end, but no further than a limit: beyond it the rest is cut off, or the reading fails.
 *
 * @throws {ApiError} `upstream` beyond the limit
 */
export async function readUpTo(
  source: ByteSource,
  maxBytes: number,
  beyond: "cut" | "fail",
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const piece = await source.read();
    if (piece === undefined) return joinPieces(pieces);
    pieces.push(piece);
    size += piece.length;
    if (size > maxBytes) {
      source.cancel();
      if (beyond === "cut") return joinPieces(pieces);
      throw new ApiError("upstream", "the upstream's reply is too long");
    }
  }
}
