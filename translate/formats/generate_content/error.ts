/**
 * Errors in this format: `{"error": {code, message, status, details}}`, alone, in an array, or
 * inside a stream. `../../model/error_body.ts` decodes bodies of any other shape.
 *
 * @module
 */
import { ApiError } from "../../model/error.ts";
import {
  type ErrorBody,
  readErrorObject,
  readErrorText,
  upstreamError,
} from "../../model/error_body.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  textIn,
} from "../../bytes/json.ts";
import { ACCOUNT_REASONS, RPC_STATUSES } from "./wire.ts";

/** Wording of refusals that concern the gateway's account and have no machine-readable reason. */
const ACCOUNT_WORDING =
  /api key not valid|api key expired|user location is not supported|enable billing/i;

/** Decodes an upstream's error of any shape. Never throws. */
export function decodeError(
  status: number,
  headers: Headers,
  body: string,
): ApiError {
  return errorOf(status, headers, readErrorText(body));
}

/**
 * Decodes an error that came inside a 200: the body's number or status word replaces the HTTP
 * status.
 */
export function inBandError(body: JsonObject): ApiError {
  const read = readErrorObject(body);
  const code = read.detail["code"];
  const status = RPC_STATUSES.get(read.type ?? "") ??
    (typeof code === "number" && code >= 400 && code < 600 ? code : 502);
  return errorOf(status, new Headers(), read);
}

function errorOf(status: number, headers: Headers, body: ErrorBody): ApiError {
  const details = arrayOr(body.detail["details"]).filter(isObject);
  const reason = details.map((detail) => textIn(detail["reason"]) ?? "")
    .find((reason) => ACCOUNT_REASONS.has(reason));
  const aboutUs = status >= 400 && status < 500 && status !== 429 &&
    (reason !== undefined || ACCOUNT_WORDING.test(body.message ?? ""));
  // This vendor refuses the gateway's own key with 400; treated as 401 it is reported without the
  // vendor's message.
  const error = upstreamError(
    aboutUs ? 401 : status,
    headers,
    aboutUs && reason !== undefined ? { ...body, code: reason } : body,
  );
  const retryAfterSeconds = error.details.retryAfterSeconds ??
    retryDelay(details);
  return new ApiError(error.kind, error.message, {
    ...error.details,
    upstreamStatus: status,
    ...(retryAfterSeconds === undefined || aboutUs
      ? {}
      : { retryAfterSeconds }),
  });
}

/**
 * The delay of `google.rpc.RetryInfo`, such as `"48.9s"`, in whole seconds: this vendor sends no
 * retry-after header.
 */
function retryDelay(details: readonly JsonObject[]): number | undefined {
  for (const detail of details) {
    const delay = /^(\d+(?:\.\d+)?)s$/.exec(textIn(detail["retryDelay"]) ?? "")
      ?.[1];
    if (delay !== undefined) return Math.ceil(Number(delay));
  }
  return undefined;
}
