import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { Webhook } from "../accounts/repositories/webhook_repository.ts";
import { webhookUrl } from "../accounts/values.ts";
import { noBody, noQuery } from "./pages.ts";
import { type AdminOperation, mutation, query } from "./operation.ts";

const FIELDS = {
  object: z.literal("webhook"),
  account: z.string(),
  url: z.string().nullable().describe("null: the account has no webhook"),
  pending: z.int().describe("messages that are not delivered yet"),
  last_error: z.string().nullable().describe(
    "why the last attempt for one of them failed",
  ),
  deliveries: z.array(z.object({
    id: z.string(),
    time: z.string(),
    type: z.string(),
    attempts: z.int(),
    error: z.string().nullable().describe(
      "why it was given up; null: it was delivered",
    ),
  })).describe("the newest messages that were delivered or given up"),
};

const webhookReply = z.object(FIELDS);

function webhookJson(
  { accountId, url, pending, lastError, deliveries }: Webhook,
): JsonObject {
  return {
    object: "webhook",
    account: accountId,
    url: url ?? null,
    pending,
    last_error: lastError ?? null,
    deliveries: deliveries.map(({ id, atMs, type, attempts, error }) => ({
      id,
      time: new Date(atMs).toISOString(),
      type,
      attempts,
      error: error ?? null,
    })),
  };
}

/** Show, set, test and remove; a longer path precedes its prefixes. */
export const WEBHOOK_OPERATIONS: readonly AdminOperation[] = [
  mutation({
    operationId: "removeWebhook",
    summary: "Remove an account's webhook, and what it has not delivered",
    path: "/admin/v1/accounts/:id/webhook/remove",
    request: noBody,
    reply: webhookReply,
    run: async (admin, _, { id, idempotencyKey }) =>
      webhookJson(await admin.webhooks.set(id, undefined, idempotencyKey)),
  }),
  mutation({
    operationId: "testWebhook",
    summary: "Send a test message to an account's webhook",
    path: "/admin/v1/accounts/:id/webhook/test",
    request: noBody,
    reply: webhookReply,
    run: async (admin, _, { id, idempotencyKey }) =>
      webhookJson(await admin.webhooks.test(id, idempotencyKey)),
  }),
  query({
    operationId: "getWebhook",
    summary: "Describe an account's webhook",
    path: "/admin/v1/accounts/:id/webhook",
    query: noQuery,
    reply: webhookReply,
    run: async (admin, _, id) => webhookJson(await admin.webhooks.get(id)),
  }),
  mutation({
    operationId: "setWebhook",
    summary:
      "Set the address that an account's warnings are sent to; only this reply contains the new secret that signs them",
    path: "/admin/v1/accounts/:id/webhook",
    request: z.strictObject({ url: webhookUrl }),
    reply: z.object({
      ...FIELDS,
      secret: z.string().nullable().describe(
        "verifies the signatures (Standard Webhooks); null if the request is repeated with its idempotency key",
      ),
    }),
    run: async (admin, { url }, { id, idempotencyKey }) => {
      const webhook = await admin.webhooks.set(id, url, idempotencyKey);
      return { ...webhookJson(webhook), secret: webhook.secret ?? null };
    },
  }),
];
