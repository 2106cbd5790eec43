/**
 * Fields of the stored records. One definition gives a field's type, its column, its JSON
 * form, its schemas in requests and replies, and its command-line flag. The definitions are
 * in `records.ts`.
 */
import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import {
  flagOf,
  intOf,
  type SqlRow,
  type SqlValue,
  textOf,
} from "./store/store.ts";

/**
 * How a command-line flag is parsed. For lists, numbers and amounts the value `none` means null.
 */
export type FlagKind =
  | "text"
  | "number"
  | "list"
  | "usd"
  | "duration"
  | "moment";

/** The kind of a value: its form in SQL, in JSON and on the command line. */
export interface Kind<T> {
  readonly sqlType: "TEXT" | "BIGINT";
  /**
   * Reads a column.
   *
   * @throws {Error} if the column holds something else
   */
  fromSql(row: SqlRow, column: string): T;
  toSql(value: T): SqlValue;
  toJson(value: T): unknown;
  /** Schema of the value in a reply. */
  readonly reply: z.ZodType;
  /** How a flag with such a value is parsed. */
  readonly flagKind: FlagKind;
}

/** What a field has besides its kind. */
interface FieldOptions {
  /** Name of the column; absent: the field's in snake case. */
  readonly column?: string;
  /** Name in JSON; absent: the column's without `_id` and `_ms`. */
  readonly json?: string;
  /** Description in replies. */
  readonly describe?: string;
  /** Schema of the value in a request; absent: the field cannot be set. */
  readonly set?: z.ZodType;
  /**
   * The flag that sets it. Where they are absent, its name is the JSON name and its kind the
   * field's.
   */
  readonly flag?: {
    readonly name?: string;
    readonly kind?: FlagKind;
    readonly help: string;
  };
}

/** A field before it is named. */
interface Field<T> extends Kind<T>, FieldOptions {}

/** A field that requests set to an `S`. */
export interface Setting<T, S> extends Field<T> {
  readonly set: z.ZodType<S>;
}

export type RecordFields = Readonly<Record<string, Named<Field<unknown>>>>;

type Named<F> = F & { readonly column: string; readonly json: string };

type ValueOf<F> = F extends { fromSql(...row: never): infer T } ? T : never;

/** The record with these fields. A field that may be undefined is absent then. */
export type RecordOf<D> =
  & {
    readonly [
      K in keyof D as undefined extends ValueOf<D[K]> ? never : K
    ]: ValueOf<D[K]>;
  }
  & {
    readonly [
      K in keyof D as undefined extends ValueOf<D[K]> ? K : never
    ]?: Exclude<ValueOf<D[K]>, undefined>;
  };

type SettingOf<F> = F extends { readonly set: z.ZodType<infer S> } ? S : never;

/** The settings among these fields, as a request gives them. */
export type SettingsOf<D> =
  & {
    readonly [
      K in keyof D as [SettingOf<D[K]>] extends [never] ? never
        : undefined extends SettingOf<D[K]> ? never
        : K
    ]: SettingOf<D[K]>;
  }
  & {
    readonly [
      K in keyof D as [SettingOf<D[K]>] extends [never] ? never
        : undefined extends SettingOf<D[K]> ? K
        : never
    ]?: Exclude<SettingOf<D[K]>, undefined>;
  };

export const TEXT: Kind<string> = {
  sqlType: "TEXT",
  fromSql: textOf,
  toSql: (value) => value,
  toJson: (value) => value,
  reply: z.string(),
  flagKind: "text",
};

export const INT: Kind<number> = {
  sqlType: "BIGINT",
  fromSql: intOf,
  toSql: (value) => value,
  toJson: (value) => value,
  reply: z.int(),
  flagKind: "number",
};

/** A time: Unix milliseconds, in JSON RFC 3339. */
export const TIME: Kind<number> = {
  ...INT,
  toJson: (value) => new Date(value).toISOString(),
  reply: z.string(),
  flagKind: "moment",
};

/** A boolean: 1 or 0 in SQL. */
export const BOOLEAN: Kind<boolean> = {
  sqlType: "BIGINT",
  fromSql: flagOf,
  toSql: (value) => value ? 1 : 0,
  toJson: (value) => value,
  reply: z.boolean(),
  flagKind: "text",
};

/** A list of texts, stored as JSON. */
export const LIST: Kind<readonly string[]> = {
  sqlType: "TEXT",
  fromSql(row, column) {
    const list: unknown = JSON.parse(textOf(row, column));
    if (!Array.isArray(list)) {
      throw new Error(
        `could not read column ${column}: it does not hold a list`,
      );
    }
    return list.filter((item) => typeof item === "string");
  },
  toSql: (value) => JSON.stringify(value),
  toJson: (value) => value,
  reply: z.array(z.string()),
  flagKind: "list",
};

/** One of several texts. */
export function oneOf<const T extends string>(
  ...values: readonly T[]
): Kind<T> & { readonly reply: z.ZodType<T> } {
  return {
    ...TEXT,
    fromSql(row, column) {
      const text = textOf(row, column);
      const value = values.find((one) => one === text);
      if (value === undefined) {
        throw new Error(`could not read column ${column}: it holds ${text}`);
      }
      return value;
    },
    reply: z.enum(values),
  };
}

/** A value that may be absent: NULL in SQL, null in JSON. */
export function optional<T>(kind: Kind<T>): Kind<T | undefined> {
  return {
    ...kind,
    fromSql: (row, column) =>
      row[column] === null ? undefined : kind.fromSql(row, column),
    toSql: (value) => value === undefined ? null : kind.toSql(value),
    toJson: (value) => value === undefined ? null : kind.toJson(value),
    reply: kind.reply.nullable(),
  };
}

/** Records of another table. */
export function listOf<D extends RecordFields>(
  fields: D,
): Kind<readonly RecordOf<D>[]> {
  const noColumn = (): never => {
    throw new Error("the records are in a table of their own");
  };
  return {
    sqlType: "TEXT",
    fromSql: noColumn,
    toSql: noColumn,
    toJson: (records) => records.map((record) => recordJson(fields, record)),
    reply: z.array(z.object(replyShape(fields))),
    flagKind: "list",
  };
}

export function field<T, S>(
  kind: Kind<T>,
  options: FieldOptions & { readonly set: z.ZodType<S> },
): Setting<T, S>;
export function field<T>(kind: Kind<T>, options?: FieldOptions): Field<T>;
export function field<T>(
  kind: Kind<T>,
  options: FieldOptions = {},
): Field<T> {
  const { describe } = options;
  return {
    ...kind,
    ...options,
    reply: describe === undefined ? kind.reply : kind.reply.describe(describe),
  };
}

export function fields<
  D extends Readonly<Record<string, Field<unknown>>>,
>(definitions: D): { readonly [K in keyof D]: Named<D[K]> };
export function fields(
  definitions: Readonly<Record<string, Field<unknown>>>,
): RecordFields {
  return Object.fromEntries(
    Object.entries(definitions).map(([name, one]) => {
      const column = one.column ??
        name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const json = one.json ?? column.replace(/_(id|ms)$/, "");
      return [name, { ...one, column, json }];
    }),
  );
}

/** The JSON form of a record; absent values are null. */
export function recordJson<D extends RecordFields>(
  fields: D,
  record: RecordOf<D>,
): JsonObject;
export function recordJson(
  fields: RecordFields,
  record: JsonObject,
): JsonObject {
  const json: Record<string, unknown> = {};
  for (const name in fields) {
    const one = fields[name];
    if (one !== undefined) json[one.json] = one.toJson(record[name]);
  }
  return json;
}

/** The schemas of a record's JSON form. */
export function replyShape(fields: RecordFields): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.values(fields).map(({ json, reply }) => [json, reply]),
  );
}

/** Schema of a request that sets these fields. Its result has the record's names. */
export function settingsSchema<D extends RecordFields>(
  fields: D,
): z.ZodType<SettingsOf<D>>;
export function settingsSchema(fields: RecordFields): z.ZodType<object> {
  const settable = Object.entries(fields).flatMap(([name, { json, set }]) =>
    set === undefined ? [] : [{ name, json, set }]
  );
  return z.strictObject(
    Object.fromEntries(settable.map(({ json, set }) => [json, set])),
  ).transform((body) =>
    Object.fromEntries(
      settable.filter(({ json }) => body[json] !== undefined)
        .map(({ name, json }) => [name, body[json]]),
    )
  );
}
