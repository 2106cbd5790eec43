import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { recordJson, replyShape, settingsSchema } from "../accounts/field.ts";
import { ACCOUNT, type Account } from "../accounts/records.ts";
import {
  listJson,
  listOf,
  noBody,
  noQuery,
  pageOf,
  pageQuery,
} from "./pages.ts";
import { type AdminOperation, mutation, query } from "./operation.ts";

const { id: _, ...CHANGEABLE } = ACCOUNT;

/** JSON form of an account. */
const accountReply: z.ZodType = z.object({
  object: z.literal("account"),
  ...replyShape(ACCOUNT),
});

function accountJson(account: Account): JsonObject {
  return { object: "account", ...recordJson(ACCOUNT, account) };
}

export const ACCOUNT_OPERATIONS: readonly AdminOperation[] = [
  mutation({
    operationId: "revokeAllKeys",
    summary: "Revoke every key of an account permanently",
    path: "/admin/v1/accounts/:id/keys/revoke",
    request: noBody,
    reply: z.object({
      object: z.literal("keys_revoked"),
      account: z.string(),
      revoked: z.int().describe("number of keys that were not revoked before"),
    }),
    run: async (admin, _, { id, idempotencyKey }) => ({
      object: "keys_revoked",
      account: id,
      ...await admin.keys.revokeAll(id, idempotencyKey),
    }),
  }),
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
    request: settingsSchema(ACCOUNT),
    reply: accountReply,
    run: async (admin, body, { idempotencyKey }) =>
      accountJson(await admin.accounts.create(body, idempotencyKey)),
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
    request: settingsSchema(CHANGEABLE),
    reply: accountReply,
    run: async (admin, body, { id, idempotencyKey }) =>
      accountJson(
        await admin.accounts.update(id, body, idempotencyKey),
      ),
  }),
];
