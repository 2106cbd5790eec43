/**
 * Reads and writes stored replies: rows of `stored_replies`, `stored_items` and `stored_bytes`.
 * Contents are sealed; nothing here can read them.
 */
import {
  insertRows,
  insertStatement,
  intOf,
  type Sql,
  type SqlDialect,
  type SqlRow,
  type SqlValue,
  type Store,
  textOf,
  textOrUndefined,
} from "../accounts/store/store.ts";
import { keepParts, type PartsWritten } from "./stored_parts.ts";

/** A sealed reply. */
export interface ReplyRow {
  /** Depends on the id and the client's key. */
  readonly address: string;
  /** Address of the reply that this one continues. */
  readonly previous?: string;
  /** The account whose share of bytes the row counts towards. */
  readonly accountId: string;
  /** The row is removed when this key ends. */
  readonly keyId: string;
  /** Unix time in milliseconds. */
  readonly atMs: number;
  /** The sealed input, or its place in the parts. */
  readonly input: string;
  /** The sealed reply, or its place in the parts. */
  readonly reply: string;
  /** The parts that have them; absent: none. */
  readonly inParts?: PartsWritten;
  /** Addresses of its items. */
  readonly items: readonly string[];
}

/** The part of a row that is needed to open it. */
export interface SealedReply
  extends Pick<ReplyRow, "address" | "previous" | "input" | "reply"> {
  /** Sealed bytes of both. */
  readonly bytes: number;
}

/** Rows that are removed in one statement. */
export const SLICE = 25;

const INSERT_ITEMS = insertStatement("stored_items", {
  address: "TEXT",
  reply: "TEXT",
}, "ON CONFLICT (address) DO UPDATE SET reply = excluded.reply");

const ADD_BYTES = insertStatement(
  "stored_bytes",
  {
    account_id: "TEXT",
    bytes: "BIGINT",
  },
  "ON CONFLICT (account_id) DO UPDATE SET bytes = stored_bytes.bytes + excluded.bytes",
);

/**
 * Inserts replies and makes room for them within each account's share by removing its oldest ones.
 *
 * @throws {Error} if an account's replies exceed the share together
 */
export async function insertReplies(
  sql: Sql,
  dialect: SqlDialect,
  rows: readonly ReplyRow[],
  maxBytes: number,
): Promise<void> {
  const added = bytesByAccount(rows);
  await Promise.all([
    lockReplies(sql, added.keys()),
    makeRoom(sql, dialect, added, maxBytes),
  ]);
  const results = await Promise.all(rows.map((row) => insertReply(sql, row)));
  const inserted = rows.filter((_, at) => results[at]?.length === 1);
  // One statement must not insert an address twice: the last reply with an item has it.
  const items = new Map(
    inserted.flatMap((row) =>
      row.items.map((address) => [address, row.address] as const)
    ),
  );
  await insertRows(
    sql,
    dialect,
    INSERT_ITEMS,
    [...items].map(([address, reply]) => ({ address, reply })),
  );
  await addBytes(sql, dialect, bytesByAccount(inserted));
}

async function insertReply(
  sql: Sql,
  row: ReplyRow,
): Promise<readonly SqlRow[]> {
  const { address, inParts } = row;
  if (inParts !== undefined) await keepParts(sql, address, inParts.parts);
  return await sql.all(
    "INSERT INTO stored_replies (address, previous, account_id, key_id, at_ms, bytes, reply_bytes, input, reply) " +
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (address) DO NOTHING RETURNING address",
    [
      address,
      row.previous ?? null,
      row.accountId,
      row.keyId,
      row.atMs,
      bytesIn(row),
      row.reply.length + (inParts?.replyChars ?? 0),
      row.input,
      row.reply,
    ],
  );
}

/**
 * Removes replies that expired, and replies of keys that were revoked or expired. Returns the
 * larger number of the two; {@linkcode SLICE} means that there may be others.
 */
export async function removeEnded(
  sql: Sql,
  dialect: SqlDialect,
  { oldestMs, nowMs }: { readonly oldestMs: number; readonly nowMs: number },
): Promise<number> {
  const expired = await removeFound(
    sql,
    dialect,
    `SELECT address, account_id, bytes FROM stored_replies WHERE at_ms < $1 ORDER BY at_ms LIMIT ${SLICE}`,
    [oldestMs],
  );
  const ofEndedKeys = await removeFound(
    sql,
    dialect,
    // Not a join: SQLite would scan the replies, and look up the key of each.
    "SELECT address, account_id, bytes FROM stored_replies WHERE key_id IN " +
      `(SELECT id FROM keys WHERE revoked_at_ms IS NOT NULL OR expires_at_ms <= $1) LIMIT ${SLICE}`,
    [nowMs],
  );
  return Math.max(expired, ofEndedKeys);
}

/** Removes one reply. Returns whether it was there. */
export async function removeReply(
  sql: Sql,
  dialect: SqlDialect,
  address: string,
  oldestMs: number,
): Promise<boolean> {
  return await removeFound(
    sql,
    dialect,
    "SELECT address, account_id, bytes FROM stored_replies WHERE address = $1 AND at_ms >= $2",
    [address, oldestMs],
  ) > 0;
}

interface ChainLimits {
  /** Older replies have expired. */
  readonly oldestMs: number;
  /** Most replies of a conversation. */
  readonly maxReplies: number;
  /** Reading stops at the reply that exceeds this many bytes. */
  readonly maxBytes: number;
}

/**
 * A reply and those that it continues, oldest first. If the first one has a `previous`, the rest of
 * the conversation is missing or beyond the limits.
 */
export async function readChain(
  store: Store,
  address: string,
  { oldestMs, maxReplies, maxBytes }: ChainLimits,
): Promise<readonly SealedReply[]> {
  const rows = await store.read(
    `WITH RECURSIVE chain (address, previous, depth, total) AS (
      SELECT address, previous, 1, bytes FROM stored_replies
        WHERE address = $1 AND at_ms >= $2
      UNION ALL
      SELECT r.address, r.previous, c.depth + 1, c.total + r.bytes
        FROM chain c JOIN stored_replies r ON r.address = c.previous
        WHERE r.at_ms >= $2 AND c.depth < $3 AND c.total <= $4
    )
    SELECT r.address, r.previous, r.bytes, r.input, r.reply FROM chain c
      JOIN stored_replies r ON r.address = c.address ORDER BY c.depth DESC`,
    [address, oldestMs, maxReplies, maxBytes],
  );
  return rows.map(sealedReply);
}

/** A sealed reply without its input. */
type SealedOutput = Pick<ReplyRow, "address" | "reply">;

/**
 * The replies that have the items at these addresses, each once, oldest first: where two have one
 * item, the later one counts. Undefined if they have more than `maxBytes` together.
 */
export async function readByItems(
  store: Store,
  addresses: readonly string[],
  { oldestMs, maxBytes }: Pick<ChainLimits, "oldestMs" | "maxBytes">,
): Promise<readonly SealedOutput[] | undefined> {
  const from = "FROM stored_replies WHERE at_ms >= $2 AND address IN " +
    `(SELECT reply FROM stored_items WHERE address IN ${
      store.dialect.texts(1)
    })`;
  const values = [JSON.stringify(addresses), oldestMs];
  const [sum] = await store.read(
    `SELECT CAST(COALESCE(SUM(reply_bytes), 0) AS BIGINT) AS bytes ${from}`,
    values,
  );
  if (sum === undefined || intOf(sum, "bytes") > maxBytes) return undefined;
  const rows = await store.read(
    `SELECT address, reply ${from} ORDER BY at_ms, address`,
    values,
  );
  return rows.map((row) => ({
    address: textOf(row, "address"),
    reply: textOf(row, "reply"),
  }));
}

/** The sealed reply at an address, without its input. */
export async function readOutput(
  store: Store,
  address: string,
  oldestMs: number,
): Promise<string | undefined> {
  const [row] = await store.read(
    "SELECT reply FROM stored_replies WHERE address = $1 AND at_ms >= $2",
    [address, oldestMs],
  );
  return row === undefined ? undefined : textOf(row, "reply");
}

/** What a row counts towards its account's share. */
export function bytesIn(
  { input, reply, inParts }: Pick<ReplyRow, "input" | "reply" | "inParts">,
): number {
  return input.length + reply.length + (inParts?.chars ?? 0);
}

function sealedReply(row: SqlRow): SealedReply {
  const previous = textOrUndefined(row, "previous");
  return {
    address: textOf(row, "address"),
    ...(previous === undefined ? {} : { previous }),
    bytes: intOf(row, "bytes"),
    input: textOf(row, "input"),
    reply: textOf(row, "reply"),
  };
}

/** How many bytes of replies each account has. */
function bytesByAccount(
  rows: readonly ReplyRow[],
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const row of rows) {
    sums.set(row.accountId, (sums.get(row.accountId) ?? 0) + bytesIn(row));
  }
  return sums;
}

/** Removes each account's oldest replies until there is room for the new bytes. */
async function makeRoom(
  sql: Sql,
  dialect: SqlDialect,
  added: ReadonlyMap<string, number>,
  maxBytes: number,
): Promise<void> {
  if (Math.max(...added.values()) > maxBytes) {
    throw new Error("replies are larger than their account's share");
  }
  const stored = await sql.all(
    `SELECT account_id, bytes FROM stored_bytes WHERE account_id IN ${
      dialect.texts(1)
    }`,
    [JSON.stringify([...added.keys()])],
  );
  for (const row of stored) {
    const accountId = textOf(row, "account_id");
    const excess = intOf(row, "bytes") + (added.get(accountId) ?? 0) - maxBytes;
    await removeOldest(sql, dialect, accountId, excess);
  }
}

/** Removes an account's oldest replies, at least `excess` bytes if it has them. */
async function removeOldest(
  sql: Sql,
  dialect: SqlDialect,
  accountId: string,
  excess: number,
): Promise<void> {
  let left = excess;
  while (left > 0) {
    const oldest = await sql.all(
      `SELECT address, account_id, bytes FROM stored_replies WHERE account_id = $1 ORDER BY at_ms, address LIMIT ${SLICE}`,
      [accountId],
    );
    if (oldest.length === 0) return;
    const removed: SqlRow[] = [];
    for (const row of oldest) {
      if (left <= 0) break;
      removed.push(row);
      left -= intOf(row, "bytes");
    }
    await removeRows(sql, dialect, removed);
  }
}

async function addBytes(
  sql: Sql,
  dialect: SqlDialect,
  added: ReadonlyMap<string, number>,
): Promise<void> {
  await insertRows(
    sql,
    dialect,
    ADD_BYTES,
    [...added].map(([account_id, bytes]) => ({ account_id, bytes })),
  );
}

/** Removes the replies that a query finds, with their items. Returns how many. */
async function removeFound(
  sql: Sql,
  dialect: SqlDialect,
  query: string,
  values: readonly SqlValue[],
): Promise<number> {
  let found = await sql.all(query, values);
  if (sql.lockNamed !== undefined && found.length > 0) {
    const accountIds = new Set(found.map((row) => textOf(row, "account_id")));
    await lockReplies(sql, accountIds);
    // Others may have removed some of them before.
    found = (await sql.all(query, values)).filter((row) =>
      accountIds.has(textOf(row, "account_id"))
    );
  }
  await removeRows(sql, dialect, found);
  return found.length;
}

/** In this order: a removal may lock the replies of several accounts. */
async function lockReplies(
  sql: Sql,
  accountIds: Iterable<string>,
): Promise<void> {
  await Promise.all(
    [...accountIds].toSorted().map((id) => sql.lockNamed?.(`replies ${id}`)),
  );
}

async function removeRows(
  sql: Sql,
  dialect: SqlDialect,
  found: readonly SqlRow[],
): Promise<void> {
  if (found.length === 0) return;
  const addresses = JSON.stringify(found.map((row) => textOf(row, "address")));
  const among = dialect.texts(1);
  await sql.all(`DELETE FROM stored_items WHERE reply IN ${among}`, [
    addresses,
  ]);
  await sql.all(`DELETE FROM stored_replies WHERE address IN ${among}`, [
    addresses,
  ]);
  const freed = new Map<string, number>();
  for (const row of found) {
    const accountId = textOf(row, "account_id");
    freed.set(accountId, (freed.get(accountId) ?? 0) - intOf(row, "bytes"));
  }
  await addBytes(sql, dialect, freed);
}
