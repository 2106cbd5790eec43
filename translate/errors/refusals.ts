/**
 * What an upstream's refusal means where it concerns the operator: one table, by status, code and
 * words. It decides which key and candidate follow, what the client receives, and what is counted.
 * `host_errors.ts` has what only one host writes.
 */
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  textIn,
} from "../bytes/json.ts";
import { ApiError, type ErrorDetails } from "../model/error.ts";
import { withoutQuotes } from "./kept_words.ts";

/** What belongs to the operator. */
export type Refused = NonNullable<ErrorDetails["refused"]>;

/** The part of an error's body that the table reads. */
interface Signs {
  readonly message?: string;
  readonly type?: string;
  readonly code?: string;
  /** The object with the error, for lists of details. */
  readonly detail: JsonObject;
}

interface Row {
  readonly refused: Refused;
  /** Statuses of the row; absent: any, also of an error inside a reply. */
  readonly statuses?: readonly number[];
  /** Matches a whole code, type or reason; absent with `words`: any error of the statuses. */
  readonly codes?: RegExp;
  /** Matches the message outside of quotes, beside the codes if there are any. */
  readonly words?: RegExp;
}

/** The first row that fits decides. */
const ROWS: readonly Row[] = [
  // AWS: docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html,
  // 2026-11-22. Its types end with `Exception` or not.
  {
    refused: "setup",
    codes: /^AccessDenied(?:Exception)?$/,
    words: /\bmodel\b/i,
  },
  {
    refused: "setup",
    codes:
      /^(?:(?:OptInRequired|FTUFormNotFilled)(?:Exception)?|ResourceNotFoundException)$/,
  },
  {
    refused: "credential",
    codes:
      /^(?:AccessDenied|ExpiredToken|IncompleteSignature|InvalidClientTokenId|InvalidSignature|MissingAuthenticationToken|NotAuthorized|RequestExpired|SignatureDoesNotMatch|UnrecognizedClient)(?:Exception)?$/,
  },
  { refused: "quota", codes: /^ServiceQuotaExceeded(?:Exception)?$/ },
  {
    refused: "account",
    codes:
      /^(?:insufficient_(?:quota|balance|credits?|funds|user_quota)|pre_consume_token_quota_failed|exceeded_current_quota_error|budget_exceeded|account_deactivated|accountoverdueerror|arrearage|billing_(?:hard_limit_reached|not_active|disabled|error)|payment_required|credit_balance_exhausted|(?:organization|project)_(?:spend|usage)_limit_exceeded|consumer_(?:invalid|suspended))$/i,
  },
  {
    // `core/error-classes.mjs` of `@anthropic-ai/sdk` 1.11.0
    refused: "account",
    codes:
      /^(?:organization_on_hold|organization_type_not_supported|parent_organization_required|claude_code_key_creator_not_member|(?:contract|enforced)_spend_limit_reached|linked_organization_\w+|cmek_(?:key|context)_\w+)$/,
  },
  {
    refused: "account",
    statuses: [400, 401, 403, 429],
    words:
      /credit balance is too low|insufficient (?:account )?(?:balance|credits?|funds)|budget has been exceeded|exceededbudget|used all available credits|(?:monthly )?spending limit|out of credits|enable billing|account (?:is |has been )?(?:suspended|deactivated|in arrears)/i,
  },
  { refused: "account", statuses: [402] },
  {
    // Google's reasons: an invalid key is a 400.
    refused: "credential",
    codes: /^(?:API_KEY_\w+|SERVICE_DISABLED)$/,
  },
  {
    refused: "credential",
    statuses: [400],
    codes: /^invalid_api_key$/,
  },
  {
    refused: "credential",
    statuses: [400, 404],
    words:
      /^(?:incorrect|invalid) api key|api key not valid|api key expired|user location is not supported/i,
  },
  { refused: "credential", statuses: [401, 403] },
  {
    refused: "quota",
    statuses: [429],
    codes: /PerDay|Daily|per-day/i,
  },
  {
    refused: "quota",
    statuses: [429],
    words: /\bper[ -]day\b|\bdaily\b|\b[RT]PD\b/i,
  },
];

/** What the client receives. */
export const REFUSAL_WORDS: Readonly<Record<Refused, string>> = {
  credential:
    "the upstream refused the gateway's own credentials or account; the operator must look into it",
  account:
    "the upstream refused the gateway's own credentials or account; the operator must look into it",
  quota:
    "the gateway's own quota at the upstream is used up; the operator must look into it",
  setup:
    "the upstream does not serve the model under the name and settings that the gateway has for it; the operator must look into it",
};

/** What belongs to the operator and was refused, with the code that decided, if one did. */
export function refusedOf(
  status: number,
  body: Signs,
): { readonly refused: Refused; readonly code?: string } | undefined {
  const codes = codesOf(body);
  const words = withoutQuotes(body.message ?? "").trim();
  for (const row of ROWS) {
    if (row.statuses?.includes(status) === false) continue;
    if (row.words?.test(words) === false) continue;
    if (row.codes === undefined) return { refused: row.refused };
    const code = codes.find((one) => row.codes?.test(one));
    if (code !== undefined) return { refused: row.refused, code };
  }
  return undefined;
}

/** The codes of an error in every form: also Google's reasons and quotas. */
function codesOf({ code, type, detail }: Signs): readonly string[] {
  const details = detail["details"];
  const listed = arrayOr(details).filter(isObject);
  return [
    code,
    type,
    awsType(textIn(detail["__type"]) ?? ""),
    textIn(objectOr(details)["error_code"]),
    ...listed.map((one) => textIn(one["reason"])),
    ...listed.flatMap((one) => arrayOr(one["violations"])).map((one) =>
      textIn(objectOr(one)["quotaId"])
    ),
  ].filter((one) => one !== undefined);
}

/** The name in AWS's error type: a namespace may precede it, and an address follow. */
export function awsType(text: string): string {
  const [name = ""] = text.slice(text.lastIndexOf("#") + 1).split(":", 1);
  return name;
}

/**
 * The error of a refusal that concerns the operator. The upstream's words are for operators: they
 * concern nothing that a client can change.
 */
export function refusal(
  refused: Refused,
  status: number,
  details: ErrorDetails,
): ApiError {
  return new ApiError(
    refused === "quota" ? "rate_limit" : "upstream",
    REFUSAL_WORDS[refused],
    {
      upstreamCode: String(status),
      ...details,
      upstreamStatus: status,
      retryable: false,
      refused,
    },
  );
}
