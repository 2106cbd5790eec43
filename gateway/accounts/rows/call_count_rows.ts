/**
 * Counts calls by their outcome and the time to their first token: all of them by minute (rows of
 * `call_minutes`), and those of all, of each account, and of each key by model, by hour and day
 * (rows of `call_hours` and `call_days`). So figures of a month are read from some thousand rows,
 * however many calls it had.
 */
import { type CallRecord, callTimeMs } from "../calls/call_record.ts";
import { outcomeOf } from "../calls/outcome.ts";
import {
  insertRows,
  type InsertStatement,
  insertStatement,
  type Sql,
  type SqlDialect,
} from "../store/store.ts";

const MINUTE_MS = 60_000;
/** Days whose hours are kept: a key has nearly as many hours as calls. */
export const CALL_HOURS_DAYS = 8;
/**
 * Classes of a time for each factor of e, each about 20 % wide. Twice as many classes would nearly
 * double the rows of a write.
 */
const CLASSES = 5;
/** The class of calls without a token. */
const NO_TOKEN = -1;
/** Rows of a table that one write removes: more would hold up other writes. */
const REMOVED_ROWS = 500;

const COUNTED = {
  outcome: "TEXT",
  first_token: "BIGINT",
  calls: "BIGINT",
} as const;

const SUBJECT = { account_id: "TEXT", key_id: "TEXT", model: "TEXT" } as const;

/** A table of counts by a step of time. */
interface Counts {
  readonly table: string;
  readonly step: "minute" | "hour" | "day";
  readonly stepMs: number;
  /** Columns of the primary key. */
  readonly keys: string;
  readonly hasSubjects: boolean;
  readonly into: InsertStatement;
}

function counts(
  step: Counts["step"],
  stepMs: number,
  hasSubjects: boolean,
): Counts {
  const table = `call_${step}s`;
  const keys = hasSubjects
    ? `account_id, key_id, ${step}, model, outcome, first_token`
    : `${step}, outcome, first_token`;
  return {
    table,
    step,
    stepMs,
    keys,
    hasSubjects,
    into: insertStatement(
      table,
      { ...(hasSubjects ? SUBJECT : {}), [step]: "BIGINT", ...COUNTED },
      `ON CONFLICT (${keys}) DO UPDATE SET calls = ${table}.calls + excluded.calls`,
    ),
  };
}

const TABLES: readonly Counts[] = [
  counts("minute", MINUTE_MS, false),
  counts("hour", 60 * MINUTE_MS, true),
  counts("day", 24 * 60 * MINUTE_MS, true),
];

type CountedCall = Pick<
  CallRecord,
  | "requestId"
  | "accountId"
  | "keyId"
  | "model"
  | "ended"
  | "status"
  | "code"
  | "attempts"
  | "firstTokenMs"
>;

/** Calls that are counted in the same rows. */
interface Alike {
  /** One of them. */
  readonly call: CountedCall;
  readonly atMinute: number;
  readonly outcome: string;
  readonly first_token: number;
  calls: number;
}

/** Calls in groups that are counted in the same rows: most calls of a write are alike. */
function groupAlike(
  changes: readonly (readonly [call: CountedCall, by: 1 | -1])[],
): Iterable<Alike> {
  const groups = new Map<string, Alike>();
  for (const [call, by] of changes) {
    const atMinute = Math.floor(callTimeMs(call.requestId) / MINUTE_MS);
    const outcome = outcomeOf(call);
    const first_token = classOf(call.firstTokenMs);
    // The client's text is last, so that it cannot imitate the others.
    const id =
      `${atMinute} ${outcome} ${first_token} ${call.accountId} ${call.keyId} ${
        knownModel(call)
      }`;
    const known = groups.get(id);
    if (known === undefined) {
      groups.set(id, { call, atMinute, outcome, first_token, calls: by });
    } else known.calls += by;
  }
  return groups.values();
}

/** A model that does not exist has no figures: anybody can invent names. */
function knownModel({ model = "", code }: CountedCall): string {
  return code === "model_not_found" ? "" : model;
}

type Subject = readonly [accountId: string, keyId: string, model: string];

const EVERYTHING: readonly Subject[] = [["", "", ""]];

/** Whose figures a call is part of. */
function subjectsOf(call: CountedCall): readonly Subject[] {
  const { accountId, keyId } = call;
  const model = knownModel(call);
  return [["", "", model], [accountId, "", model], [accountId, keyId, model]];
}

/** Adds calls to the counts, or takes them out. */
export async function countCalls(
  sql: Sql,
  dialect: SqlDialect,
  changes: readonly (readonly [call: CountedCall, by: 1 | -1])[],
): Promise<void> {
  const groups = [...groupAlike(changes)];
  for (const { step, stepMs, hasSubjects, into } of TABLES) {
    const rows = new Map<string, Record<string, string | number>>();
    for (const { call, atMinute, outcome, first_token, calls } of groups) {
      const at = Math.floor(atMinute * MINUTE_MS / stepMs);
      for (const subject of hasSubjects ? subjectsOf(call) : EVERYTHING) {
        const [account_id, key_id, model] = subject;
        const of = { account_id, key_id, [step]: at, outcome, first_token };
        const id = `${Object.values(of).join(" ")} ${model}`;
        const before = Number(rows.get(id)?.["calls"] ?? 0);
        rows.set(id, { ...of, model, calls: before + calls });
      }
    }
    await insertRows(sql, dialect, into, [...rows.values()]);
  }
}

/**
 * Removes some of the counts from before `oldestMs`, and of those by hour some from before
 * `oldestHoursMs`. Returns their number; 0: none is left to remove.
 */
export async function removeOldCounts(
  sql: Sql,
  oldestMs: number,
  oldestHoursMs: number,
): Promise<number> {
  let removed = 0;
  for (const { table, step, stepMs, keys } of TABLES) {
    const beforeMs = step === "hour"
      ? Math.max(oldestMs, oldestHoursMs)
      : oldestMs;
    const rows = await sql.all(
      `DELETE FROM ${table} WHERE (${keys}) IN (
         SELECT ${keys} FROM ${table} WHERE ${step} < $1 ORDER BY ${step} LIMIT ${REMOVED_ROWS}
       ) RETURNING calls`,
      [Math.floor(beforeMs / stepMs)],
    );
    removed += rows.length;
  }
  return removed;
}

function classOf(ms: number | undefined): number {
  return ms === undefined
    ? NO_TOKEN
    : Math.round(Math.log(Math.max(1, ms)) * CLASSES);
}

/** The middle of a class in milliseconds; undefined: calls without a token. */
export function msOfClass(of: number): number | undefined {
  return of === NO_TOKEN ? undefined : Math.round(Math.exp(of / CLASSES));
}
