import { z } from "zod";
import { compact } from "../../translate/bytes/compact.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { IssuedKey } from "../accounts/repositories/key_repository.ts";
import { recordJson, replyShape, settingsSchema } from "../accounts/field.ts";
import { KEY, KEY_CHANGES, type KeyRecord } from "../accounts/records.ts";
import {
  listJson,
  listOf,
  noBody,
  noQuery,
  PAGE_FIELDS,
  pageOf,
} from "./pages.ts";
import { type AdminOperation, mutation, query } from "./operation.ts";

const KEY_FIELDS = { object: z.literal("key"), ...replyShape(KEY) };

/** JSON form of a key. */
export const keyReply: z.ZodType = z.object(KEY_FIELDS);

/** JSON form of a new key. */
export const issuedKeyReply: z.ZodType = z.object({
  ...KEY_FIELDS,
  key: z.string().nullable().describe(
    "the key itself, shown only once; null if the request is repeated with its idempotency key, because the key is not stored",
  ),
});

/** Metadata as the API replies with it; never the text. */
export function keyJson(key: KeyRecord): JsonObject {
  return { object: "key", ...recordJson(KEY, key) };
}

export function issuedJson(issued: IssuedKey): JsonObject {
  return { ...keyJson(issued.record), key: issued.text ?? null };
}

const MAX_OVERLAP_SECONDS = 365 * 24 * 60 * 60;

export const rotateBody: z.ZodType<{ readonly overlap_seconds: number }> = z
  .strictObject({
    overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(0),
  });

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
          ...compact({ accountId: query.account }),
        }),
        keyJson,
      ),
  }),
  mutation({
    operationId: "issueKey",
    summary: "Issue a key; only this reply contains it",
    path: "/admin/v1/keys",
    request: settingsSchema(KEY),
    reply: issuedKeyReply,
    run: async (admin, body, { idempotencyKey }) =>
      issuedJson(await admin.keys.issue(body, idempotencyKey)),
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
    operationId: "updateKey",
    summary: "Change a key's name or limits; absent fields stay unchanged",
    path: "/admin/v1/keys/:id",
    request: settingsSchema(KEY_CHANGES),
    reply: keyReply,
    run: async (admin, body, { id, idempotencyKey }) =>
      keyJson(await admin.keys.update(id, body, idempotencyKey)),
  }),
  mutation({
    operationId: "rotateKey",
    summary:
      "Issue a key that replaces another; the old one expires after overlap_seconds",
    path: "/admin/v1/keys/:id/rotate",
    request: rotateBody,
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
