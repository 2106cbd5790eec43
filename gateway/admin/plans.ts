/**
 * Admin operations on plans.
 *
 * @module
 */
import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { PlanSettings } from "../accounts/repositories/plan_repository.ts";
import type { Plan } from "../accounts/records.ts";
import {
  chosenId,
  limit,
  listJson,
  listOf,
  models,
  noQuery,
  pageOf,
  pageQuery,
  timestampText,
  withoutUndefined,
} from "./fields.ts";
import { type AdminOperation, mutation, query } from "./operation.ts";

const SETTINGS = {
  models: models.nullish().describe("null: all models"),
  requests_per_minute: limit.nullish().describe("null: no limit"),
  tokens_per_minute: limit.nullish().describe("null: no limit"),
  concurrent_requests: limit.nullish().describe("null: no limit"),
  spend_per_day_micro_usd: z.int().min(0).max(1e15).nullish().describe(
    "per day in UTC; null: no limit",
  ),
};

const planUpdate = z.strictObject(SETTINGS);
const planRequest = z.strictObject({ id: chosenId.optional(), ...SETTINGS });

/** JSON form of a plan. */
export const planReply: z.ZodType = z.object({
  object: z.literal("plan"),
  id: z.string(),
  models: z.array(z.string()).nullable(),
  requests_per_minute: z.int().nullable(),
  tokens_per_minute: z.int().nullable(),
  concurrent_requests: z.int().nullable(),
  spend_per_day_micro_usd: z.int().nullable(),
  created_at: z.string(),
});

function planJson(plan: Plan): JsonObject {
  return {
    object: "plan",
    id: plan.id,
    models: plan.models ?? null,
    requests_per_minute: plan.requestsPerMinute ?? null,
    tokens_per_minute: plan.tokensPerMinute ?? null,
    concurrent_requests: plan.concurrentRequests ?? null,
    spend_per_day_micro_usd: plan.spendPerDayMicroUsd ?? null,
    created_at: timestampText(plan.createdAtMs),
  };
}

function settingsOf(body: z.infer<typeof planUpdate>): PlanSettings {
  return withoutUndefined<PlanSettings>({
    models: body.models,
    requestsPerMinute: body.requests_per_minute,
    tokensPerMinute: body.tokens_per_minute,
    concurrentRequests: body.concurrent_requests,
    spendPerDayMicroUsd: body.spend_per_day_micro_usd,
  });
}

export const PLAN_OPERATIONS: readonly AdminOperation[] = [
  query({
    operationId: "listPlans",
    summary: "List the plans",
    path: "/admin/v1/plans",
    query: pageQuery,
    reply: listOf(planReply),
    run: async (admin, query) =>
      listJson(await admin.plans.list(pageOf(query)), planJson),
  }),
  mutation({
    operationId: "createPlan",
    summary: "Create a plan: the models and limits of its accounts",
    path: "/admin/v1/plans",
    request: planRequest,
    reply: planReply,
    run: async (admin, body, { idempotencyKey }) =>
      planJson(
        await admin.plans.create({
          ...settingsOf(body),
          ...(body.id === undefined ? {} : { id: body.id }),
        }, idempotencyKey),
      ),
  }),
  query({
    operationId: "getPlan",
    summary: "Describe a plan",
    path: "/admin/v1/plans/:id",
    query: noQuery,
    reply: planReply,
    run: async (admin, _, id) => planJson(await admin.plans.get(id)),
  }),
  mutation({
    operationId: "updatePlan",
    summary: "Change a plan; absent fields stay unchanged",
    path: "/admin/v1/plans/:id",
    request: planUpdate,
    reply: planReply,
    run: async (admin, body, { id, idempotencyKey }) =>
      planJson(await admin.plans.update(id, settingsOf(body), idempotencyKey)),
  }),
];
