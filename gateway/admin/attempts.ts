/**
 * Attempts that failed at their upstreams, for operators.
 */
import { z } from "zod";
import { compact } from "../../translate/bytes/compact.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { check } from "../../translate/model/schema.ts";
import { OUTCOME_NAMES } from "../accounts/calls/outcome.ts";
import { recordJson, replyShape } from "../accounts/field.ts";
import type { AttemptQuery } from "../accounts/reports/failed_attempts.ts";
import {
  attemptTimeMs,
  FAILED_ATTEMPT,
  type FailedAttempt,
} from "../accounts/rows/failed_attempt_rows.ts";
import { timestampOrDay } from "../accounts/values.ts";
import { type AdminOperation, query } from "./operation.ts";
import { listJson, listOf, PAGE_FIELDS, pageOf } from "./pages.ts";

const attemptsQuery = z.strictObject({
  ...PAGE_FIELDS,
  upstream: z.string().max(200).optional().describe(
    "vendor/model, with the vendor's own id",
  ),
  model: z.string().max(200).optional(),
  error: z.string().max(64).optional().describe(
    "the status, or the kind of error where there was none",
  ),
  outcome: z.enum(OUTCOME_NAMES).optional().describe("what became of the call"),
  account: z.string().max(64).optional(),
  from: timestampOrDay.optional().describe("failed at or after this time"),
  to: timestampOrDay.optional().describe("failed before this time"),
});

/** The filters of the list, without the parameters of its pages. */
export const ATTEMPT_FILTERS: readonly string[] = Object.keys(
  attemptsQuery.shape,
).filter((name) => !(name in PAGE_FIELDS));

/**
 * The filters as a query of the repository.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function attemptQuery(fields: JsonObject): AttemptQuery {
  return queryOf(check(attemptsQuery, fields));
}

function queryOf(
  { account, from, to, upstream, model, error, outcome, ...page }: z.infer<
    typeof attemptsQuery
  >,
): AttemptQuery {
  return {
    ...pageOf(page),
    ...compact({
      accountId: account,
      upstream,
      model,
      error,
      outcome,
      fromMs: from === undefined ? undefined : Date.parse(from),
      toMs: to === undefined ? undefined : Date.parse(to),
    }),
  };
}

function attemptJson(attempt: FailedAttempt): JsonObject {
  return {
    object: "failed_attempt",
    time: new Date(attemptTimeMs(attempt.id)).toISOString(),
    ...recordJson(FAILED_ATTEMPT, attempt),
  };
}

export const ATTEMPT_OPERATIONS: readonly AdminOperation[] = [
  query({
    operationId: "listFailedAttempts",
    summary: "List attempts that failed at their upstreams, newest first",
    path: "/admin/v1/failed-attempts",
    query: attemptsQuery,
    reply: listOf(z.object({
      object: z.literal("failed_attempt"),
      time: z.string(),
      ...replyShape(FAILED_ATTEMPT),
    })),
    run: async (admin, fields) =>
      listJson(
        await admin.failedAttempts.list(queryOf(fields)),
        attemptJson,
      ),
  }),
];
