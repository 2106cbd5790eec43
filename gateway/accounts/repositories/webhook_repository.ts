/**
 * Administration of webhooks: where the warnings of an account are sent.
 *
 * @module
 */
import {
  notFound,
  readRows,
  type RepositoryContext,
  writeOnce,
} from "./repository.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import type { Action, Change } from "../changes/change.ts";
import type { IdempotencyKey } from "./repository.ts";
import { randomText } from "../key.ts";
import { insertMessages, sealedSecret } from "../store/webhook_rows.ts";
import { intOf, type Sql, textOrUndefined } from "../store/store.ts";
import { newWebhookSecret } from "../webhooks/signature.ts";

/** The webhook of an account. */
export interface Webhook {
  readonly accountId: string;
  /** Absent: the account has none. */
  readonly url?: string;
  /** Number of messages that are not delivered yet. */
  readonly pending: number;
  /** Present in the reply to {@linkcode WebhookRepository.set} alone. */
  readonly secret?: string;
}

/** Sets, removes and tests webhooks. */
export interface WebhookRepository {
  /**
   * Reads the webhook of an account.
   *
   * @throws {ApiError} `not_found` for the account
   */
  get(accountId: string): Promise<Webhook>;
  /**
   * Sets the address, with a new secret; undefined removes the webhook and what it has not
   * delivered. Warnings that were sent in the current windows are due again.
   *
   * @throws {ApiError} `not_found` for the account
   */
  set(
    accountId: string,
    url: string | undefined,
    idempotencyKey?: IdempotencyKey,
  ): Promise<Webhook>;
  /**
   * Sends a message of the type `webhook.test`.
   *
   * @throws {ApiError} `not_found` for the account, or if it has no webhook
   */
  test(accountId: string, idempotencyKey?: IdempotencyKey): Promise<Webhook>;
}

/** Creates the repository. */
export function webhookRepository(
  context: RepositoryContext,
): WebhookRepository {
  const find = async (
    read: Sql["all"],
    accountId: string,
  ): Promise<Webhook> => {
    const [row] = await read(
      "SELECT w.url, (SELECT COUNT(*) FROM webhook_messages m WHERE m.account_id = a.id) AS pending " +
        "FROM accounts a LEFT JOIN webhooks w ON w.account_id = a.id WHERE a.id = $1",
      [accountId],
    );
    if (row === undefined) throw notFound("account", accountId);
    const url = textOrUndefined(row, "url");
    return {
      accountId,
      ...(url === undefined ? {} : { url }),
      pending: intOf(row, "pending"),
    };
  };
  return {
    get: (accountId) =>
      find((text, values) => readRows(context, text, values), accountId),
    set: (accountId, url, idempotencyKey) =>
      writeOnce(
        context,
        async (sql) => {
          const before = await find(sql.all, accountId);
          if (url === undefined) {
            for (const table of ["webhooks", "webhook_messages"]) {
              await sql.all(`DELETE FROM ${table} WHERE account_id = $1`, [
                accountId,
              ]);
            }
            return {
              reply: await find(sql.all, accountId),
              changes: before.url === undefined
                ? []
                : [webhookChange("webhook.remove", before)],
            };
          }
          const secret = newWebhookSecret();
          await sql.all(
            "INSERT INTO webhooks (account_id, url, secret, created_at_ms) VALUES ($1, $2, $3, $4) " +
              "ON CONFLICT (account_id) DO UPDATE SET url = excluded.url, secret = excluded.secret, created_at_ms = excluded.created_at_ms",
            [
              accountId,
              url,
              sealedSecret(context.store, accountId, secret),
              context.now(),
            ],
          );
          await sql.all("UPDATE accounts SET warned = 0 WHERE id = $1", [
            accountId,
          ]);
          await sql.all(
            "UPDATE key_states SET warned = 0 WHERE key_id IN (SELECT id FROM keys WHERE account_id = $1)",
            [accountId],
          );
          const after = await find(sql.all, accountId);
          return {
            reply: { ...after, secret },
            changes: [webhookChange("webhook.set", before, after)],
          };
        },
        idempotencyKey,
        ({ secret: _, ...webhook }) => webhook,
      ),
    test: (accountId, idempotencyKey) =>
      writeOnce(context, async (sql) => {
        const nowMs = context.now();
        const { url, ...rest } = await find(sql.all, accountId);
        if (url === undefined) {
          throw notFound("webhook", `of the account ${accountId}`);
        }
        await insertMessages(sql, [{
          id: `msg_${randomText(24)}`,
          accountId,
          body: JSON.stringify({
            type: "webhook.test",
            timestamp: new Date(nowMs).toISOString(),
            data: { account: accountId },
          }),
          atMs: nowMs,
        }]);
        return {
          reply: await find(sql.all, accountId),
          changes: [webhookChange("webhook.test", undefined, { ...rest, url })],
        };
      }, idempotencyKey),
  };
}

/** The host alone is recorded: the path of an address often contains a secret. */
function webhookChange(
  action: Action,
  before: Webhook | undefined,
  after?: Webhook,
): Change {
  const host = (webhook: Webhook | undefined): JsonObject | undefined =>
    webhook?.url === undefined
      ? undefined
      : { host: new URL(webhook.url).host };
  const [was, is] = [host(before), host(after)];
  const accountId = (after ?? before)?.accountId ?? "";
  return {
    action,
    target: accountId,
    accountId,
    ...(was === undefined ? {} : { before: was }),
    ...(is === undefined ? {} : {
      after: action === "webhook.set" ? { ...is, secret: "new" } : is,
    }),
  };
}
