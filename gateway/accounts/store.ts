/**
 * The one door to what is kept: reads, and writes that happen whole or not at all. SQL goes through it as text that both stores
 * understand; what differs between them is in {@linkcode Dialect}. What the tables are is in `migrations.ts`.
 *
 * @module
 */

/** What a statement takes. Lists and records travel as JSON text, see {@linkcode Dialect}. */
export type SqlValue = string | number | null;

/** One row as the store gave it. Read it with {@linkcode textOf} and its siblings. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** Runs one statement, whose parameters are written `$1`, `$2`. */
export interface Sql {
  /** Runs it; the rows that it gives. */
  all(
    text: string,
    values?: readonly SqlValue[],
  ): Promise<readonly SqlRow[]>;
  /** Runs it once for each row of values. Absent where one statement for all rows is quicker. */
  each?(
    text: string,
    rows: readonly (readonly SqlValue[])[],
  ): Promise<void>;
}

/** The few words in which the two kinds of SQL differ. */
export interface Dialect {
  /** Which kind of SQL. */
  readonly name: "sqlite" | "postgres";
  /** The elements of the JSON array in parameter `$n`, as rows with one column, `value`; for a FROM clause. */
  elements(n: number): string;
  /** The texts of the JSON array in parameter `$n`, as a subquery; for an IN clause. */
  texts(n: number): string;
}

/** How a process lets others know that it lives, so that nobody settles what it still has open. */
export interface Liveness {
  /** From now on this owner counts as alive, until its process ends. */
  enlist(ownerId: string): Promise<void>;
  /** Says so again. Called every few seconds. */
  beat(ownerId: string): Promise<void>;
  /** Those of the owners in the store that are known to be gone. Never one that may be alive. */
  gone(ownerId: string): Promise<readonly string[]>;
  /** Takes an owner off the list: it is gone and has nothing open any more. */
  strike(ownerId: string): Promise<void>;
}

/** A write that went through. */
export interface Committed<T> {
  /** What the work gave. */
  readonly value: T;
  /** Resolves once the write would survive the end of the machine; rejects where that could not be made sure. */
  readonly durable: Promise<void>;
}

/** Where everything is kept. */
export interface Store {
  /** The words of its SQL. */
  readonly dialect: Dialect;
  /**
   * How long a look at the store may be relied on, in milliseconds: what another process changes (a revoked key) is seen here
   * at most this much later.
   */
  readonly trustMs: number;
  /** Who is there. */
  readonly liveness: Liveness;
  /** Reads outside of any write: sees what is committed. */
  readonly read: Sql["all"];
  /** Runs `work` as one write: all of it or nothing, durable when the promise resolves. See {@linkcode Store.commit}. */
  write<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs `work` as one write, never at the same time as another, in whatever process; everybody sees it when the promise
   * resolves. Only statements may be awaited inside.
   *
   * A writer that remembers what it wrote passes itself: `isSequel` then tells whether nobody, in whatever process, has written
   * since its own last write, so that what it remembers is what is there. False where that is not known.
   */
  commit<T>(
    work: (sql: Sql, isSequel: boolean) => Promise<T>,
    writer: object,
  ): Promise<Committed<T>>;
  /** Lets go. What is being written is finished first. */
  close(): Promise<void>;
}

/** The text in a column. */
export function textOf(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw unreadable(column, value);
  return value;
}

/** The text in a column that may be empty. */
export function textOrUndefined(
  row: SqlRow,
  column: string,
): string | undefined {
  return row[column] === null ? undefined : textOf(row, column);
}

/** The whole number in a column. */
export function intOf(row: SqlRow, column: string): number {
  const value = row[column];
  if (typeof value !== "number" || !Number.isSafeInteger(value)) {
    throw unreadable(column, value);
  }
  return value;
}

/** The whole number in a column that may be empty. */
export function intOrUndefined(
  row: SqlRow,
  column: string,
): number | undefined {
  return row[column] === null ? undefined : intOf(row, column);
}

/** The yes or no in a column: 1 or 0. */
export function flagOf(row: SqlRow, column: string): boolean {
  return intOf(row, column) === 1;
}

function unreadable(column: string, value: unknown): Error {
  return new Error(
    `could not read column ${column} from the store: it holds ${typeof value}`,
  );
}

/** {@linkcode Store.write} of a store that has {@linkcode Store.commit}. */
export async function written<T>(
  store: Pick<Store, "commit">,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const { value, durable } = await store.commit(work, {});
  await durable;
  return value;
}

/** The kind of each column that rows are written to. */
export type Columns = Readonly<Record<string, "TEXT" | "BIGINT">>;

/** How rows are written to a table: statements of always the same text, so that the store plans each once. */
export interface Insertion {
  /** The columns. */
  readonly names: readonly string[];
  /** For one row, whose values are the parameters. */
  readonly one: string;
  /** For many, which are one parameter as JSON. */
  many(dialect: Dialect): string;
}

/** Prepares {@linkcode insertRows}; `tail` is what follows, as `ON CONFLICT …`. */
export function insertion(
  table: string,
  columns: Columns,
  tail: string = "",
): Insertion {
  const names = Object.keys(columns);
  const into = `INSERT INTO ${table} (${names.join(", ")})`;
  const marks = names.map((_, at) => `$${at + 1}`).join(", ");
  const picks = Object.entries(columns).map(([name, kind]) =>
    `CAST(value ->> '${name}' AS ${kind})`
  ).join(", ");
  return {
    names,
    one: `${into} VALUES (${marks}) ${tail}`,
    // WHERE true: without it SQLite takes ON CONFLICT for the start of a join.
    many: (dialect) =>
      `${into} SELECT ${picks} FROM ${dialect.elements(1)} WHERE true ${tail}`,
  };
}

/** Inserts many rows; they go in as given. */
export async function insertRows(
  sql: Sql,
  dialect: Dialect,
  into: Insertion,
  rows: readonly Readonly<Record<string, SqlValue>>[],
): Promise<void> {
  if (rows.length === 0) return;
  if (sql.each !== undefined) {
    const { names, one } = into;
    return await sql.each(
      one,
      rows.map((row) => names.map((name) => row[name] ?? null)),
    );
  }
  await sql.all(into.many(dialect), [JSON.stringify(rows)]);
}
