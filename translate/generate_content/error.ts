/**
 * Errors of this wire: `{"error": {code, message, status, details}}`, bare, in an array, or in the middle of a stream. Bodies of
 * any other shape are `../error_body.ts`'s.
 *
 * @module
 */
import { ApiError } from "../error.ts";
import {
  type ErrorBody,
  readErrorObject,
  readErrorText,
  upstreamError,
} from "../error_body.ts";
import { arrayOr, isObject, type JsonObject, textIn } from "../json.ts";
import { ACCOUNT_REASONS, RPC_STATUSES } from "./wire.ts";

/** Words of refusals that are about the gateway's account and come without a reason of their own. */
const ACCOUNT_WORDING =
  /api key not valid|api key expired|user location is not supported|enable billing/i;

/** Reads an upstream's error answer of any shape. Never throws. */
export function decodeError(
  status: number,
  headers: Headers,
  body: string,
): ApiError {
  return errorOf(status, headers, readErrorText(body));
}

/** The error that came inside a 200: the status is gone, so the body's number or word stands for it. */
export function inBandError(body: JsonObject): ApiError {
  const read = readErrorObject(body);
  const code = read.detail["code"];
  const status = RPC_STATUSES.get(read.type ?? "") ??
    (typeof code === "number" && code >= 400 && code < 600 ? code : 502);
  return errorOf(status, new Headers(), read);
}

function errorOf(status: number, headers: Headers, body: ErrorBody): ApiError {
  const details = arrayOr(body.detail["details"]).filter(isObject);
  const aboutUs = status >= 400 && status < 500 && status !== 429 &&
    (details.some((detail) =>
      ACCOUNT_REASONS.has(textIn(detail["reason"]) ?? "")
    ) || ACCOUNT_WORDING.test(body.message ?? ""));
  // A refusal of the gateway's own key is a 400 on this wire; as a 401 it is told without the vendor's words.
  const error = upstreamError(aboutUs ? 401 : status, headers, body);
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

/** `google.rpc.RetryInfo`'s delay, `"48.9s"`, in whole seconds: the wire has no retry-after header. */
function retryDelay(details: readonly JsonObject[]): number | undefined {
  for (const detail of details) {
    const delay = /^(\d+(?:\.\d+)?)s$/.exec(textIn(detail["retryDelay"]) ?? "")
      ?.[1];
    if (delay !== undefined) return Math.ceil(Number(delay));
  }
  return undefined;
}
