/**
 * Why a call did not complete, in dollars and hours, and what helps.
 */
import type { JSX } from "../jsx.d.ts";
import type { CallRecord } from "../../../gateway/accounts/calls/call_record.ts";
import {
  attemptError,
  outcomeOf,
  OUTCOMES,
} from "../../../gateway/accounts/calls/outcome.ts";
import {
  DAY_MS,
  dayAfter,
  dayOf,
  WINDOWS,
} from "../../../gateway/accounts/limits/calendar_window.ts";
import type { LimitCode } from "../../../gateway/accounts/limits/exceeded_limit.ts";
import { limitWords } from "../../../gateway/accounts/limits/limit_levels.ts";
import { Count, countText, Money } from "./money.tsx";
import { durationText, Moment } from "./moment.tsx";

const LIMIT =
  /^(?:key_)?(?:\w+_per_(?:minute|day|week|month)|concurrent_requests)$/;

function isLimit(code: string): code is LimitCode {
  return LIMIT.test(code);
}

/** What helps against refusals that are no limit, by code. */
const HELP: Readonly<Record<string, string>> = {
  insufficient_balance: "Top up the balance, or lower max_tokens.",
  model_not_in_plan: "Call a model of the plan, or ask for another plan.",
  account_disabled: "The operator suspended the account; ask them.",
  estimated_share:
    "Read replies to their end, so that the vendor's figures arrive, or ask the operator for a higher share.",
  key_revoked: "The key is revoked: use another one.",
  key_expired: "The key has ended: use another one.",
  model_not_found:
    "Check the model's id; the page of the models has all of them.",
  unsupported_operation:
    "Call a model that can do this; the list of models has their operations.",
  model_not_priced: "The operator must give the model a price.",
  field_not_priced:
    "Leave the field out that the error named, or ask the operator for a price of it.",
  context_length_exceeded:
    "The prompt is longer than the model takes: shorten it, or call a model with a larger context.",
  model_max_prompt_tokens_exceeded:
    "The prompt is longer than the model takes: shorten it, or call a model with a larger context.",
  unsupported_parameter: "Leave the field out that the error named.",
  tool_name_conflict: "Give each tool a name of its own.",
  response_not_found:
    "The reply that the request refers to is not stored, or not for this key.",
  rate_limit_exceeded:
    "The vendor limits the gateway's account: wait as long as retry-after said.",
  insufficient_quota:
    "The gateway's account at the vendor has no credit: the operator must add some.",
  server_error: "The vendor failed: try again.",
  server_is_overloaded: "The vendor is overloaded: try again later.",
  invalid_api_key: "Send a key of this gateway.",
  wrong_credential: "Send an API key: other credentials call no models.",
  no_credential:
    "The operator must look at the credential of the upstream: the page of the upstreams has its reason.",
  invalid_request: "Correct the field that the error named.",
  authentication: "Send a key of this gateway.",
  billing: "Top up the balance.",
  permission: "Ask the operator for the permission that the error named.",
  not_found: "Check the address and the ids of the request.",
  method_not_allowed: "Use the method that the error named.",
  request_timeout: "The request's body arrived too slowly: send it again.",
  conflict: "Send the request again.",
  too_large: "Send a smaller request.",
  unsupported_media: "Send JSON.",
  rate_limit: "Wait as long as retry-after said.",
  internal: "Try again; the log has this request's id.",
  upstream: "The vendor failed: try again.",
  unavailable: "Try again as soon as retry-after said.",
  timeout: "The vendor took too long: try again, or ask for a shorter reply.",
  overloaded: "The vendor is overloaded: try again later.",
};

/** What the operator can do about a failed attempt, by its error. */
function operatorHelp(error: string): string {
  switch (error) {
    case "401":
    case "403":
      return "The vendor refuses the gateway's credential: replace it, or give it the permission.";
    case "402":
      return "The vendor's account has no credit: add some, or let another upstream serve the model.";
    case "429":
      return "The vendor limits the gateway's account: ask the vendor for more, or add an upstream to the model.";
    case "timeout":
      return "The vendor took too long: raise the time limit, or add an upstream to the model.";
  }
  return "The vendor failed: look at its status page; an upstream more in the model's list takes over such calls.";
}

/** What helps against a reason; undefined if nothing is known of it. */
export function helpOf(
  code: string,
  why: CallRecord["why"] = {},
): string | undefined {
  if (!isLimit(code)) return HELP[code];
  if (isTooSmall(why)) return "Lower max_tokens, or ask for a higher limit.";
  return code.endsWith("concurrent_requests")
    ? "Wait for a call under way to end, or ask for a higher limit."
    : code.includes("requests_per")
    ? "Wait until it opens, or ask for a higher limit."
    : "Wait until it opens, lower max_tokens, or ask for a higher limit.";
}

/** Whether the call is larger than the whole limit. */
function isTooSmall(
  { limit, needed }: NonNullable<CallRecord["why"]>,
): boolean {
  return typeof limit === "number" && typeof needed === "number" &&
    needed > limit;
}

/** Why a call did not complete, or that it was rescued. */
export function Why(
  { record, atMs, isOperators }: {
    readonly record: CallRecord;
    readonly atMs: number;
    readonly isOperators: boolean;
  },
): JSX.Element | null {
  const outcome = outcomeOf(record);
  if (outcome === "complete") return null;
  const code = record.code ?? "";
  const failed = (record.attempts ?? []).findLast((one) =>
    attemptError(one) !== undefined
  );
  const error = failed === undefined ? undefined : attemptError(failed);
  const words = failed?.["words"];
  const ofVendor = outcome === "upstream_failed" || outcome === "cut" ||
    outcome === "rescued";
  const help = ofVendor && isOperators && error !== undefined
    ? operatorHelp(error)
    : outcome === "upstream_failed" && /^40[123]$/.test(error ?? "")
    ? "The gateway's operator must look into it."
    : outcome === "rescued"
    ? undefined
    : helpOf(code, record.why);
  const sentence = OUTCOMES[outcome];
  return (
    <section class="card">
      <h2>Why</h2>
      <p>
        {`${sentence[0]?.toUpperCase()}${sentence.slice(1)}`}
        {outcome === "lost"
          ? "; its reservation is charged as estimated"
          : outcome === "caller_left"
          ? "; what was generated until then is charged"
          : code === "" || ofVendor
          ? ""
          : (
            <>
              :{" "}
              <b>
                {isLimit(code) ? limitWords(code) : code.replaceAll("_", " ")}
              </b>
            </>
          )}
        .
      </p>
      {ofVendor && error !== undefined
        ? (
          <p>
            The last failed attempt {/^\d/.test(error)
              ? (
                <>
                  was answered with status <b>{error}</b>
                </>
              )
              : (
                <>
                  ended with{" "}
                  <b>
                    {error === "upstream"
                      ? "no complete reply"
                      : error.replaceAll("_", " ")}
                  </b>
                </>
              )}
            {isOperators && typeof words === "string"
              ? (
                <>
                  : <bdi>{words}</bdi>
                </>
              )
              : "."}
          </p>
        )
        : null}
      {outcome === "limited" ? <Fill record={record} atMs={atMs} /> : null}
      {help === undefined ? null : <p class="note">What helps: {help}</p>}
      {record.more === 0 ? null : (
        <p class="soft">
          {countText(record.more)}{" "}
          further refusals of this key in that minute have no record of their
          own.
        </p>
      )}
    </section>
  );
}

/** How full the limit or the balance was, and when it opened. */
function Fill(
  { record: { code = "", why = {} }, atMs }: {
    readonly record: CallRecord;
    readonly atMs: number;
  },
): JSX.Element | null {
  const { limit, used, needed, retry_after_seconds: retry } = why;
  if (
    typeof limit !== "number" || typeof used !== "number" ||
    typeof needed !== "number"
  ) return null;
  const isBalance = code === "insufficient_balance";
  const amount = (value: number): JSX.Element =>
    isBalance || code.includes("spending")
      ? <Money microUsd={value} decimals={6} />
      : <Count value={value} />;
  const window = WINDOWS.find((one) => code.endsWith(`_per_${one}`));
  const openedMs = window === undefined
    ? undefined
    : dayAfter(window, dayOf(atMs)) * DAY_MS;
  return (
    <>
      <p>
        {isBalance ? "The balance" : "The limit"} was {amount(limit)};{" "}
        {amount(used)} of it{" "}
        {isBalance ? "was reserved" : "was used or reserved"}
        , and this call needed{" "}
        {window === undefined && !isBalance ? "" : "up to "}
        {amount(needed)}.
      </p>
      {isBalance ? null : isTooSmall(why)
        ? (
          <p>
            The limit is too small for this call: it has room for it at no time.
          </p>
        )
        : openedMs !== undefined && retry !== 1
        ? (
          <p>
            It opens at <Moment atMs={openedMs} />,{" "}
            {durationText(openedMs - atMs)} after the call.
          </p>
        )
        : openedMs !== undefined
        ? <p>It had room as soon as calls under way ended.</p>
        : typeof retry === "number"
        ? <p>It had room again after {countText(retry)} s.</p>
        : null}
    </>
  );
}
