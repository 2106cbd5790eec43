/**
 * Operations on keys.
 *
 * @module
 */
import { z } from "zod";
import type { JsonObject } from "../../translate/json.ts";
import type { IssuedKey } from "../accounts/key_register.ts";
import type { KeyRecord } from "../accounts/records.ts";
import {
  listJson,
  listOf,
  models,
  moment,
  momentText,
  name,
  noBody,
  noQuery,
  PAGE_FIELDS,
  pageOf,
} from "./fields.ts";
import { type AdminOperation, change, look } from "./operation.ts";

const KEY_FIELDS = {
  object: z.literal("key"),
  id: z.string(),
  account: z.string(),
  name: z.string(),
  hint: z.string().describe("first and last letters, to recognise it by"),
  models: z.array(z.string()).nullable().describe(
    "the models of the plan that it may call; null: all",
  ),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
  last_used_at: z.string().nullable().describe("to the minute"),
  replaces: z.string().nullable(),
};

/** A key as it is answered. */
export const keyReply: z.ZodType = z.object(KEY_FIELDS);

/** A key just made. */
export const issuedKeyReply: z.ZodType = z.object({
  ...KEY_FIELDS,
  key: z.string().nullable().describe(
    "the key itself, shown this once; null when an idempotency key is used again: it is kept nowhere",
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
    created_at: momentText(key.createdAtMs),
    expires_at: momentText(key.expiresAtMs),
    revoked_at: momentText(key.revokedAtMs),
    last_used_at: momentText(key.lastUsedAtMs),
    replaces: key.replaces ?? null,
  };
}

function issuedJson(issued: IssuedKey): JsonObject {
  return { ...keyJson(issued.record), key: issued.text ?? null };
}

const MAX_OVERLAP_SECONDS = 365 * 24 * 60 * 60;

/** The operations. */
export const KEY_OPERATIONS: readonly AdminOperation[] = [
  look({
    operation: "listKeys",
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
  change({
    operation: "issueKey",
    summary: "Issue a key; it is shown in this answer and never again",
    path: "/admin/v1/keys",
    request: z.strictObject({
      account: z.string().min(1).max(64),
      name: name.optional(),
      models: models.optional().describe(
        "a part of the plan's models; absent: all of them",
      ),
      expires_at: moment.optional(),
    }),
    reply: issuedKeyReply,
    run: async (admin, body, { once }) =>
      issuedJson(
        await admin.keys.issue({
          accountId: body.account,
          ...(body.name === undefined ? {} : { name: body.name }),
          ...(body.models === undefined ? {} : { models: body.models }),
          ...(body.expires_at === undefined
            ? {}
            : { expiresAtMs: Date.parse(body.expires_at) }),
        }, once),
      ),
  }),
  look({
    operation: "getKey",
    summary: "Describe a key",
    path: "/admin/v1/keys/:id",
    query: noQuery,
    reply: keyReply,
    run: async (admin, _, id) => keyJson(await admin.keys.get(id)),
  }),
  change({
    operation: "rotateKey",
    summary:
      "Issue a key in place of another; the old one works for overlap_seconds longer",
    path: "/admin/v1/keys/:id/rotate",
    request: z.strictObject({
      overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(0),
    }),
    reply: issuedKeyReply,
    run: async (admin, body, { id, once }) =>
      issuedJson(
        await admin.keys.rotate(id, body.overlap_seconds * 1000, once),
      ),
  }),
  change({
    operation: "revokeKey",
    summary: "Revoke a key, for good",
    path: "/admin/v1/keys/:id/revoke",
    request: noBody,
    reply: keyReply,
    run: async (admin, _, { id, once }) =>
      keyJson(await admin.keys.revoke(id, once)),
  }),
];
