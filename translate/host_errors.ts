/**
 * Errors of hosts that differ from their dialect's: whose fault a refusal is, and what its status
 * means. The dialect decodes the rest. A refusal of the request itself stays the client's.
 */
import { objectOr, textIn } from "./bytes/json.ts";
import type { UpstreamDialect } from "./dialect.ts";
import { ApiError } from "./model/error.ts";
import {
  type ErrorBody,
  readErrorText,
  upstreamCode,
} from "./errors/error_body.ts";
import { refusal, type Refused } from "./errors/refusals.ts";

/** Whose error form a host uses beside its dialect's. */
export type HostErrors = "aws" | "azure" | "google" | "compatible";

/** What a host's error means, where that differs from its status. */
interface Meaning {
  /** The status to decode it with; absent: its own. */
  readonly status?: number;
  /** What belongs to the operator and was refused. */
  readonly refused?: Refused;
}

/** An error as the host sent it. */
interface HostReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ErrorBody;
}

const SETUP: Meaning = { refused: "setup" };
const CREDENTIAL: Meaning = { refused: "credential" };
/** The request is at fault: no other candidate is asked. */
const REQUEST: Meaning = { status: 400 };
/** The model failed, not the request (AWS sends 424). */
const FAILED_DEPENDENCY = 424;

/** Wording of 400s and 404s about the name of a model or the way in which it is called. */
const SETUP_WORDING =
  /on-demand throughput|model identifier is invalid|(?:isn't|is not|not) supported on this route|publisher model|no such deployment|inference profile/i;

/**
 * The meanings of AWS's errors by their type, without `Exception`.
 * docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html, 2026-11-22
 */
const AWS_TYPES: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ["AccessDenied", CREDENTIAL],
  ["ExpiredToken", CREDENTIAL],
  ["IncompleteSignature", CREDENTIAL],
  ["InvalidClientTokenId", CREDENTIAL],
  ["InvalidSignature", CREDENTIAL],
  ["MissingAuthenticationToken", CREDENTIAL],
  ["NotAuthorized", CREDENTIAL],
  ["RequestExpired", CREDENTIAL],
  ["SignatureDoesNotMatch", CREDENTIAL],
  ["UnrecognizedClient", CREDENTIAL],
  ["OptInRequired", SETUP],
  ["FTUFormNotFilled", SETUP],
  ["ResourceNotFound", SETUP],
  ["Throttling", { status: 429 }],
  ["ModelNotReady", { status: 429 }],
  ["ServiceQuotaExceeded", { refused: "quota" }],
  ["ServiceUnavailable", { status: 503 }],
  ["ModelTimeout", { status: 408 }],
  ["ModelStreamError", { status: 502 }],
  ["ModelError", { status: 502 }],
]);

const FILTER_CODES: ReadonlySet<string> = new Set([
  "content_filter",
  "content_policy_violation",
  "ResponsibleAIPolicyViolation",
]);

const MEANINGS: Readonly<
  Record<HostErrors, (reply: HostReply) => Meaning | undefined>
> = {
  aws({ headers, body }) {
    const type = awsType(headers, body);
    if (type === "AccessDenied" && /\bmodel\b/i.test(body.message ?? "")) {
      return SETUP;
    }
    return AWS_TYPES.get(type);
  },
  azure: ({ body }) => body.code === "unknown_model" ? SETUP : undefined,
  google: () => undefined,
  compatible({ status, body }) {
    // A prompt that one router's moderation refused; 403 is a refused key elsewhere.
    const { reasons, flagged_input } = objectOr(body.detail["metadata"]);
    if (status === 403 && (Array.isArray(reasons) || flagged_input)) {
      return REQUEST;
    }
    // llama.cpp: the model's chat template has no place for a part of the conversation.
    return status === 500 && /\bjinja\b|chat template/i.test(body.message ?? "")
      ? SETUP
      : undefined;
  },
};

/** The name of AWS's error: a header with an address after it, or a field of the body. */
function awsType(headers: Headers, { detail }: ErrorBody): string {
  const name = headers.get("x-amzn-errortype") ??
    textIn(detail["__type"])?.replace(/^.*#/, "") ?? "";
  return name.replace(/:[^]*/, "").replace(/Exception$/, "");
}

function meaningOf(host: HostErrors, reply: HostReply): Meaning {
  const { status, body } = reply;
  const inner = objectOr(body.detail["innererror"]);
  if (
    FILTER_CODES.has(body.code ?? "") ||
    FILTER_CODES.has(textIn(inner["code"]) ?? "")
  ) return REQUEST;
  const own = MEANINGS[host](reply);
  if (own !== undefined) return own;
  if (status === FAILED_DEPENDENCY) return { status: 502 };
  // The gateway chose path and model, so the client cannot have caused this.
  if (status === 404) return SETUP;
  return status === 400 && SETUP_WORDING.test(body.message ?? "") ? SETUP : {};
}

export function withHostErrors(
  dialect: UpstreamDialect,
  host: HostErrors,
): UpstreamDialect {
  return {
    ...dialect,
    decodeError(status, headers, body) {
      const read = readErrorText(body);
      const meaning = meaningOf(host, { status, headers, body: read });
      if (meaning.refused !== undefined) {
        const type = awsType(headers, read);
        return refusalOf(
          meaning.refused,
          status,
          type === "" ? read : { ...read, type },
        );
      }
      const error = dialect.decodeError(
        meaning.status ?? status,
        headers,
        withType(body, read),
      );
      if (meaning.status === undefined) return error;
      return new ApiError(error.kind, error.message, {
        ...error.details,
        upstreamStatus: status,
      });
    },
  };
}

/** AWS's bodies have a message alone, in upper case in some services. */
function withType(body: string, read: ErrorBody): string {
  const message = textIn(read.detail["Message"]);
  return read.message === undefined && message !== undefined
    ? JSON.stringify({ message })
    : body;
}

/** The error of a refusal that concerns the operator. The host's words are for the log. */
function refusalOf(what: Refused, status: number, body: ErrorBody): ApiError {
  const note = body.message ?? textIn(body.detail["Message"]);
  return refusal(what, status, {
    ...(note === undefined ? {} : { note: note.slice(0, 300) }),
    ...upstreamCode(body),
  });
}
