import { z } from "zod";
import { compact } from "../../translate/bytes/compact.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { recordJson, replyShape, settingsSchema } from "../accounts/field.ts";
import {
  type IssuedToken,
  TOKEN,
  type TokenRecord,
} from "../accounts/repositories/token_repository.ts";
import { displayName, reference } from "../accounts/values.ts";
import { type AdminOperation, mutation, query } from "./operation.ts";
import { listJson, listOf, noBody, PAGE_FIELDS, pageOf } from "./pages.ts";

const TOKEN_FIELDS = { object: z.literal("token"), ...replyShape(TOKEN) };

/** JSON form of a token. */
export const tokenReply: z.ZodType = z.object(TOKEN_FIELDS);

/** JSON form of a new token. */
export const issuedTokenReply: z.ZodType = z.object({
  ...TOKEN_FIELDS,
  token: z.string().nullable().describe(
    "the token itself, shown only once; null if the request is repeated with its idempotency key",
  ),
});

/** Metadata as the API replies with it; never the text. */
export function tokenJson(token: TokenRecord): JsonObject {
  return { object: "token", ...recordJson(TOKEN, token) };
}

export function issuedTokenJson({ record, text }: IssuedToken): JsonObject {
  return { ...tokenJson(record), token: text ?? null };
}

/** All operations on tokens and sign-in links. */
export const TOKEN_OPERATIONS: readonly AdminOperation[] = [
  mutation({
    operationId: "revokeToken",
    summary: "Revoke an account token permanently",
    path: "/admin/v1/tokens/:id/revoke",
    request: noBody,
    reply: tokenReply,
    run: async (admin, _, { id, idempotencyKey }) =>
      tokenJson(await admin.tokens.revoke(id, idempotencyKey)),
  }),
  query({
    operationId: "listTokens",
    summary: "List the account tokens, of one account or of all",
    path: "/admin/v1/tokens",
    query: z.strictObject({
      ...PAGE_FIELDS,
      account: z.string().max(64).optional(),
    }),
    reply: listOf(tokenReply),
    run: async (admin, query) =>
      listJson(
        await admin.tokens.list({
          ...pageOf(query),
          ...compact({ accountId: query.account }),
        }),
        tokenJson,
      ),
  }),
  mutation({
    operationId: "issueToken",
    summary:
      "Issue an account token, for the console and for /v1/account; only this reply contains it",
    path: "/admin/v1/tokens",
    request: settingsSchema(TOKEN),
    reply: issuedTokenReply,
    run: async (admin, body, { idempotencyKey }) =>
      issuedTokenJson(await admin.tokens.issue(body, idempotencyKey)),
  }),
  mutation({
    operationId: "createSignInLink",
    summary:
      "Create a link that opens the console of an account once, within fifteen minutes; only this reply contains it",
    path: "/admin/v1/sign-in-links",
    request: z.strictObject({
      account: reference,
      scope: z.enum(["read", "manage"]).default("read"),
      name: displayName.optional().describe(
        "who it is for: shown beside what they change",
      ),
    }),
    reply: z.object({
      object: z.literal("sign_in_link"),
      id: z.string(),
      account: z.string(),
      scope: z.enum(["read", "manage"]),
      name: z.string().nullable(),
      path: z.string().describe(
        "path and fragment, to be appended to the gateway's address",
      ),
      expires_at: z.string(),
    }),
    run: async (admin, { account, scope, name }) => {
      const code = await admin.signInCodes.create({
        accountId: account,
        scope,
        ...compact({ name }),
      });
      return {
        object: "sign_in_link",
        id: code.id,
        account: code.accountId,
        scope: code.scope,
        name: code.name ?? null,
        path: signInPath(code.text),
        expires_at: new Date(code.expiresAtMs).toISOString(),
      };
    },
  }),
];

/** The path of a sign-in link. Its fragment is not part of any request. */
function signInPath(code: string): string {
  return `/console/sign-in#${code}`;
}
