/**
 * Usage reports, for operators and for the holder of a key.
 *
 * @module
 */
import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { recordJson, replyShape } from "../accounts/field.ts";
import { USAGE_SUMS } from "../accounts/records.ts";
import { checked } from "../../translate/model/schema.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import type {
  UsageGroup,
  UsageLine,
  UsageQuery,
} from "../accounts/repositories/usage_report.ts";
import { listJson, listOf, PAGE_FIELDS, pageOf } from "./pages.ts";
import { type AdminOperation, query } from "./operation.ts";

const GROUPS: readonly UsageGroup[] = [
  "day",
  "account",
  "key",
  "model",
  "user",
];

/** JSON form of a line of a report. */
export const usageLineReply: z.ZodType = z.object({
  day: z.string().optional(),
  account: z.string().optional(),
  key: z.string().optional(),
  model: z.string().optional(),
  user: z.string().optional().describe("the client's own id of its end user"),
  ...replyShape(USAGE_SUMS),
}).describe("of the first five fields only those named in `by` are present");

const day = z.iso.date("expected a day such as 2026-12-31");

const OWN_FIELDS = {
  ...PAGE_FIELDS,
  by: z.string().regex(
    /^(day|account|key|model|user)(,(day|account|key|model|user))*$/,
    `expected a comma-separated list of ${GROUPS.join(", ")}`,
  ).default("day").describe("fields to group by, comma-separated"),
  from: day.optional().describe("first day, in UTC"),
  to: day.optional().describe("last day, in UTC"),
  model: z.string().max(200).optional(),
  user: z.string().max(512).optional(),
};

const usageQuery = z.strictObject({
  ...OWN_FIELDS,
  account: z.string().max(64).optional(),
  key: z.string().max(64).optional(),
});
const ownUsageQuery = z.strictObject(OWN_FIELDS);

function usageJson(line: UsageLine): JsonObject {
  return {
    ...(line.day === undefined ? {} : { day: line.day }),
    ...(line.accountId === undefined ? {} : { account: line.accountId }),
    ...(line.keyId === undefined ? {} : { key: line.keyId }),
    ...(line.model === undefined ? {} : { model: line.model }),
    ...(line.user === undefined ? {} : { user: line.user }),
    ...recordJson(USAGE_SUMS, line),
  };
}

function queryOf(query: z.infer<typeof ownUsageQuery>): UsageQuery {
  const groups = query.by.split(",");
  return {
    ...pageOf(query),
    by: GROUPS.filter((group) => groups.includes(group)),
    ...(query.from === undefined ? {} : { fromDay: query.from }),
    ...(query.to === undefined ? {} : { toDay: query.to }),
    ...(query.model === undefined ? {} : { model: query.model }),
    ...(query.user === undefined ? {} : { user: query.user }),
  };
}

export const USAGE_OPERATIONS: readonly AdminOperation[] = [
  query({
    operationId: "reportUsage",
    summary: "Sum up usage by day, account, key, model or end user",
    path: "/admin/v1/usage",
    query: usageQuery,
    reply: listOf(usageLineReply),
    run: async (admin, query) =>
      listJson(
        await admin.usage({
          ...queryOf(query),
          ...(query.account === undefined ? {} : { accountId: query.account }),
          ...(query.key === undefined ? {} : { keyId: query.key }),
        }),
        usageJson,
      ),
  }),
];

/** JSON form of the reply of {@linkcode ownUsage}. */
export const ownUsageReply: z.ZodType = listOf(usageLineReply);

/**
 * The usage of one key, for its holder.
 *
 * @throws {ApiError} `invalid_request` naming the field of the query; `unavailable`
 */
export async function ownUsage(
  admin: Admin,
  holder: { readonly accountId: string; readonly keyId: string },
  query: JsonObject,
): Promise<JsonObject> {
  const filters = queryOf(checked(ownUsageQuery, query));
  return listJson(
    await admin.usage({
      ...filters,
      accountId: holder.accountId,
      keyId: holder.keyId,
    }),
    usageJson,
  );
}
