import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { recordJson, replyShape, settingsSchema } from "../accounts/field.ts";
import {
  OPERATOR_TOKEN,
  type OperatorTokenRecord,
} from "../accounts/repositories/operator_token_repository.ts";
import { type AdminOperation, mutation, query } from "./operation.ts";
import { listJson, listOf, noBody, PAGE_FIELDS, pageOf } from "./pages.ts";

const FIELDS = {
  object: z.literal("operator_token"),
  ...replyShape(OPERATOR_TOKEN),
};
const reply: z.ZodType = z.object(FIELDS);

function json(token: OperatorTokenRecord): JsonObject {
  return { object: "operator_token", ...recordJson(OPERATOR_TOKEN, token) };
}

export const OPERATOR_TOKEN_OPERATIONS: readonly AdminOperation[] = [
  mutation({
    operationId: "revokeOperatorToken",
    summary: "Revoke an operator token permanently",
    path: "/admin/v1/operator-tokens/:id/revoke",
    request: noBody,
    reply,
    run: async (admin, _, { id, idempotencyKey }) =>
      json(await admin.operatorTokens.revoke(id, idempotencyKey)),
  }),
  query({
    operationId: "listOperatorTokens",
    summary: "List the operator tokens",
    path: "/admin/v1/operator-tokens",
    query: z.strictObject(PAGE_FIELDS),
    reply: listOf(reply),
    run: async (admin, query) =>
      listJson(await admin.operatorTokens.list(pageOf(query)), json),
  }),
  mutation({
    operationId: "issueOperatorToken",
    summary:
      "Issue an operator token, for the admin API and the operators' area; only this reply contains it",
    path: "/admin/v1/operator-tokens",
    request: settingsSchema(OPERATOR_TOKEN),
    reply: z.object({
      ...FIELDS,
      token: z.string().nullable().describe(
        "the token itself, shown only once; null if the request is repeated with its idempotency key",
      ),
    }),
    async run(admin, body, { idempotencyKey }) {
      const { record, text } = await admin.operatorTokens.issue(
        body,
        idempotencyKey,
      );
      return { ...json(record), token: text ?? null };
    },
  }),
];
