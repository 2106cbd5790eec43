/**
 * One attempt at one candidate: makes the call and reads the head of the response, for a stream
 * also its first frame, to decide whether there is a reply. What follows a failure is decided in
 * `retry_policy.ts`.
 *
 * @module
 */
import type {
  DecodeContext,
  Dialect,
  EncodeContext,
  UpstreamDialect,
} from "../../translate/dialect.ts";
import { ApiError } from "../../translate/model/error.ts";
import { joinPieces } from "../../translate/bytes/buffers.ts";
import {
  streamOfWhole,
  streamRelay,
  wholeOfStream,
  type WholeReply,
  wholeReply,
} from "../../translate/stream/relay.ts";
import type { UpstreamRequest } from "../../translate/upstream_request.ts";
import type { Relay } from "../../translate/stream/relay_interface.ts";
import type { Trace } from "../http/trace.ts";
import type { Timers } from "../timers.ts";
import {
  authenticatedCall,
  type AuthenticatedResponse,
} from "./authenticated_call.ts";
import type { Candidate } from "./model_registry.ts";
import {
  type AttemptFailure,
  firstFrameFailure,
  noResponseFailure,
  statusFailure,
  wholeReplyFailure,
} from "./failure.ts";
import type { ByteSource } from "./byte_source.ts";
import { withoutKeys } from "./without_keys.ts";
import type { UpstreamClient, UpstreamResponse } from "./http_client.ts";
import { unwrapAwsStream } from "./unwrap_aws_stream.ts";

/**
 * The reply of an attempt: a stream whose first frame has arrived, or a whole reply (as event
 * stream text for a client that asked for a stream).
 */
export type AttemptResult =
  | {
    readonly type: "stream";
    readonly relay: Relay;
    readonly source: ByteSource;
    readonly first: Uint8Array;
  }
  | {
    readonly type: "whole";
    readonly reply: WholeReply;
    /** The upstream repeated its own key, which was removed. */
    readonly hadKey: boolean;
  };

/** Input of an attempt. */
export interface AttemptOptions {
  /** Makes the HTTP call and enforces its time limits. */
  readonly client: UpstreamClient;
  /** The candidate to call. */
  readonly candidate: Candidate;
  /** The client's dialect; the reply is written in it. */
  readonly clientDialect: Dialect;
  /** For the limit to a stream's first frame. */
  readonly timers: Timers;
  /** Longest time from a stream's head to its first frame, unless the candidate has a limit of its own for its first byte. */
  readonly firstFrameMs: number;
  /** The request as written for the candidate. */
  readonly upstream: UpstreamRequest;
  /**
   * Whether the client asked for a stream. The upstream is asked for the same, but may reply
   * otherwise.
   */
  readonly stream: boolean;
  /** Settings of the reply's encoder that depend on the client's request. */
  readonly encode: EncodeContext;
  /** The client's trace, forwarded to the upstream. */
  readonly trace: Trace | undefined;
  /** Aborts the attempt in any phase; its reason is thrown. */
  readonly signal: AbortSignal;
}

/** The part that all attempts of one call share. */
export type AttemptContext = Pick<
  AttemptOptions,
  "encode" | "trace" | "signal"
>;

/** The largest whole reply that is read, in bytes. */
const MAX_WHOLE_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 256 * 1024;

/**
 * Makes the attempt. An upstream's failure is returned, not thrown.
 *
 * @throws the signal's reason if it was aborted; otherwise only internal errors
 */
export async function attempt(
  options: AttemptOptions,
): Promise<AttemptResult | AttemptFailure> {
  const first = await attemptOnce(options);
  if (!("refused" in first)) return first;
  const { response, sent } = first.refused;
  const { credential } = options.candidate;
  // The credential may have another key, or a token may have expired early.
  if (!await credential.refused(sent, response)) {
    return hinted(first, options.candidate);
  }
  const second = await attemptOnce(options);
  return "refused" in second ? hinted(second, options.candidate) : second;
}

/** The failure with what operators may have to know about their key. */
function hinted(
  { refused, failure }: CredentialRefused,
  { hostDialect }: Candidate,
): AttemptFailure {
  const { keyHint } = hostDialect.auth;
  const isKey = refused.sent["authorization"]?.startsWith("Bearer ") === true;
  if (keyHint === undefined || !isKey) return failure;
  const { kind, message, details } = failure.error;
  const note = details.note === undefined
    ? keyHint
    : `${details.note} (${keyHint})`;
  return {
    ...failure,
    error: new ApiError(kind, message, { ...details, note }),
  };
}

/** A failure because the upstream refused the credential. */
interface CredentialRefused {
  readonly refused: AuthenticatedResponse;
  readonly failure: AttemptFailure;
}

async function attemptOnce(
  options: AttemptOptions,
): Promise<AttemptResult | AttemptFailure | CredentialRefused> {
  const { candidate } = options;
  const { dialect, address } = candidate;
  let classify = noResponseFailure;
  try {
    const answered = await authenticatedCall({
      ...options,
      url: options.stream ? address.stream : address.whole,
    });
    const response = unwrapped(answered.response, dialect);
    if (response.status < 200 || response.status > 299) {
      const failure = await failedStatus(dialect, response, options.signal);
      return failure.error.details.refused === "credential"
        ? { refused: answered, failure }
        : failure;
    }
    const isStream = isEventStream(response, options.stream);
    classify = isStream && options.stream
      ? firstFrameFailure
      : wholeReplyFailure;
    return await readReply(options, dialect, response, isStream);
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (!(error instanceof ApiError)) throw error;
    return classify(error);
  }
}

/** The response with a body of event-stream text, if it is one of binary frames. */
function unwrapped(
  response: UpstreamResponse,
  dialect: UpstreamDialect,
): UpstreamResponse {
  const type = response.header("content-type")?.toLowerCase() ?? "";
  return !type.includes(BINARY_STREAM) ? response : {
    status: response.status,
    header: (name) =>
      name === "content-type" ? "text/event-stream" : response.header(name),
    headers: () => response.headers(),
    body: unwrapAwsStream(response.body, dialect),
  };
}

const BINARY_STREAM = "application/vnd.amazon.eventstream";

async function failedStatus(
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
    // Without its body, the error is decoded from the status alone.
    if (signal.aborted || !(error instanceof ApiError)) throw error;
  }
  return statusFailure(
    status,
    dialect.decodeError(status, response.headers(), text),
  );
}

async function readReply(
  options: AttemptOptions,
  dialect: UpstreamDialect,
  response: UpstreamResponse,
  isStream: boolean,
): Promise<AttemptResult> {
  const { clientDialect, encode } = options;
  const decode: DecodeContext = options.upstream.context;
  if (isStream && options.stream) {
    let noteFrames = (): void => {};
    const relay = streamRelay(
      clientDialect,
      dialect,
      decode,
      encode,
      () => noteFrames(),
    );
    const stream = await startedStream(
      relay,
      response.body,
      options.timers,
      options.candidate.limits?.firstByteTimeoutMs ?? options.firstFrameMs,
    );
    noteFrames = response.body.countOnlyFrames();
    return stream;
  }
  const read = await readUpTo(response.body, MAX_WHOLE_BYTES, "fail");
  const body = withoutKeys(read, options.candidate.credential.secrets());
  const toReply = isStream
    ? wholeOfStream
    : options.stream
    ? streamOfWhole
    : wholeReply;
  return {
    type: "whole",
    reply: toReply(clientDialect, dialect, decode, encode, body),
    hadKey: body !== read,
  };
}

/**
 * Decided by the content type; if that is neither JSON nor HTML nor an event stream, by the
 * request.
 */
function isEventStream(
  response: UpstreamResponse,
  wantsStream: boolean,
): boolean {
  const type = response.header("content-type")?.toLowerCase() ?? "";
  if (type.includes("event-stream")) return true;
  return wantsStream && !type.includes("json") && !type.includes("html");
}

interface LateFrame {
  /** Rejects at the limit. */
  readonly promise: Promise<never>;
  /** Ends the wait. */
  readonly clear: () => void;
}

function lateFrame(timers: Timers, limitMs: number): LateFrame {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const timer = timers.set(
    () =>
      reject(
        new ApiError(
          "timeout",
          "the upstream did not begin its answer in time",
        ),
      ),
    limitMs,
  );
  return { promise, clear: () => timers.clear(timer) };
}

/**
 * Waits for a stream's first frame, so that an error in it still becomes an HTTP status. The wait
 * has a limit of its own: some hosts send comments for many minutes before they answer.
 */
async function startedStream(
  relay: Relay,
  source: ByteSource,
  timers: Timers,
  limitMs: number,
): Promise<AttemptResult> {
  const first: Uint8Array[] = [];
  let late: LateFrame | undefined;
  try {
    for (let reads = 0; !relay.progress().started && !relay.done(); reads++) {
      // Nearly every first read has a frame, and needs no timer.
      if (reads === 1) late = lateFrame(timers, limitMs);
      const chunk = await (late === undefined
        ? source.read()
        : Promise.race([source.read(), late.promise]));
      const out = chunk === undefined ? relay.end() : relay.push(chunk);
      if (out.length > 0) {
        first.push(out);
      }
      if (chunk === undefined) {
        break;
      }
    }
  } catch (error) {
    source.cancel();
    throw error;
  } finally {
    late?.clear();
  }
  const { started, error } = relay.progress();
  if (error !== undefined && !started) {
    source.cancel();
    throw error;
  }
  return { type: "stream", relay, source, first: joinPieces(first) };
}

/**
 * Reads a body up to a limit. Beyond the limit, `"cut"` returns the bytes so far and `"fail"`
 * throws.
 *
 * @throws {ApiError} `upstream` for a body beyond the limit
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
