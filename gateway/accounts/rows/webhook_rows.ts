/**
 * Webhooks and their messages: rows of `webhooks`, one per account that has one, and
 * `webhook_messages`, one per message that is not delivered yet.
 */
import { isObject } from "../../../translate/bytes/json.ts";
import { isSealed } from "../store/secret_seal.ts";
import { intOf, type Sql, type Store, textOf } from "../store/store.ts";

export interface NewMessage {
  /** Unique id. */
  readonly id: string;
  /** The account that it is about. */
  readonly accountId: string;
  /** JSON text. */
  readonly body: string;
  /** When it was written, Unix milliseconds. */
  readonly atMs: number;
}

/** A message that this process is to send now. */
export interface DueMessage {
  readonly id: string;
  readonly accountId: string;
  readonly body: string;
  /** Number of attempts, this one included. */
  readonly attempts: number;
  readonly url: string;
  /** Undefined: it was sealed with another key, and cannot be read. */
  readonly secret: string | undefined;
}

/** A webhook's secret as it is stored. */
export function sealedSecret(
  { secrets }: Pick<Store, "secrets">,
  accountId: string,
  secret: string,
): string {
  return secrets?.close(recordOf(accountId), secret) ?? secret;
}

function openSecret(
  { secrets }: Pick<Store, "secrets">,
  accountId: string,
  stored: string,
): string | undefined {
  return isSealed(stored) ? secrets?.open(recordOf(accountId), stored) : stored;
}

function recordOf(accountId: string): string {
  return `webhook ${accountId}`;
}

/** Seals the secrets that older versions stored in clear text. */
export async function sealWebhooks(store: Store): Promise<void> {
  if (store.secrets === undefined) return;
  const rows = (await store.read("SELECT account_id, secret FROM webhooks"))
    .filter((row) => !isSealed(textOf(row, "secret")));
  if (rows.length === 0) return;
  await store.write(async (sql) => {
    for (const row of rows) {
      const [accountId, secret] = [
        textOf(row, "account_id"),
        textOf(row, "secret"),
      ];
      await sql.all(
        "UPDATE webhooks SET secret = $3 WHERE account_id = $1 AND secret = $2",
        [accountId, secret, sealedSecret(store, accountId, secret)],
      );
    }
  });
}

/** The accounts whose webhook's secret this store cannot open: it was sealed with another key. */
export async function accountsOfLockedWebhooks(
  store: Store,
): Promise<readonly string[]> {
  const rows = await store.read("SELECT account_id, secret FROM webhooks");
  return rows.map((row) => textOf(row, "account_id")).filter((id, at) =>
    openSecret(store, id, textOf(rows[at] ?? {}, "secret")) === undefined
  );
}

/** Adds messages for the accounts that have a webhook; the others get none. */
export async function insertMessages(
  sql: Sql,
  messages: readonly NewMessage[],
): Promise<void> {
  for (const { id, accountId, body, atMs } of messages) {
    await sql.all(
      "INSERT INTO webhook_messages (id, account_id, body, attempts, next_at_ms) " +
        "SELECT CAST($1 AS TEXT), account_id, CAST($2 AS TEXT), 0, CAST($3 AS BIGINT) " +
        "FROM webhooks WHERE account_id = $4",
      [id, body, atMs, accountId],
    );
  }
}

/**
 * Takes due messages, one of each account that is not `busy`: they are due again after the pause of
 * their attempt, unless they are deleted before.
 */
export async function claimMessages(
  store: Store,
  nowMs: number,
  pausesMs: readonly number[],
  busy: readonly string[],
  most: number,
): Promise<readonly DueMessage[]> {
  const due = await store.read(
    "SELECT id FROM webhook_messages WHERE next_at_ms <= $1 LIMIT 1",
    [nowMs],
  );
  if (due.length === 0) return [];
  return await store.write(async (sql) => {
    const rows = await sql.all(
      // One step of the index for each webhook, however many messages wait for it.
      "SELECT m.*, w.url, w.secret FROM webhooks w JOIN webhook_messages m ON m.id = (SELECT id FROM webhook_messages " +
        "WHERE account_id = w.account_id AND next_at_ms <= $1 ORDER BY next_at_ms, id LIMIT 1) " +
        `WHERE w.account_id NOT IN ${
          store.dialect.texts(2)
        } ORDER BY m.next_at_ms, m.id LIMIT $3`,
      [nowMs, JSON.stringify(busy), most],
    );
    const messages = rows.map((row) => ({
      id: textOf(row, "id"),
      accountId: textOf(row, "account_id"),
      body: textOf(row, "body"),
      attempts: intOf(row, "attempts") + 1,
      url: textOf(row, "url"),
      secret: openSecret(
        store,
        textOf(row, "account_id"),
        textOf(row, "secret"),
      ),
    }));
    for (const { id, attempts } of messages) {
      const pauseMs = pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? 0;
      await sql.all(
        "UPDATE webhook_messages SET attempts = $2, next_at_ms = $3 WHERE id = $1",
        [id, attempts, nowMs + pauseMs],
      );
    }
    return messages;
  });
}

/** Messages that are kept of an account once they are delivered or given up. */
const KEPT_DELIVERIES = 20;

/** Records that a message was delivered, or given up with an error; it is not sent again. */
export async function endMessage(
  store: Store,
  { id, accountId, body, attempts }: DueMessage,
  atMs: number,
  error: string | undefined,
): Promise<void> {
  await store.write(async (sql) => {
    const [deleted] = await sql.all(
      "DELETE FROM webhook_messages WHERE id = $1 RETURNING id",
      [id],
    );
    // The webhook was removed meanwhile, and its messages with it.
    if (deleted === undefined) return;
    await sql.all(
      "INSERT INTO webhook_deliveries (id, account_id, at_ms, type, attempts, error) VALUES ($1, $2, $3, $4, $5, $6)",
      [id, accountId, atMs, typeOf(body), attempts, error ?? null],
    );
    await sql.all(
      "DELETE FROM webhook_deliveries WHERE account_id = $1 AND id NOT IN " +
        `(SELECT id FROM webhook_deliveries WHERE account_id = $1 ORDER BY at_ms DESC, id DESC LIMIT ${KEPT_DELIVERIES})`,
      [accountId],
    );
  });
}

/** Records why an attempt failed that is repeated later. */
export async function failMessage(
  store: Store,
  id: string,
  error: string,
): Promise<void> {
  await store.write((sql) =>
    sql.all("UPDATE webhook_messages SET last_error = $2 WHERE id = $1", [
      id,
      error,
    ])
  );
}

function typeOf(body: string): string {
  const message: unknown = JSON.parse(body);
  return isObject(message) && typeof message["type"] === "string"
    ? message["type"]
    : "";
}
