/**
 * Reading an upstream's error whatever its shape: JSON of any vendor, arrays, HTML, plain text, nothing. Shared by the
 * dialects' `decodeError`, because a proxy in front of a vendor answers in nobody's dialect.
 *
 * @module
 */
import { ApiError, type ErrorKind, kindOfStatus } from "./error.ts";
import {
  isObject,
  type JsonObject,
  parseJson,
  stringIn,
  textIn,
} from "./json.ts";

/** What an error body tells. */
export interface ErrorBody {
  /** The vendor's words; absent where the body has none. */
  readonly message?: string;
  /** The vendor's word for the kind: `type`, or `status` where it says that. */
  readonly type?: string;
  /** A code in letters; a numeric one stays in `detail`. */
  readonly code?: string;
  /** The request field at fault, as the vendor names it. */
  readonly param?: string;
  /** The object that told it, for what only one dialect knows. */
  readonly detail: JsonObject;
}

const MAX_MESSAGE_CHARS = 4000;

/** Looks for an error in a parsed body: `{error:{…}}`, `{error:"…"}`, `{detail}`, `{message}`, or any of them in an array. */
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
  const message = textIn(detail["message"]) ?? textIn(detail["detail"]) ??
    textIn(outer["message"]) ??
    firstDetail(detail["detail"]);
  const code = detail["code"];
  const type = textIn(detail["type"]) ?? textIn(detail["status"]);
  const param = stringIn(detail["param"]);
  return {
    ...(message === undefined ? {} : { message }),
    ...(type === undefined ? {} : { type }),
    ...(typeof code === "string" && code !== "" ? { code } : {}),
    ...(param === undefined ? {} : { param }),
    detail,
  };
}

/** The value where it is an object, or the first one in it where it is an array. */
function firstObject(value: unknown): JsonObject | undefined {
  const first = Array.isArray(value) ? value.find(isObject) : value;
  return isObject(first) ? first : undefined;
}

function firstDetail(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return undefined;
  const first = detail.find(isObject);
  return first === undefined ? undefined : textIn(first["msg"]);
}

/** Looks for an error in a body's text. HTML gives its title or first words, plain text its first line. */
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
  // A vendor that was asked for a stream may frame its error like one, whatever the status.
  const framed = parseJson(/^data:[ \t]*(\{.*)$/m.exec(text)?.[1] ?? "");
  if (isObject(framed)) return readErrorObject(framed);
  // No pattern here may look ahead beyond the next tag: a page of nothing but "<" would stop the process for minutes.
  const title = /<title[^<>]*>([^<]*)<\/title>/i.exec(text)?.[1];
  const plain = (title ?? withoutScripts(text).replaceAll(/<[^<>]*>/g, " "))
    .replaceAll(/\s+/g, " ").trim();
  return plain === ""
    ? { detail: {} }
    : { message: plain.slice(0, 300), detail: {} };
}

/** A page without its styles and scripts; one that is not closed takes the rest with it. */
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

/** The error that an upstream's answer stands for: the status decides the kind, the body gives words and codes. */
export function upstreamError(
  status: number,
  headers: Headers,
  body: ErrorBody,
): ApiError {
  const kind = kindOfStatus(status);
  if (kind === "upstream") return opaqueFailure(status, headers, body);
  // The status decides first: a rate limit in tokens speaks of "too many tokens", too.
  const overflow = (kind === "invalid_request" || kind === "too_large") &&
    isContextOverflow(body);
  const retryAfterSeconds = retryAfter(headers);
  const quota = body.code === "insufficient_quota" ||
    body.type === "insufficient_quota";
  const code = overflow ? "context_length_exceeded" : body.code;
  return new ApiError(
    overflow ? "invalid_request" : kind,
    body.message?.slice(0, MAX_MESSAGE_CHARS) ?? DEFAULT_MESSAGE[kind],
    {
      upstreamStatus: status,
      ...(code === undefined ? {} : { code }),
      ...(body.param === undefined || kind !== "invalid_request"
        ? {}
        : { param: body.param }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      ...(quota ? { retryable: false } : advisedRetry(headers)),
    },
  );
}

/** A vendor's refusal of our key (401, 402, 403) is told without its words: they are about us, not about the caller. */
function opaqueFailure(
  status: number,
  headers: Headers,
  body: ErrorBody,
): ApiError {
  const aboutUs = status === 401 || status === 402 || status === 403;
  const message = aboutUs
    ? "the upstream refused the gateway's own credentials or account; the operator must look into it"
    : status >= 300 && status < 400
    ? "the upstream answered with a redirect, which is not followed"
    : body.message?.slice(0, MAX_MESSAGE_CHARS) ?? DEFAULT_MESSAGE.upstream;
  const kind: ErrorKind = status === 500 ? "internal" : "upstream";
  const retryAfterSeconds = retryAfter(headers);
  return new ApiError(kind, message, {
    upstreamStatus: status,
    ...(aboutUs ? { retryable: false } : {
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      ...advisedRetry(headers),
    }),
  });
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

/** What the vendor says itself about trying again. */
function advisedRetry(headers: Headers): { readonly retryable?: boolean } {
  const advice = headers.get("x-should-retry")?.trim().toLowerCase();
  return advice === "true" || advice === "false"
    ? { retryable: advice === "true" }
    : {};
}

/** A date further away than this is a clock that is wrong. */
const MAX_DATE_SECONDS = 24 * 60 * 60;

/** Whole seconds of `retry-after-ms` or `retry-after`; a date there is held against the answer's own. */
function retryAfter(headers: Headers): number | undefined {
  const ms = plainNumber(headers.get("retry-after-ms"));
  if (ms !== undefined) return Math.ceil(ms / 1000);
  const told = headers.get("retry-after");
  const seconds = plainNumber(told);
  if (seconds !== undefined) return Math.ceil(seconds);
  const distance = Math.ceil(
    (Date.parse(told ?? "") - Date.parse(headers.get("date") ?? "")) / 1000,
  );
  return distance >= 0 && distance <= MAX_DATE_SECONDS ? distance : undefined;
}

/** Digits, perhaps with a fraction; nothing longer than a header should hold. */
function plainNumber(text: string | null): number | undefined {
  return text !== null && /^\s*\d{1,12}(?:\.\d*)?\s*$/.test(text)
    ? Number(text)
    : undefined;
}

const OVERFLOW =
  /prompt is too long|input is too long|maximum (?:context|prompt) length|exceeds? (?:the |its )?(?:model's |available )?context (?:length|size|limit)|context_length_exceeded|context window|exceeds the maximum number of tokens|input token count|too many tokens/i;

function isContextOverflow(body: ErrorBody): boolean {
  return body.code === "context_length_exceeded" ||
    (body.message !== undefined && OVERFLOW.test(body.message));
}

/** The two numbers in an overflow message: what was sent and what is allowed. Undefined where they are not told. */
export function overflowNumbers(
  message: string,
): { readonly tokens: number; readonly maximum: number } | undefined {
  const patterns: readonly [RegExp, "maximum first" | "tokens first"][] = [
    [/prompt is too long: (\d+) tokens > (\d+)/i, "tokens first"],
    [
      /maximum (?:context|prompt) length (?:is|of) (\d+)[^]*?(?:resulted in|requested(?: about)?|you requested|has|contains?) (\d+)/i,
      "maximum first",
    ],
    [/input token count \(?(\d+)\)? exceeds[^]*?\(?(\d+)\)?/i, "tokens first"],
    [/input token count is (\d+) but [^]*?up to (\d+)/i, "tokens first"],
    [
      /(\d{4,}) tokens[^]*?(?:maximum|limit|context)[^\d]*(\d{4,})/i,
      "tokens first",
    ],
  ];
  const plain = message.replaceAll(/(\d),(?=\d{3})/g, "$1");
  for (const [pattern, order] of patterns) {
    const found = pattern.exec(plain);
    if (found === null) continue;
    const [first, second] = [Number(found[1]), Number(found[2])];
    return order === "tokens first"
      ? { tokens: first, maximum: second }
      : { tokens: second, maximum: first };
  }
  return undefined;
}
