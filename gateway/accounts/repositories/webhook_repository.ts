/**
 * Administration of webhooks: where the warnings of an account are sent.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import {
  notFound,
  readerOf,
  readRows,
  type RepositoryContext,
  writeOnce,
} from "./repository.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import type { Action, Change } from "../changes/change.ts";
import type { IdempotencyKey } from "./repository.ts";
import { randomText } from "../key.ts";
import { insertMessages, sealedSecret } from "../rows/webhook_rows.ts";
import {
  intOf,
  type Sql,
  type SqlRow,
  textOf,
  textOrUndefined,
} from "../store/store.ts";
import { newWebhookSecret } from "../webhooks/signature.ts";
import { updateRow } from "../rows/record_rows.ts";

/** A message that was delivered or given up. */
export interface Delivery {
  readonly id: string;
  readonly atMs: number;
  /** Such as `webhook.test`. */
  readonly type: string;
  readonly attempts: number;
  /** Why it was given up; absent: it was delivered. */
  readonly error?: string;
}

export interface Webhook {
  readonly accountId: string;
  /** Absent: the account has none. */
  readonly url?: string;
  /** Number of messages that are not delivered yet. */
  readonly pending: number;
  /** Why the last attempt for one of these failed; absent: none did. */
  readonly lastError?: string;
  /** The newest messages that were delivered or given up, newest first. */
  readonly deliveries: readonly Delivery[];
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
   * The webhooks of all accounts that have one, by account; at most 1,000, each with its last
   * message.
   */
  list(): Promise<readonly Webhook[]>;
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

export function webhookRepository(
  context: RepositoryContext,
): WebhookRepository {
  const find = async (
    read: Sql["all"],
    accountId: string,
  ): Promise<Webhook> => {
    const [row] = await read(
      `SELECT a.id AS account_id, w.url, ${STATE} FROM accounts a LEFT JOIN webhooks w ON w.account_id = a.id WHERE a.id = $1`,
      [accountId],
    );
    if (row === undefined) throw notFound("account", accountId);
    const deliveries = await read(
      "SELECT * FROM webhook_deliveries WHERE account_id = $1 ORDER BY at_ms DESC, id DESC",
      [accountId],
    );
    return webhookFrom(row, deliveries);
  };
  return {
    get: (accountId) => find(readerOf(context).all, accountId),
    async list() {
      const rows = await readRows(
        context,
        `SELECT a.account_id, a.url, ${
          STATE.replaceAll("a.id", "a.account_id")
        } FROM webhooks a ORDER BY a.account_id LIMIT 1000`,
      );
      const last = await readRows(
        context,
        "SELECT d.* FROM webhooks w JOIN webhook_deliveries d ON d.id = (SELECT l.id FROM webhook_deliveries l " +
          "WHERE l.account_id = w.account_id ORDER BY l.at_ms DESC, l.id DESC LIMIT 1)",
      );
      return rows.map((row) =>
        webhookFrom(
          row,
          last.filter((one) => one["account_id"] === row["account_id"]),
        )
      );
    },
    set: (accountId, url, idempotencyKey) =>
      writeOnce(
        context,
        async (sql) => {
          await sql.lockAccounts?.([accountId]);
          const before = await find(sql.all, accountId);
          if (url === undefined) {
            for (const table of ["s", "_messages", "_deliveries"]) {
              await sql.all(
                `DELETE FROM webhook${table} WHERE account_id = $1`,
                [accountId],
              );
            }
            const change = webhookChange("webhook.remove", before);
            return {
              reply: await find(sql.all, accountId),
              changes: before.url === undefined ? [] : [change],
            };
          }
          const secret = newWebhookSecret();
          const sealed = sealedSecret(context.store, accountId, secret);
          await sql.all(
            "INSERT INTO webhooks (account_id, url, secret, created_at_ms) VALUES ($1, $2, $3, $4) " +
              "ON CONFLICT (account_id) DO UPDATE SET url = excluded.url, secret = excluded.secret, created_at_ms = excluded.created_at_ms",
            [accountId, url, sealed, context.now()],
          );
          await updateRow(sql, "accounts", accountId, { warned: 0 });
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

/** What is waiting for the account `a`, as columns. */
const STATE =
  "(SELECT COUNT(*) FROM webhook_messages m WHERE m.account_id = a.id) AS pending, " +
  "(SELECT MAX(m.last_error) FROM webhook_messages m WHERE m.account_id = a.id) AS last_error";

function webhookFrom(row: SqlRow, deliveries: readonly SqlRow[]): Webhook {
  const url = textOrUndefined(row, "url");
  const lastError = textOrUndefined(row, "last_error");
  return {
    accountId: textOf(row, "account_id"),
    ...compact({ url }),
    pending: intOf(row, "pending"),
    ...compact({ lastError }),
    deliveries: deliveries.map((one) => {
      const error = textOrUndefined(one, "error");
      return {
        id: textOf(one, "id"),
        atMs: intOf(one, "at_ms"),
        type: textOf(one, "type"),
        attempts: intOf(one, "attempts"),
        ...compact({ error }),
      };
    }),
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
    ...compact({ before: was }),
    ...(is === undefined ? {} : {
      after: action === "webhook.set" ? { ...is, secret: "new" } : is,
    }),
  };
}
