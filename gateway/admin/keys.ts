/**
 * Admin operations on keys.
 *
 * @module
 */
import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { IssuedKey } from "../accounts/repositories/key_repository.ts";
import type { KeyRecord } from "../accounts/records.ts";
import {
  listJson,
  listOf,
  models,
  name,
  noBody,
  noQuery,
  PAGE_FIELDS,
  pageOf,
  timestamp,
  timestampText,
} from "./fields.ts";
import { type AdminOperation, mutation, query } from "./operation.ts";

const KEY_FIELDS = {
  object: z.literal("key"),
  id: z.string(),
  account: z.string(),
  name: z.string(),
  hint: z.string().describe("first and last characters of the key"),
  models: z.array(z.string()).nullable().describe(
    "subset of the plan's models; null: all of them",
  ),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
  last_used_at: z.string().nullable().describe("exact to the minute"),
  replaces: z.string().nullable(),
};

/** JSON form of a key. */
export const keyReply: z.ZodType = z.object(KEY_FIELDS);

/** JSON form of a new key. */
export const issuedKeyReply: z.ZodType = z.object({
  ...KEY_FIELDS,
  key: z.string().nullable().describe(
    "the key itself, shown only once; null if the request is repeated with its idempotency key, because the key is not stored",
  ),
});

function keyJson(key: KeyRecord): JsonObject {
  return {
    object: "key",
    id: key.id,
    account: key.accountId,
    name: key.name,
    hint: key.hint,
    models: key.models ?? null,
    created_at: timestampText(key.createdAtMs),
    expires_at: timestampText(key.expiresAtMs),
    revoked_at: timestampText(key.revokedAtMs),
    last_used_at: timestampText(key.lastUsedAtMs),
    replaces: key.replaces ?? null,
  };
}

function issuedJson(issued: IssuedKey): JsonObject {
  return { ...keyJson(issued.record), key: issued.text ?? null };
}

const MAX_OVERLAP_SECONDS = 365 * 24 * 60 * 60;

export const KEY_OPERATIONS: readonly AdminOperation[] = [
  query({
    operationId: "listKeys",
    summary: "List the keys, of one account or of all",
    path: "/admin/v1/keys",
    query: z.strictObject({
      ...PAGE_FIELDS,
      account: z.string().max(64).optional(),
    }),
    reply: listOf(keyReply),
    run: async (admin, query) =>
      listJson(
        await admin.keys.list({
          ...pageOf(query),
          ...(query.account === undefined ? {} : { accountId: query.account }),
        }),
        keyJson,
      ),
  }),
  mutation({
    operationId: "issueKey",
    summary: "Issue a key; only this reply contains it",
    path: "/admin/v1/keys",
    request: z.strictObject({
      account: z.string().min(1).max(64),
      name: name.optional(),
      models: models.optional().describe(
        "subset of the plan's models; absent: all of them",
      ),
      expires_at: timestamp.optional(),
    }),
    reply: issuedKeyReply,
    run: async (admin, body, { idempotencyKey }) =>
      issuedJson(
        await admin.keys.issue({
          accountId: body.account,
          ...(body.name === undefined ? {} : { name: body.name }),
          ...(body.models === undefined ? {} : { models: body.models }),
          ...(body.expires_at === undefined
            ? {}
            : { expiresAtMs: Date.parse(body.expires_at) }),
        }, idempotencyKey),
      ),
  }),
  query({
    operationId: "getKey",
    summary: "Describe a key",
    path: "/admin/v1/keys/:id",
    query: noQuery,
    reply: keyReply,
    run: async (admin, _, id) => keyJson(await admin.keys.get(id)),
  }),
  mutation({
    operationId: "rotateKey",
    summary:
      "Issue a key that replaces another; the old one expires after overlap_seconds",
    path: "/admin/v1/keys/:id/rotate",
    request: z.strictObject({
      overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(0),
    }),
    reply: issuedKeyReply,
    run: async (admin, body, { id, idempotencyKey }) =>
      issuedJson(
        await admin.keys.rotate(
          id,
          body.overlap_seconds * 1000,
          idempotencyKey,
        ),
      ),
  }),
  mutation({
    operationId: "revokeKey",
    summary: "Revoke a key permanently",
    path: "/admin/v1/keys/:id/revoke",
    request: noBody,
    reply: keyReply,
    run: async (admin, _, { id, idempotencyKey }) =>
      keyJson(await admin.keys.revoke(id, idempotencyKey)),
  }),
];
