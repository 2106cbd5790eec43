/**
 * Usage reports, for operators and for the holder of a key.
 */
import { z } from "zod";
import { compact } from "../../translate/bytes/compact.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { recordJson, replyShape } from "../accounts/field.ts";
import { ROLL_UP_SUMS, USAGE_SUMS } from "../accounts/records.ts";
import { check } from "../../translate/model/schema.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import type {
  UsageGroup,
  UsageQuery,
} from "../accounts/reports/usage_query.ts";
import type {
  UsageLine,
  UsageReport,
  UsageTotals,
} from "../accounts/reports/usage_report.ts";
import { type AccountScope, assertOwnKey } from "./account_scope.ts";
import { listJson, listOf, PAGE_FIELDS, pageOf } from "./pages.ts";
import { type AdminOperation, query } from "./operation.ts";

const GROUPS: readonly UsageGroup[] = [
  "day",
  "hour",
  "account",
  "key",
  "model",
  "user",
];

const SUMS_SHAPE = {
  ...replyShape(ROLL_UP_SUMS),
  estimated_micro_usd: z.int().nullable().describe(
    "part of the cost that is an estimate; null in a report by end user",
  ),
};

/** JSON form of a line of a report. */
const usageLineReply: z.ZodType = z.object({
  day: z.string().optional(),
  hour: z.string().optional().describe("start of the hour, in UTC"),
  account: z.string().optional(),
  key: z.string().optional(),
  model: z.string().optional(),
  user: z.string().optional().describe("the client's own id of its end user"),
  ...SUMS_SHAPE,
}).describe("of the first six fields only those named in `by` are present");

/** JSON form of a report. */
export const usageReportReply: z.ZodType = listOf(usageLineReply, {
  totals: z.object(SUMS_SHAPE).describe(
    "sums of the whole query, whatever its page",
  ),
  figures_from: z.string().nullable().describe(
    "the figures hold from this day on, because those of earlier days are not summed up yet (after an upgrade) or no longer kept (by hour: 35 days); null: all of them hold",
  ),
});

const day = z.iso.date("expected a day such as 2026-12-31");

export const USAGE_FILTERS = {
  from: day.optional().describe("first day, in UTC"),
  to: day.optional().describe("last day, in UTC"),
  model: z.string().max(200).optional(),
  user: z.string().max(512).optional(),
  key: z.string().max(64).optional(),
};

const OWN_FIELDS = {
  ...PAGE_FIELDS,
  by: z.string().regex(
    /^(day|hour|account|key|model|user)(,(day|hour|account|key|model|user))*$/,
    `expected a comma-separated list of ${GROUPS.join(", ")}`,
  ).default("day").describe("fields to group by, comma-separated"),
  ...USAGE_FILTERS,
};

const usageQuery = z.strictObject({
  ...OWN_FIELDS,
  account: z.string().max(64).optional(),
});
export const ownUsageQuery: z.ZodObject<typeof OWN_FIELDS, z.core.$strict> = z
  .strictObject(OWN_FIELDS);

/** A line of a report as the API replies with it. */
export function usageJson(line: UsageLine): JsonObject {
  return {
    ...compact({
      day: line.day,
      hour: line.hour,
      account: line.accountId,
      key: line.keyId,
      model: line.model,
      user: line.user,
    }),
    ...sumsJson(line),
  };
}

function sumsJson(sums: UsageTotals): JsonObject {
  return {
    ...recordJson(USAGE_SUMS, sums),
    estimated_micro_usd: sums.estimatedMicroUsd ?? null,
  };
}

function reportJson(report: UsageReport): JsonObject {
  return {
    ...listJson(report, usageJson),
    totals: sumsJson(report.totals),
    figures_from: report.figuresFromDay ?? null,
  };
}

function queryOf(query: z.infer<typeof ownUsageQuery>): UsageQuery {
  const groups = query.by.split(",");
  return {
    ...pageOf(query),
    by: GROUPS.filter((group) => groups.includes(group)),
    ...usageFilters(query),
  };
}

/** The filters as a query of the report. */
export function usageFilters(
  { from, to, key, model, user }: z.infer<z.ZodObject<typeof USAGE_FILTERS>>,
): UsageQuery {
  return compact({ fromDay: from, toDay: to, keyId: key, model, user });
}

export const USAGE_OPERATIONS: readonly AdminOperation[] = [
  query({
    operationId: "reportUsage",
    summary: "Sum up usage by day, hour, account, key, model or end user",
    path: "/admin/v1/usage",
    query: usageQuery,
    reply: usageReportReply,
    run: async (admin, query) =>
      reportJson(
        await admin.usage({
          ...queryOf(query),
          ...compact({ accountId: query.account }),
        }),
      ),
  }),
];

/**
 * The usage that a credential may see.
 *
 * @throws {ApiError} `invalid_request` naming the field of the query; `unavailable`
 */
export async function ownUsage(
  admin: Admin,
  scope: AccountScope,
  query: JsonObject,
): Promise<JsonObject> {
  const filters = queryOf(check(ownUsageQuery, query));
  assertOwnKey(scope, filters.keyId);
  return reportJson(
    await admin.usage({
      ...filters,
      accountId: scope.accountId,
      ...compact({ keyId: scope.keyId }),
    }),
  );
}
