/**
 * Long texts of stored replies: sealed, written and read in parts, so that none of them occupies
 * the event loop or the store for long. The parts are committed before the reply's row, which makes
 * them visible; parts without a row are of a process that ended, or of a reply that was removed,
 * and {@linkcode removeLooseParts} removes them.
 */
import { pairEnd } from "../../translate/bytes/json_pieces.ts";
import { joinPieces } from "../../translate/bytes/buffers.ts";
import { nextTurn } from "../accounts/next_turn.ts";
import type { Seal } from "../accounts/seal.ts";
import {
  insertRows,
  insertStatement,
  intOf,
  type Sql,
  type SqlDialect,
  type Store,
  textOf,
} from "../accounts/store/store.ts";

/** What a column has in place of a text in parts: this, the first part, and the one after the last. */
const VERSION = "2.";
const PLACE = /^2\.(\d+)-(\d+)$/;
const PIECE_CHARS = 128 * 1024;
/** Sealed characters that one write or read has at least, if there are so many: some milliseconds. */
const GROUP_CHARS = 1024 * 1024;
/** Parts of a read. */
const GROUP_PARTS = 6;
/** Parts that one write removes. */
const REMOVED_PARTS = 50;
/** Parts whose process has written none for so long, in milliseconds, have no row to come. */
const ABANDONED_MS = 3_600_000;

const INSERT_PARTS = insertStatement("stored_parts", {
  reply: "TEXT",
  part: "BIGINT",
  sealed: "TEXT",
});

/** The parts of one reply's texts. */
export interface PartsWritten {
  readonly parts: number;
  /** Sealed characters. */
  readonly chars: number;
  /** Those of the reply, without its input. */
  readonly replyChars: number;
}

/** Writes a reply's long texts. */
export interface PartWriter extends Omit<PartsWritten, "replyChars"> {
  /**
   * Seals and commits a text that is given in pieces. Returns what its column has.
   *
   * @param at where the text is sealed
   */
  add(at: string, pieces: Iterable<string>): Promise<string>;
}

interface PartWriterOptions {
  readonly seal: Seal;
  readonly dialect: SqlDialect;
  /** Address of the reply. */
  readonly address: string;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Commits a write. */
  readonly write: (work: (sql: Sql) => Promise<void>) => Promise<void>;
}

interface Part {
  readonly part: number;
  readonly sealed: string;
}

export function partWriter(options: PartWriterOptions): PartWriter {
  const { seal, dialect, address, now, write } = options;
  let parts = 0;
  let chars = 0;
  let group: Part[] = [];
  let groupChars = 0;
  const commit = async (): Promise<void> => {
    const rows = group.map((part) => ({ reply: address, ...part }));
    group = [];
    groupChars = 0;
    await write(async (sql) => {
      await sql.all(
        "INSERT INTO stored_texts (reply, at_ms) VALUES ($1, $2) " +
          "ON CONFLICT (reply) DO UPDATE SET at_ms = excluded.at_ms WHERE stored_texts.at_ms > 0",
        [address, now()],
      );
      await insertRows(sql, dialect, INSERT_PARTS, rows);
    });
    // SQLite writes on the event loop.
    await nextTurn();
  };
  const put = async (at: string, text: string): Promise<void> => {
    const sealed = await seal.close(at, text);
    group.push({ part: parts++, sealed });
    chars += sealed.length;
    groupChars += sealed.length;
    if (groupChars >= GROUP_CHARS) await commit();
  };
  return {
    get parts() {
      return parts;
    },
    get chars() {
      return chars;
    },
    async add(at, pieces) {
      const first = parts;
      let text = "";
      for (const piece of pieces) {
        if (text !== "") await put(partAt(at, parts - first), text);
        text = piece;
      }
      await put(lastAt(at, parts - first), text);
      if (group.length > 0) await commit();
      return `${VERSION}${first}-${parts}`;
    },
  };
}

/** A text in pieces. */
export function* piecesOf(text: string): Generator<string, void, void> {
  for (let from = 0; from < text.length;) {
    const to = pairEnd(text, from + PIECE_CHARS);
    yield text.slice(from, to);
    from = to;
  }
}

/** Whether a column has the place of a text in parts. */
export function isInParts(column: string): boolean {
  return column.startsWith(VERSION);
}

/**
 * Reads a text in parts, as UTF-8.
 *
 * @param at where it is sealed
 * @throws {Error} if a part is missing or was changed
 */
export async function readParts(
  store: Store,
  seal: Seal,
  address: string,
  at: string,
  column: string,
): Promise<Uint8Array> {
  const [, from, to] = PLACE.exec(column) ?? [];
  const [first, end] = [Number(from), Number(to)];
  if (!(end > first)) throw new Error("a stored reply has an unknown seal");
  const pieces: Uint8Array[] = [];
  for (let part = first; part < end; part += GROUP_PARTS) {
    const next = Math.min(end, part + GROUP_PARTS);
    const rows = await store.read(
      "SELECT sealed FROM stored_parts WHERE reply = $1 AND part >= $2 AND part < $3 ORDER BY part",
      [address, part, next],
    );
    if (rows.length < next - part) {
      throw new Error("a part of a stored reply is missing");
    }
    for (const row of rows) {
      const number = pieces.length;
      const isLast = number === end - first - 1;
      pieces.push(
        await seal.openBytes(
          isLast ? lastAt(at, number) : partAt(at, number),
          textOf(row, "sealed"),
        ),
      );
    }
    await nextTurn();
  }
  return joinPieces(pieces);
}

/**
 * Belongs to the write of a reply's row: its parts are kept from then on.
 *
 * @throws {Error} if they are not all there
 */
export async function keepParts(
  sql: Sql,
  address: string,
  parts: number,
): Promise<void> {
  // Locks them.
  await sql.all("UPDATE stored_texts SET at_ms = 0 WHERE reply = $1", [
    address,
  ]);
  const [row] = await sql.all(
    "SELECT CAST(COUNT(*) AS BIGINT) AS parts FROM stored_parts WHERE reply = $1",
    [address],
  );
  if (row === undefined || intOf(row, "parts") !== parts) {
    throw new Error("a part of a stored reply is missing");
  }
}

/** Removes parts without a row, some at a time. Returns whether there may be others. */
export async function removeLooseParts(
  sql: Sql,
  nowMs: number,
): Promise<boolean> {
  const [loose] = await sql.all(
    "SELECT reply FROM stored_texts t WHERE at_ms < $1 AND NOT EXISTS " +
      "(SELECT 1 FROM stored_replies r WHERE r.address = t.reply) LIMIT 1",
    [nowMs - ABANDONED_MS],
  );
  if (loose === undefined) return false;
  const reply = textOf(loose, "reply");
  // Locks them: a row that came meanwhile is seen by the next statement.
  await sql.all("UPDATE stored_texts SET at_ms = 0 WHERE reply = $1", [reply]);
  const removed = await sql.all(
    "DELETE FROM stored_parts WHERE reply = $1 AND part IN " +
      `(SELECT part FROM stored_parts WHERE reply = $1 ORDER BY part LIMIT ${REMOVED_PARTS}) ` +
      "AND NOT EXISTS (SELECT 1 FROM stored_replies WHERE address = $1) RETURNING part",
    [reply],
  );
  if (removed.length < REMOVED_PARTS) {
    await sql.all(
      "DELETE FROM stored_texts WHERE reply = $1 " +
        "AND NOT EXISTS (SELECT 1 FROM stored_parts WHERE reply = $1)",
      [reply],
    );
  }
  return true;
}

/** Neither the order of the parts nor their end can be changed. */
function partAt(at: string, number: number): string {
  return `${at} part ${number}`;
}

function lastAt(at: string, number: number): string {
  return `${partAt(at, number)}, the last`;
}
