/**
 * What became of a call, and whether an attempt failed at its upstream. Pure.
 */
import { isKnownStatus } from "../../../translate/model/error.ts";
import type { CallRecord } from "./call_record.ts";

/** What can become of a call, each with its meaning. */
export const OUTCOMES = {
  complete: "the reply is complete",
  rescued: "complete, after an upstream failed",
  limited: "refused by a limit, the balance or the plan",
  invalid: "refused because of the request",
  upstream_failed: "the upstream failed before a reply began",
  gateway_failed: "the gateway could not serve it",
  cut: "the reply broke off",
  caller_left: "the client disconnected",
  lost: "the process that served it died",
} as const;

/** What became of a call. */
export type Outcome = keyof typeof OUTCOMES;

// The object has exactly these keys.
export const OUTCOME_NAMES = Object.keys(OUTCOMES) as readonly Outcome[];

/** Outcomes that are counted together, by the name of the filter that finds them. */
export const OUTCOME_GROUPS = {
  // The caller has to change something, or to wait.
  refused: ["limited", "invalid"],
  // The caller deserved a reply and received none, or not all of it.
  failed: ["upstream_failed", "gateway_failed", "cut", "lost"],
} as const satisfies Readonly<Record<string, readonly Outcome[]>>;

export type OutcomeGroup = keyof typeof OUTCOME_GROUPS;

/** What calls can be filtered by: an outcome or a group of them. */
export const OUTCOME_FILTERS = [
  ...OUTCOME_NAMES,
  // The object has exactly these keys.
  ...Object.keys(OUTCOME_GROUPS) as readonly OutcomeGroup[],
] as const;

/** The outcomes that a filter matches. */
export function outcomesOf(
  filter: Outcome | OutcomeGroup,
): readonly Outcome[] {
  return filter === "refused" || filter === "failed"
    ? OUTCOME_GROUPS[filter]
    : [filter];
}

/** Refusals of the request itself: no sign of an upstream's health. */
const OF_THE_REQUEST: ReadonlySet<unknown> = new Set([
  "invalid_request",
  "not_found",
  "too_large",
  "unsupported_media",
  "request_timeout",
  "permission",
]);

/**
 * What an attempt failed by: the status, or the kind of error; undefined if the upstream did not
 * fail.
 */
export function attemptError(
  { status, error }: { readonly status?: unknown; readonly error?: unknown },
): string | undefined {
  if (typeof error !== "string" || OF_THE_REQUEST.has(error)) return undefined;
  return typeof status === "number" && status >= 400 ? String(status) : error;
}

/** The same of an attempt that is listed as failed: also by a status that no table knows. */
export function listedError(
  attempt: Parameters<typeof attemptError>[0],
): string | undefined {
  const { status } = attempt;
  return attemptError(attempt) ??
    (isUnknownStatus(status) ? String(status) : undefined);
}

/** Whether a status is a refusal that no table knows, so that it may need a row. */
export function isUnknownStatus(status: unknown): boolean {
  return typeof status === "number" && status >= 400 && status < 500 &&
    !isKnownStatus(status);
}

/** Refusals by a rule, which last until an operator or time changes it. */
const BY_RULE =
  /^(?:key_)?(?:requests|tokens|spending)_per_(?:minute|day|week|month)$|^(?:key_)?concurrent_requests$|^(?:insufficient_balance|account_disabled|model_not_in_plan|estimated_share|key_revoked|key_expired)$/;

/** What became of a call, from its record. */
export function outcomeOf(
  { ended, status = 0, code = "", attempts = [] }: Pick<
    CallRecord,
    "ended" | "status" | "code" | "attempts"
  >,
): Outcome {
  switch (ended) {
    case "complete":
      return attempts.slice(0, -1).some((one) =>
          attemptError(one) !== undefined
        )
        ? "rescued"
        : "complete";
    case "failed":
      return "cut";
    case "caller_left":
    case "lost":
      return ended;
  }
  const last = attempts.at(-1);
  if (last !== undefined && attemptError(last) !== undefined) {
    return "upstream_failed";
  }
  if (BY_RULE.test(code)) return "limited";
  return status >= 500 ? "gateway_failed" : "invalid";
}
