/**
 * Operations on the caller's own account: with an API key or an account token through the API, and
 * with a session in the console. The account comes from the credential, never from the request.
 */
import { z } from "zod";
import { ApiError, invalidField } from "../../translate/model/error.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { check } from "../../translate/model/schema.ts";
import {
  type Holder,
  type Permission,
  requirePermission,
} from "../accounts/credential_kind.ts";
import { settingsSchema } from "../accounts/field.ts";
import { KEY, KEY_CHANGES, type KeyRecord } from "../accounts/records.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import {
  type IdempotencyKey,
  notFound,
} from "../accounts/repositories/repository.ts";
import { TOKEN } from "../accounts/repositories/token_repository.ts";
import {
  issuedJson,
  issuedKeyReply,
  keyJson,
  keyReply,
  rotateBody,
} from "../admin/keys.ts";
import { accountJson, accountReply } from "./account_summary.ts";
import { recentPaces } from "./recent_pace.ts";
import {
  changeListReply,
  ownChanges,
  ownChangesQuery,
} from "../admin/changes.ts";
import {
  type AdminOperation,
  idempotencyKeyOf,
  type OperationInput,
} from "../admin/operation.ts";
import { listJson, listOf, noBody, pageOf, pageQuery } from "../admin/pages.ts";
import {
  issuedTokenJson,
  issuedTokenReply,
  tokenJson,
  tokenReply,
} from "../admin/tokens.ts";

/** An operation. It validates its own input. */
export interface AccountOperation extends Omit<AdminOperation, "run"> {
  /** What the credential must permit. */
  readonly permission: Permission;
  /**
   * Runs the operation.
   *
   * @throws {ApiError} `permission` for a credential of another kind; `invalid_request`,
   * `not_found` (also for what another account has), `conflict`, `unavailable`
   */
  run(
    admin: Admin,
    holder: Holder,
    input: OperationInput,
  ): Promise<JsonObject>;
}

interface Target {
  readonly id: string;
  readonly idempotencyKey?: IdempotencyKey;
}

type Definition<B> =
  & Omit<AccountOperation, "run" | "request" | "query">
  & {
    /** Schema of the body of a POST, of the query of a GET. */
    readonly input: z.ZodType<B>;
    run(
      admin: Admin,
      holder: Holder,
      body: B,
      target: Target,
    ): Promise<JsonObject>;
  };

function operation<B>(definition: Definition<B>): AccountOperation {
  const { input: schema, run, ...rest } = definition;
  const isQuery = definition.method === "GET";
  return {
    ...rest,
    ...(isQuery ? { query: schema } : { request: schema }),
    async run(admin, holder, input) {
      requirePermission(holder.kind, definition.permission);
      const body = check(schema, (isQuery ? input.query : input.body) ?? {});
      const idempotencyKey = idempotencyKeyOf(definition.operationId, input);
      return await run(admin, holder, body, {
        id: input.id ?? "",
        // Two accounts may use the same idempotency key: their replies are kept apart.
        ...(idempotencyKey === undefined ? {} : {
          idempotencyKey: {
            ...idempotencyKey,
            key: `${holder.accountId} ${idempotencyKey.key}`,
          },
        }),
      });
    },
  };
}

const { accountId: _key, ...KEY_SETTINGS } = KEY;
const { accountId: _token, scope: _scope, ...TOKEN_SETTINGS } = TOKEN;

/** The account's key with this id; another account's does not exist. */
async function ownKey(
  admin: Admin,
  holder: Holder,
  id: string,
): Promise<KeyRecord> {
  const key = await admin.keys.get(id);
  if (key.accountId !== holder.accountId) throw notFound("key", id);
  return key;
}

/** Refuses models that the account's plan does not have: calls with them would be refused. */
async function checkInPlan(
  admin: Admin,
  { accountId }: Holder,
  models: readonly string[] = [],
): Promise<void> {
  if (models.length === 0) return;
  const { planId } = await admin.accounts.get(accountId);
  const plan = await admin.plans.get(planId);
  const outside = models.findIndex((model) =>
    plan.models?.includes(model) === false
  );
  if (outside < 0) return;
  throw invalidField(
    `models[${outside}]`,
    "is not in the account's plan; GET /v1/account/models lists the models that it has",
  );
}

/** All operations; a fixed path precedes one with a variable part. */
export const ACCOUNT_OPERATIONS: readonly AccountOperation[] = [
  operation({
    operationId: "getAccount",
    summary:
      "The account: its balance, what is used of its limits, and which one stops its calls first",
    permission: "look",
    method: "GET",
    path: "/v1/account",
    input: z.strictObject({}),
    reply: accountReply,
    async run(admin, holder) {
      const state = await admin.state(holder);
      return accountJson(holder, state, await recentPaces(admin, state));
    },
  }),
  operation({
    operationId: "revokeOwnKey",
    summary: "Revoke the API key that is presented",
    permission: "revoke_itself",
    method: "POST",
    path: "/v1/account/keys/self/revoke",
    input: z.strictObject({
      last_four: z.string().describe("the key's last four characters"),
    }),
    reply: keyReply,
    async run(admin, holder, body, { idempotencyKey }) {
      if (holder.id === "configured") {
        throw new ApiError(
          "conflict",
          "this key is the setting GATEWAY_KEY: the gateway's operator changes it there",
          { code: "key_is_configured", retryable: false },
        );
      }
      const key = await ownKey(admin, holder, holder.id);
      if (body.last_four !== key.hint.slice(-4)) {
        throw invalidField(
          "last_four",
          "must be the last four characters of the key",
        );
      }
      return keyJson(await admin.keys.revoke(key.id, idempotencyKey));
    },
  }),
  operation({
    operationId: "listAccountKeys",
    summary: "List the keys of the account",
    permission: "see_account",
    method: "GET",
    path: "/v1/account/keys",
    input: pageQuery,
    reply: listOf(keyReply),
    run: async (admin, { accountId }, query) =>
      listJson(await admin.keys.list({ ...pageOf(query), accountId }), keyJson),
  }),
  operation({
    operationId: "issueAccountKey",
    summary: "Issue a key of the account; only this reply contains it",
    permission: "manage",
    method: "POST",
    path: "/v1/account/keys",
    input: settingsSchema(KEY_SETTINGS),
    reply: issuedKeyReply,
    async run(admin, holder, body, { idempotencyKey }) {
      const { accountId } = holder;
      await checkInPlan(admin, holder, body.models);
      return issuedJson(
        await admin.keys.issue({ ...body, accountId }, idempotencyKey),
      );
    },
  }),
  operation({
    operationId: "rotateAccountKey",
    summary:
      "Issue a key that replaces another of the account; the old one expires after overlap_seconds",
    permission: "manage",
    method: "POST",
    path: "/v1/account/keys/:id/rotate",
    input: rotateBody,
    reply: issuedKeyReply,
    async run(admin, holder, body, { id, idempotencyKey }) {
      await ownKey(admin, holder, id);
      return issuedJson(
        await admin.keys.rotate(
          id,
          body.overlap_seconds * 1000,
          idempotencyKey,
        ),
      );
    },
  }),
  operation({
    operationId: "revokeAccountKey",
    summary: "Revoke a key of the account permanently",
    permission: "manage",
    method: "POST",
    path: "/v1/account/keys/:id/revoke",
    input: noBody,
    reply: keyReply,
    async run(admin, holder, _, { id, idempotencyKey }) {
      await ownKey(admin, holder, id);
      return keyJson(await admin.keys.revoke(id, idempotencyKey));
    },
  }),
  operation({
    operationId: "updateAccountKey",
    summary:
      "Change the name or limits of a key of the account; absent fields stay unchanged",
    permission: "manage",
    method: "POST",
    path: "/v1/account/keys/:id",
    input: settingsSchema(KEY_CHANGES),
    reply: keyReply,
    async run(admin, holder, body, { id, idempotencyKey }) {
      await ownKey(admin, holder, id);
      return keyJson(await admin.keys.update(id, body, idempotencyKey));
    },
  }),
  operation({
    operationId: "listAccountTokens",
    summary: "List the tokens of the account",
    permission: "see_account",
    method: "GET",
    path: "/v1/account/tokens",
    input: pageQuery,
    reply: listOf(tokenReply),
    run: async (admin, { accountId }, query) =>
      listJson(
        await admin.tokens.list({ ...pageOf(query), accountId }),
        tokenJson,
      ),
  }),
  operation({
    operationId: "listAccountChanges",
    summary:
      "List who changed the account, its keys and its access, newest first, with the values before and after",
    permission: "see_account",
    method: "GET",
    path: "/v1/account/changes",
    input: ownChangesQuery,
    reply: changeListReply,
    run: (admin, { accountId }, query) => ownChanges(admin, accountId, query),
  }),
  operation({
    operationId: "issueAccountToken",
    summary:
      "Issue a token of the account with the scope read; only this reply contains it",
    permission: "manage",
    method: "POST",
    path: "/v1/account/tokens",
    input: settingsSchema(TOKEN_SETTINGS),
    reply: issuedTokenReply,
    run: async (admin, { accountId }, body, { idempotencyKey }) =>
      issuedTokenJson(
        await admin.tokens.issue(
          { ...body, accountId, scope: "read" },
          idempotencyKey,
        ),
      ),
  }),
  operation({
    operationId: "revokeAccountToken",
    summary: "Revoke a token of the account permanently",
    permission: "manage",
    method: "POST",
    path: "/v1/account/tokens/:id/revoke",
    input: noBody,
    reply: tokenReply,
    run: async (admin, { accountId }, _, { id, idempotencyKey }) =>
      tokenJson(await admin.tokens.revoke(id, idempotencyKey, accountId)),
  }),
];
