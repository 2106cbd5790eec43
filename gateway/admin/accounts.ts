/**
 * Admin operations on accounts.
 *
 * @module
 */
import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { AccountSettings } from "../accounts/repositories/account_repository.ts";
import type { Account } from "../accounts/records.ts";
import {
  chosenId,
  listJson,
  listOf,
  name,
  noQuery,
  pageOf,
  pageQuery,
  timestampText,
  withoutUndefined,
} from "./fields.ts";
import { type AdminOperation, mutation, query } from "./operation.ts";

const billing = z.enum(["prepaid", "postpaid"]).describe(
  "prepaid: calls need a balance that covers them; postpaid: calls are only recorded",
);

const SETTINGS = {
  name: name.optional(),
  status: z.enum(["active", "disabled"]).optional(),
  plan: z.string().min(1).max(64).optional().describe("id of a plan"),
  billing: billing.optional(),
};

const accountUpdate = z.strictObject(SETTINGS);
const accountRequest = z.strictObject({ id: chosenId.optional(), ...SETTINGS });

/** JSON form of an account. */
export const accountReply: z.ZodType = z.object({
  object: z.literal("account"),
  id: z.string(),
  name: z.string(),
  status: z.enum(["active", "disabled"]),
  plan: z.string(),
  billing,
  balance_micro_usd: z.int(),
  reserved_micro_usd: z.int().describe(
    "part of the balance reserved for active calls",
  ),
  open_requests: z.int(),
  model_balances: z.array(z.object({
    model: z.string(),
    balance_micro_usd: z.int(),
    reserved_micro_usd: z.int(),
  })).describe(
    "balances of single models: calls of such a model are paid from its balance alone",
  ),
  created_at: z.string(),
});

function accountJson(account: Account): JsonObject {
  return {
    object: "account",
    id: account.id,
    name: account.name,
    status: account.status,
    plan: account.planId,
    billing: account.billing,
    balance_micro_usd: account.balanceMicroUsd,
    reserved_micro_usd: account.reservedMicroUsd,
    open_requests: account.openRequests,
    model_balances: account.purses.map((balance) => ({
      model: balance.model,
      balance_micro_usd: balance.balanceMicroUsd,
      reserved_micro_usd: balance.reservedMicroUsd,
    })),
    created_at: timestampText(account.createdAtMs),
  };
}

function settingsOf(body: z.infer<typeof accountUpdate>): AccountSettings {
  return withoutUndefined<AccountSettings>({
    name: body.name,
    status: body.status,
    planId: body.plan,
    billing: body.billing,
  });
}

export const ACCOUNT_OPERATIONS: readonly AdminOperation[] = [
  query({
    operationId: "listAccounts",
    summary: "List the accounts",
    path: "/admin/v1/accounts",
    query: pageQuery,
    reply: listOf(accountReply),
    run: async (admin, query) =>
      listJson(await admin.accounts.list(pageOf(query)), accountJson),
  }),
  mutation({
    operationId: "createAccount",
    summary:
      "Create an account; the default is prepaid, on the plan without limits",
    path: "/admin/v1/accounts",
    request: accountRequest,
    reply: accountReply,
    run: async (admin, body, { idempotencyKey }) =>
      accountJson(
        await admin.accounts.create({
          ...settingsOf(body),
          ...(body.id === undefined ? {} : { id: body.id }),
        }, idempotencyKey),
      ),
  }),
  query({
    operationId: "getAccount",
    summary: "Describe an account",
    path: "/admin/v1/accounts/:id",
    query: noQuery,
    reply: accountReply,
    run: async (admin, _, id) => accountJson(await admin.accounts.get(id)),
  }),
  mutation({
    operationId: "updateAccount",
    summary: "Change an account; absent fields stay unchanged",
    path: "/admin/v1/accounts/:id",
    request: accountUpdate,
    reply: accountReply,
    run: async (admin, body, { id, idempotencyKey }) =>
      accountJson(
        await admin.accounts.update(id, settingsOf(body), idempotencyKey),
      ),
  }),
];
