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
import {
  awsType,
  refusal,
  type Refused,
  refusedOf,
} from "./errors/refusals.ts";

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
/** The request is at fault: no other candidate is asked. */
const REQUEST: Meaning = { status: 400 };
/** The model failed, not the request (AWS sends 424). */
const FAILED_DEPENDENCY = 424;

/** Wording of 400s and 404s about the name of a model or the way in which it is called. */
const SETUP_WORDING =
  /on-demand throughput|model identifier is invalid|(?:isn't|is not|not) supported on this route|publisher model|no such deployment|inference profile/i;

/**
 * The statuses of AWS's errors by their type, where its own are others; `errors/refusals.ts` has the
 * types that concern the operator.
 * docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html, 2026-11-22
 */
const AWS_STATUSES: ReadonlyMap<string, number> = new Map([
  ["ThrottlingException", 429],
  ["ModelNotReadyException", 429],
  ["ServiceUnavailableException", 503],
  ["ModelTimeoutException", 408],
  ["ModelStreamErrorException", 502],
  ["ModelErrorException", 502],
]);

const FILTER_CODES: ReadonlySet<string> = new Set([
  "content_filter",
  "content_policy_violation",
  "ResponsibleAIPolicyViolation",
]);

const MEANINGS: Readonly<
  Record<HostErrors, (reply: HostReply) => Meaning | undefined>
> = {
  aws({ status: own, headers, body }) {
    const type = typeOf(headers, body);
    if (type === "") return undefined;
    const ours = refusedOf(own, { ...body, type });
    if (ours !== undefined) return ours;
    const status = AWS_STATUSES.get(type);
    return status === undefined ? undefined : { status };
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

/** The name of AWS's error: a header, or a field of the body. */
function typeOf(headers: Headers, { detail }: ErrorBody): string {
  return awsType(
    headers.get("x-amzn-errortype") ?? textIn(detail["__type"]) ?? "",
  );
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
        const type = typeOf(headers, read);
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
