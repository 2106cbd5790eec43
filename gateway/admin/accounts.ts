/**
 * Operations on accounts.
 *
 * @module
 */
import { z } from "zod";
import type { JsonObject } from "../../translate/json.ts";
import type { AccountSettings } from "../accounts/account_register.ts";
import type { Account } from "../accounts/records.ts";
import {
  chosenId,
  given,
  listJson,
  listOf,
  momentText,
  name,
  noQuery,
  pageOf,
  pageQuery,
} from "./fields.ts";
import { type AdminOperation, change, look } from "./operation.ts";

const billing = z.enum(["prepaid", "postpaid"]).describe(
  "prepaid: calls need a balance that covers them; postpaid: they are only written up",
);

const SETTINGS = {
  name: name.optional(),
  status: z.enum(["active", "disabled"]).optional(),
  plan: z.string().min(1).max(64).optional().describe("id of a plan"),
  billing: billing.optional(),
};

const accountUpdate = z.strictObject(SETTINGS);
const accountRequest = z.strictObject({ id: chosenId.optional(), ...SETTINGS });

/** An account as it is answered. */
export const accountReply: z.ZodType = z.object({
  object: z.literal("account"),
  id: z.string(),
  name: z.string(),
  status: z.enum(["active", "disabled"]),
  plan: z.string(),
  billing,
  balance_micro_usd: z.int(),
  reserved_micro_usd: z.int().describe(
    "the part of the balance that is held for calls under way",
  ),
  open_requests: z.int(),
  model_balances: z.array(z.object({
    model: z.string(),
    balance_micro_usd: z.int(),
    reserved_micro_usd: z.int(),
  })).describe(
    "balances of single models: their calls are paid from there alone",
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
    model_balances: account.purses.map((purse) => ({
      model: purse.model,
      balance_micro_usd: purse.balanceMicroUsd,
      reserved_micro_usd: purse.reservedMicroUsd,
    })),
    created_at: momentText(account.createdAtMs),
  };
}

function settingsOf(body: z.infer<typeof accountUpdate>): AccountSettings {
  return given<AccountSettings>({
    name: body.name,
    status: body.status,
    planId: body.plan,
    billing: body.billing,
  });
}

/** The operations. */
export const ACCOUNT_OPERATIONS: readonly AdminOperation[] = [
  look({
    operation: "listAccounts",
    summary: "List the accounts",
    path: "/admin/v1/accounts",
    query: pageQuery,
    reply: listOf(accountReply),
    run: async (admin, query) =>
      listJson(await admin.accounts.list(pageOf(query)), accountJson),
  }),
  change({
    operation: "createAccount",
    summary:
      "Make an account: prepaid and on the plan without limits, where not told otherwise",
    path: "/admin/v1/accounts",
    request: accountRequest,
    reply: accountReply,
    run: async (admin, body, { once }) =>
      accountJson(
        await admin.accounts.create({
          ...settingsOf(body),
          ...(body.id === undefined ? {} : { id: body.id }),
        }, once),
      ),
  }),
  look({
    operation: "getAccount",
    summary: "Describe an account",
    path: "/admin/v1/accounts/:id",
    query: noQuery,
    reply: accountReply,
    run: async (admin, _, id) => accountJson(await admin.accounts.get(id)),
  }),
  change({
    operation: "updateAccount",
    summary: "Change an account; what is not told stays as it is",
    path: "/admin/v1/accounts/:id",
    request: accountUpdate,
    reply: accountReply,
    run: async (admin, body, { id, once }) =>
      accountJson(await admin.accounts.update(id, settingsOf(body), once)),
  }),
];
