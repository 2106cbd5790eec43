/**
 * Decodes an upstream's error of any shape: JSON of any vendor, arrays, HTML, plain text, an empty
 * body. All dialects' `decodeError` share it, because a proxy in front of a vendor answers in no
 * known dialect.
 */
import { isContextOverflow, withNumbers } from "./context_overflow.ts";
import { refusal, refusedOf } from "./refusals.ts";
import {
  ApiError,
  type ErrorDetails,
  type ErrorFamily,
  type ErrorKind,
  isKnownStatus,
  kindOfStatus,
} from "../model/error.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  MAX_LEVELS,
  nestsWithin,
  objectOr,
  parseJson,
  stringIn,
  textIn,
} from "../bytes/json.ts";

export interface ErrorBody {
  /** The vendor's message; absent where the body has none. */
  readonly message?: string;
  /** The vendor's error type: `type`, or `status` where that holds it. */
  readonly type?: string;
  /** A code in letters; a numeric one stays in `detail`. */
  readonly code?: string;
  /** The request field at fault, as the vendor names it. */
  readonly param?: string;
  /** The object that contained the error, for fields that only one dialect knows. */
  readonly detail: JsonObject;
  /** What the body's `error` has beside the fields above, in the vendor's own form. */
  readonly own?: JsonObject;
}

const MAX_MESSAGE_CHARS = 4000;
/** What is quoted of a body without a message. */
const MAX_PLAIN_CHARS = 300;

/**
 * Finds an error in a parsed body: `{error:{…}}`, `{error:"…"}`, `{detail}`, `{message}`, or any of
 * them in an array.
 */
export function readErrorObject(body: unknown): ErrorBody {
  const outer = firstObject(body);
  if (outer === undefined) return { detail: {} };
  const inner = firstObject(outer["error"]) ?? firstObject(outer["errors"]) ??
    outer["error"];
  if (typeof inner === "string") {
    return {
      ...(inner.trim() === "" ? {} : { message: inner }),
      detail: outer,
    };
  }
  const detail = isObject(inner) ? inner : outer;
  const words = textIn(detail["message"]) ?? textIn(detail["detail"]) ??
    textIn(outer["message"]) ??
    firstDetail(detail["detail"]);
  const message = words === ROUTED ? routedMessage(detail) : words;
  const code = detail["code"];
  const type = textIn(detail["type"]) ?? textIn(detail["status"]);
  const param = stringIn(detail["param"]);
  return {
    ...(message === undefined ? {} : { message }),
    ...(type === undefined ? {} : { type }),
    ...(typeof code === "string" && code !== "" ? { code } : {}),
    ...(param === undefined ? {} : { param }),
    detail,
    ...(isObject(inner) ? ownFields(inner) : {}),
  };
}

/** Fields that every format writes of its own. */
const COMMON: ReadonlySet<string> = new Set([
  "type",
  "message",
  "code",
  "param",
]);

function ownFields(error: JsonObject): Pick<ErrorBody, "own"> {
  const own = Object.entries(error).filter(([name, value]) =>
    !COMMON.has(name) && nestsWithin(value, MAX_LEVELS)
  );
  return own.length === 0 ? {} : { own: Object.fromEntries(own) };
}

/** One router's message for a vendor's error; the vendor's own message is in another field. */
const ROUTED = "Provider returned error";

function routedMessage(detail: JsonObject): string {
  const raw = objectOr(detail["metadata"])["raw"];
  const parsed = typeof raw === "string" ? parseJson(raw) : raw;
  const original = typeof parsed === "object"
    // Without its metadata, so that nothing is searched twice.
    ? readErrorObject(withoutMetadata(parsed)).message
    : textIn(raw);
  return original === undefined ? ROUTED : `${ROUTED}: ${original}`;
}

function withoutMetadata(value: unknown): unknown {
  const { metadata: _, ...rest } = objectOr(value);
  const { metadata: __, ...inner } = objectOr(rest["error"]);
  return isObject(rest["error"]) ? { ...rest, error: inner } : rest;
}

/** The value if it is an object, or the first object in it if it is an array. */
function firstObject(value: unknown): JsonObject | undefined {
  const first = Array.isArray(value) ? value.find(isObject) : value;
  return isObject(first) ? first : undefined;
}

/** The first error of a list by FastAPI, with the field that it is about. */
function firstDetail(detail: unknown): string | undefined {
  const { msg, loc } = arrayOr(detail).find(isObject) ?? {};
  const field = arrayOr(loc).filter((step) => step !== "body").join(".");
  const words = textIn(msg);
  return words === undefined || field === "" ? words : `${field}: ${words}`;
}

/**
 * Finds an error in a body's text. HTML gives its title or first words, plain text its first line.
 */
export function readErrorText(text: string): ErrorBody {
  const parsed = parseJson(text.trim());
  if (typeof parsed === "object" && parsed !== null) {
    return readErrorObject(parsed);
  }
  if (typeof parsed === "string") {
    return parsed.trim() === ""
      ? { detail: {} }
      : { message: parsed, detail: {} };
  }
  // A vendor that was asked for a stream may frame its error as an event, whatever the status.
  const frame = /^data:[ \t]*(\{.*)$/m.exec(text)?.[1];
  const framed = parseJson(frame ?? "");
  if (isObject(framed)) return readErrorObject(framed);
  const cut = frame ?? text.trim();
  if (/^(?:\{|\[\s*(?:\{|$))/.test(cut)) {
    const words = cut.slice(0, MAX_PLAIN_CHARS).toWellFormed();
    return {
      message: `the upstream sent an error that is cut: "${words}"`,
      detail: {},
    };
  }
  // No pattern here may scan beyond the next tag: on a page of nothing but "<" it would take
  // minutes.
  const title = /<title[^<>]*>([^<]*)<\/title>/i.exec(text)?.[1];
  const plain = (title ?? withoutScripts(text).replaceAll(/<[^<>]*>/g, " "))
    .replaceAll(/\s+/g, " ").trim();
  return plain === ""
    ? { detail: {} }
    : { message: plain.slice(0, MAX_PLAIN_CHARS), detail: {} };
}

/** A page without its styles and scripts; an unclosed one is removed up to the end of the page. */
function withoutScripts(page: string): string {
  const opening = /<(?:style|script)/gi;
  const closing = /<\/(?:style|script)>/gi;
  let kept = "";
  let at = 0;
  for (;;) {
    opening.lastIndex = at;
    const start = opening.exec(page)?.index ?? page.length;
    kept += `${page.slice(at, start)} `;
    closing.lastIndex = start;
    if (closing.exec(page) === null) return kept;
    at = closing.lastIndex;
  }
}

/**
 * The error for an upstream's response: the status decides the kind, the body gives message and
 * codes.
 *
 * @param family the clients that receive the body's error object with all of its fields; absent:
 * none
 */
export function upstreamError(
  status: number,
  headers: Headers,
  body: ErrorBody,
  family?: ErrorFamily,
): ApiError {
  const kind = kindOfStatus(status);
  const retryAfterSeconds = retryAfter(headers);
  const passed = family === undefined || body.own === undefined
    ? {}
    : { vendorError: { family, fields: body.own } };
  const ours = refusedOf(status, body);
  if (ours !== undefined) {
    return refusal(ours.refused, status, {
      ...upstreamCode(ours.code === undefined ? body : { code: ours.code }),
      ...upstreamMessage(body),
      // Clients wait by a vendor's own facts about its quota.
      ...(ours.refused === "quota" ? passed : {}),
      ...(ours.refused === "quota" && retryAfterSeconds !== undefined
        ? { retryAfterSeconds }
        : {}),
    });
  }
  if (kind === "upstream") {
    return upstreamFailure(status, headers, body, passed);
  }
  // The status decides first: a token rate limit also mentions "too many tokens".
  const overflow = (kind === "invalid_request" || kind === "too_large") &&
    isContextOverflow(body);
  const code = overflow ? "context_length_exceeded" : body.code;
  const message = body.message?.slice(0, MAX_MESSAGE_CHARS) ??
    DEFAULT_MESSAGE[kind];
  return new ApiError(
    overflow ? "invalid_request" : kind,
    overflow ? withNumbers(message, body.detail) : message,
    {
      upstreamStatus: status,
      ...(code === undefined ? {} : { code }),
      ...(body.param === undefined || kind !== "invalid_request"
        ? {}
        : { param: body.param }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      ...passed,
      ...(isKnownStatus(status) ? {} : { upstreamCode: `unknown_${status}` }),
      ...advisedRetry(headers),
    },
  );
}

/** A failure of the upstream itself, or a status that no request explains. */
function upstreamFailure(
  status: number,
  headers: Headers,
  body: ErrorBody,
  passed: Pick<ErrorDetails, "vendorError">,
): ApiError {
  const message = status >= 300 && status < 400
    ? "the upstream answered with a redirect, which is not followed"
    : body.message?.slice(0, MAX_MESSAGE_CHARS) ?? DEFAULT_MESSAGE.upstream;
  const kind: ErrorKind = status === 500 ? "internal" : "upstream";
  const retryAfterSeconds = retryAfter(headers);
  return new ApiError(kind, message, {
    upstreamStatus: status,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...passed,
    ...advisedRetry(headers),
  });
}

const MAX_CODE_CHARS = 100;

/** The code by which operators find out what their account or credential lacks. */
export function upstreamCode(
  { code, type }: Pick<ErrorBody, "code" | "type">,
): Pick<ErrorDetails, "upstreamCode"> {
  const found = code ?? type;
  return found === undefined
    ? {}
    : { upstreamCode: found.slice(0, MAX_CODE_CHARS).toWellFormed() };
}

function upstreamMessage(
  { message }: ErrorBody,
): Pick<ErrorDetails, "upstreamMessage"> {
  return message === undefined ? {} : {
    upstreamMessage: message.slice(0, MAX_PLAIN_CHARS).toWellFormed(),
  };
}

const DEFAULT_MESSAGE: Readonly<Record<ErrorKind, string>> = {
  invalid_request: "the upstream refused the request",
  authentication: "the upstream failed",
  billing: "the upstream failed",
  permission: "the upstream failed",
  not_found: "the upstream does not know the model or path",
  method_not_allowed: "the upstream failed",
  request_timeout: "the upstream did not answer in time",
  conflict: "the upstream reports a conflict",
  too_large: "the upstream finds the request too large",
  unsupported_media: "the upstream failed",
  rate_limit: "the upstream's rate limit is reached",
  internal: "the upstream failed",
  upstream: "the upstream failed",
  unavailable: "the upstream is unavailable",
  timeout: "the upstream did not answer in time",
  overloaded: "the upstream is overloaded",
};

/** The vendor's own advice on whether to retry. */
function advisedRetry(headers: Headers): { readonly retryable?: boolean } {
  const advice = headers.get("x-should-retry")?.trim().toLowerCase();
  return advice === "true" || advice === "false"
    ? { retryable: advice === "true" }
    : {};
}

/** A `retry-after` date further ahead than this comes from a wrong clock. */
const MAX_DATE_SECONDS = 24 * 60 * 60;

/**
 * Seconds of `retry-after-ms` or `retry-after`; a date is compared with the response's own `date`.
 */
function retryAfter(headers: Headers): number | undefined {
  const ms = plainNumber(headers.get("retry-after-ms"));
  if (ms !== undefined) return wholeMs(ms / 1000);
  const header = headers.get("retry-after");
  const seconds = plainNumber(header);
  if (seconds !== undefined) return wholeMs(seconds);
  const distance = Math.ceil(
    (Date.parse(header ?? "") - Date.parse(headers.get("date") ?? "")) / 1000,
  );
  return distance >= 0 && distance <= MAX_DATE_SECONDS ? distance : undefined;
}

/** Seconds, rounded up to the millisecond. */
export function wholeMs(seconds: number): number {
  // A product such as 1.001 * 1000 is slightly more than its whole number.
  return Math.ceil(Number((seconds * 1000).toFixed(3))) / 1000;
}

/** A decimal number, at most as long as a header should hold. */
function plainNumber(text: string | null): number | undefined {
  return text !== null && /^\s*\d{1,12}(?:\.\d*)?\s*$/.test(text)
    ? Number(text)
    : undefined;
}
