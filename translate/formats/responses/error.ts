/**
 * Errors in this format: decodes an error inside a reply, and encodes the gateway's errors.
 */
import {
  ERROR_ROWS,
  type ErrorRow,
  messageOf,
} from "../../families/chat/error.ts";
import type { OverflowNumbers } from "../../errors/context_overflow.ts";
import type { EncodedError } from "../../dialect.ts";
import {
  type ApiError,
  type ErrorKind,
  retryHeaders,
  vendorFields,
} from "../../model/error.ts";
import { readErrorObject } from "../../errors/error_body.ts";
import { errorOfWords } from "../../errors/error_words.ts";
import {
  isObject,
  type JsonObject,
  objectOr,
  textIn,
} from "../../bytes/json.ts";

export { decodeError } from "../../families/chat/error.ts";

/** For a client that asks for compaction: Codex does so under its built-in provider alone. */
export const COMPACTION_REMEDY =
  "Codex compacts by itself with a provider of its own, which model_provider in its config.toml selects: docs/clients.md";

/**
 * Decodes an error inside a reply whose status was 200: an `error` event of either shape, or a
 * failed reply.
 */
export function inBandError(body: JsonObject): ApiError {
  const response = objectOr(body["response"]);
  const value = [body["error"], response["error"]].find((error) =>
    isObject(error) || textIn(error) !== undefined
  );
  // The flat shape has the error's fields beside the event's own `type`.
  const { type: _, ...flat } = body;
  return errorOfWords(readErrorObject(
    isObject(value)
      ? { error: value }
      : typeof value === "string"
      ? { ...flat, message: value }
      : textIn(response["status"]) === undefined
      ? flat
      : { message: `the reply's status is ${response["status"]}` },
  ));
}

interface Row extends ErrorRow {
  /** The `code` inside a stream, if clients base their retry rules on another one there. */
  readonly streamCode?: string;
}

const FAULT: Row = { type: "server_error", streamCode: "server_error" };
const BUSY: Row = {
  type: "server_error",
  code: "server_is_overloaded",
  status: 503,
};
const QUOTA: Row = {
  type: "insufficient_quota",
  code: "insufficient_quota",
  status: 429,
};

const ROWS: Readonly<Record<ErrorKind, Row>> = {
  ...ERROR_ROWS,
  billing: QUOTA,
  internal: FAULT,
  upstream: FAULT,
  unavailable: BUSY,
  timeout: FAULT,
  overloaded: BUSY,
};

/**
 * Codes for an account that cannot pay. Clients of this format know only one word and one status
 * for them.
 */
const UNPAID: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "insufficient_balance",
]);

function isUnpaid({ kind, details }: ApiError): boolean {
  return kind === "billing" || UNPAID.has(details.code ?? "");
}

function rowOf(error: ApiError): Row {
  return isUnpaid(error) ? QUOTA : ROWS[error.kind];
}

function codeOf(error: ApiError): string | null {
  const row = rowOf(error);
  return row === QUOTA || row === BUSY
    ? row.code ?? null
    : error.details.code ?? row.code ?? null;
}

function overflow({ tokens, maximum, output }: OverflowNumbers): string {
  const asked = output === undefined
    ? `your input has ${tokens} tokens. Please shorten the input.`
    : `you requested ${
      tokens + output
    } tokens (${tokens} in the input, ${output} in the output). Please shorten the input or lower max_output_tokens.`;
  return `Your input exceeds the context window of this model. Its maximum context length is ${maximum} tokens, and ${asked}`;
}

export function encodeError(error: ApiError, requestId: string): EncodedError {
  const { retryAfterSeconds: _, ...details } = error.details;
  const row = rowOf(error);
  return {
    status: row.status ?? error.status,
    headers: retryHeaders(
      row === QUOTA ? { ...details, retryable: false } : error.details,
    ),
    body: {
      type: "error",
      error: {
        ...vendorFields(error, "openai"),
        type: row.type,
        message: messageOf(error, overflow),
        code: codeOf(error),
        param: details.param ?? null,
      },
      request_id: requestId,
    },
  };
}

/**
 * An error inside a stream: the fields of the `error` event, flat and nested, and the `error` of
 * the failed reply.
 */
interface StreamError {
  /** Fields of the `error` event beside its type and sequence number. */
  readonly event: JsonObject;
  /** The `error` of the failed reply. */
  readonly ofReply: JsonObject;
}

/**
 * Encodes an error for a stream. It repeats the error's fields, because clients read them in
 * different places.
 */
export function streamError(error: ApiError, requestId?: string): StreamError {
  const row = rowOf(error);
  const code = codeOf(error) ?? row.streamCode ?? row.type;
  const param = error.details.param ?? null;
  const seconds = error.details.retryAfterSeconds;
  // Clients parse the time to wait out of this sentence, since a running stream cannot send a
  // header.
  const message = code === "rate_limit_exceeded" && seconds !== undefined
    ? `${error.message} Please try again in ${seconds}s.`
    : messageOf(error, overflow);
  return {
    event: {
      code,
      message,
      param,
      error: {
        ...vendorFields(error, "openai"),
        type: row.type,
        code,
        message,
        param,
      },
      ...(requestId === undefined ? {} : { request_id: requestId }),
    },
    ofReply: { ...vendorFields(error, "openai"), code, message },
  };
}
