/**
 * One attempt at one candidate: makes the call, and reads the response as its operation does. What
 * follows a failure is decided in `retry_policy.ts`.
 */
import type { UpstreamDialect } from "../../translate/dialect.ts";
import { ApiError } from "../../translate/model/error.ts";
import { joinPieces, withoutMark } from "../../translate/bytes/buffers.ts";
import type { Trace } from "../http/trace.ts";
import {
  authenticatedCall,
  type AuthenticatedResponse,
} from "./authenticated_call.ts";
import type { Candidate } from "./catalogue/model_registry.ts";
import type { Credential } from "./credentials/credential.ts";
import {
  type AttemptFailure,
  firstFrameFailure,
  noResponseFailure,
  statusFailure,
  wholeReplyFailure,
} from "./health/failure.ts";
import type { ByteSource } from "./http/byte_source.ts";
import type { UpstreamClient, UpstreamResponse } from "./http/http_client.ts";
import type { PreparedCall } from "./operation.ts";

/** What an attempt returned if it did not fail. */
interface AttemptResult<Result> {
  readonly type: "replied";
  readonly result: Result;
}

interface AttemptOptions<Result> {
  /** Makes the HTTP call and enforces its time limits. */
  readonly client: UpstreamClient;
  /** The call as written for the candidate. */
  readonly call: PreparedCall<Result>;
  /**
   * Whether the client asked for a stream. The upstream is asked for the same, but may reply
   * otherwise.
   */
  readonly isStream: boolean;
  /** The client's trace, forwarded to the upstream. */
  readonly trace: Trace | undefined;
  /** Aborts the attempt in any phase; its reason is thrown. */
  readonly signal: AbortSignal;
  /** The request goes out on an open connection. */
  readonly onSent?: () => void;
  /** The status of its response is a refusal. */
  readonly onRefused?: () => void;
  /** Another key of the same list is used after this refusal. */
  readonly onKeyRefused?: (error: ApiError) => void;
}

/** The part that all attempts of one call share. */
export type AttemptContext = Pick<AttemptOptions<unknown>, "trace" | "signal">;

const MAX_ERROR_BYTES = 256 * 1024;

/** A part of a reply, also where its body looks whole (RFC 9110, 15.3.7). */
const PARTIAL_CONTENT = 206;

/**
 * Makes the attempt. An upstream's failure is returned, not thrown.
 *
 * @throws the signal's reason if it was aborted; otherwise only internal errors
 */
export async function attempt<Result>(
  options: AttemptOptions<Result>,
): Promise<AttemptResult<Result> | AttemptFailure> {
  const { call, onKeyRefused } = options;
  const { credential } = call.candidate;
  const repeats = Math.max(1, (credential.keyCount ?? 0) - 1);
  for (let i = 0;; i++) {
    const ended = await attemptOnce(options);
    if (ended.type !== "refused") return ended;
    if (
      !await canUseAnother(credential, ended) || i >= repeats ||
      call.canRepeat?.() === false
    ) return withHint(ended, call.candidate);
    if (credential.rest !== undefined) onKeyRefused?.(ended.failure.error);
  }
}

/** How long a key is not used whose account or quota is exhausted. */
const NO_MONEY_MS = 300_000;
const NO_QUOTA_MS = 60_000;
/** The same for a rate limit without a delay. */
const LIMITED_MS = 1_000;

/** Whether the credential has another key, or a token that had expired early is replaced. */
async function canUseAnother(
  credential: Credential,
  { refused: { sent, response }, failure }: CredentialRefused,
): Promise<boolean> {
  const { refused, retryAfterSeconds } = failure.error.details;
  if (refused === "credential") return await credential.refused(sent, response);
  const restMs = retryAfterSeconds === undefined
    ? refused === "account"
      ? NO_MONEY_MS
      : refused === "quota"
      ? NO_QUOTA_MS
      : LIMITED_MS
    : retryAfterSeconds * 1000;
  return credential.rest?.(sent, restMs) ?? false;
}

/** The failure with what operators may have to know about their key. */
function withHint(
  { refused, failure }: CredentialRefused,
  { hostDialect }: Candidate,
): AttemptFailure {
  const { keyHint } = hostDialect.auth;
  const isKey = failure.error.details.refused === "credential" &&
    refused.sent["authorization"]?.startsWith("Bearer ") === true;
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

/** A failure that another key may not have: the credential, its account or its limits. */
interface CredentialRefused {
  readonly type: "refused";
  readonly refused: AuthenticatedResponse;
  readonly failure: AttemptFailure;
}

async function attemptOnce<Result>(
  { client, call, isStream, trace, signal, onSent, onRefused }: AttemptOptions<
    Result
  >,
): Promise<AttemptResult<Result> | AttemptFailure | CredentialRefused> {
  const { candidate, url, request } = call;
  let classify = noResponseFailure;
  try {
    const refused = await authenticatedCall({
      client,
      candidate,
      url,
      upstream: request,
      stream: isStream,
      trace,
      signal,
      ...(onSent === undefined ? {} : { onSent }),
    });
    const { response } = refused;
    if (response.status < 200 || response.status > 299) {
      onRefused?.();
      const failure = await failedStatus(candidate.dialect, response, signal);
      const { kind, details } = failure.error;
      const isOfKey = kind === "rate_limit" ||
        (details.refused !== undefined && details.refused !== "setup");
      return isOfKey ? { type: "refused", refused, failure } : failure;
    }
    if (response.status === PARTIAL_CONTENT) {
      response.body.cancel();
      return wholeReplyFailure(
        new ApiError(
          "upstream",
          "the upstream sent a part of a reply (status 206), although no part was asked for",
        ),
      );
    }
    classify = call.isRelayed(response) ? firstFrameFailure : wholeReplyFailure;
    return { type: "replied", result: await call.read(response) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof ApiError)) throw error;
    return classify(error);
  }
}

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

/**
 * Reads a body of text up to a limit, without a byte order mark. Beyond the limit, `"cut"` returns
 * the bytes so far and `"fail"` throws.
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
    if (piece === undefined) return withoutMark(joinPieces(pieces));
    pieces.push(piece);
    size += piece.length;
    if (size > maxBytes) {
      source.cancel();
      if (beyond === "cut") return joinPieces(pieces);
      throw new ApiError("upstream", "the upstream's reply is too long");
    }
  }
}
