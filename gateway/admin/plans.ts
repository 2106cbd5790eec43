import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { recordJson, replyShape, settingsSchema } from "../accounts/field.ts";
import { PLAN, type Plan } from "../accounts/records.ts";
import { listJson, listOf, noQuery, pageOf, pageQuery } from "./pages.ts";
import { type AdminOperation, mutation, query } from "./operation.ts";

const { id: _, ...CHANGEABLE } = PLAN;

/** JSON form of a plan. */
const planReply: z.ZodType = z.object({
  object: z.literal("plan"),
  ...replyShape(PLAN),
});

function planJson(plan: Plan): JsonObject {
  return { object: "plan", ...recordJson(PLAN, plan) };
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
    request: settingsSchema(PLAN),
    reply: planReply,
    run: async (admin, body, { idempotencyKey }) =>
      planJson(await admin.plans.create(body, idempotencyKey)),
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
    request: settingsSchema(CHANGEABLE),
    reply: planReply,
    run: async (admin, body, { id, idempotencyKey }) =>
      planJson(await admin.plans.update(id, body, idempotencyKey)),
  }),
];
