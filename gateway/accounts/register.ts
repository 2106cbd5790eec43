/**
 * What the registers (plans, accounts, keys) have in common: a change is one write that also counts the revision up, happens once
 * per idempotency key, and a list comes in pages.
 *
 * @module
 */
import { ApiError } from "../../translate/error.ts";
import { unavailable } from "./journal.ts";
import { randomText } from "./key.ts";
import {
  intOf,
  type Sql,
  type SqlRow,
  type SqlValue,
  type Store,
  textOf,
} from "./store.ts";

/** What a register works with. */
export interface RegisterContext {
  /** Where everything is kept. */
  readonly store: Store;
  /** The clock. */
  readonly now: () => number;
  /** Told of every change, with the revision that it led to. */
  readonly changed: (revision: number) => void;
  /** Whether there is such a model: lists of models are checked against it. */
  readonly knowsModel: (model: string) => boolean;
}

/** Makes a change happen once, however often it is asked for. */
export interface Once {
  /** The caller's own word for this one request. */
  readonly key: string;
  /** What was asked: the same key with something else is refused. */
  readonly fingerprint: string;
}

/** How long the answer to a change is remembered. */
const ANSWER_MS = 24 * 60 * 60 * 1000;

/**
 * Makes a change. Its answer is remembered where `once` is given, as `kept` makes it: secrets are not to be in it.
 *
 * @throws {ApiError} what `work` throws; `conflict` when the idempotency key was used for something else; `unavailable`
 */
export async function change<T>(
  context: RegisterContext,
  work: (sql: Sql) => Promise<T>,
  once?: Once,
  kept: (answer: T) => T = (answer) => answer,
): Promise<T> {
  const nowMs = context.now();
  const outcome = await reached(() =>
    context.store.write(async (sql): Promise<Outcome<T>> => {
      if (once !== undefined) {
        const before = await answerTo(sql, once, nowMs);
        // The text was written below, from a T.
        if (before !== undefined) return { answer: JSON.parse(before) as T };
      }
      const answer = await work(sql);
      const [row] = await sql.all(
        "UPDATE revision SET value = value + 1 WHERE id = 1 RETURNING value",
      );
      if (once !== undefined) {
        await sql.all(
          "INSERT INTO answers (idempotency_key, fingerprint, answer, at_ms) VALUES ($1, $2, $3, $4)",
          [once.key, once.fingerprint, JSON.stringify(kept(answer)), nowMs],
        );
      }
      return {
        answer,
        ...(row === undefined ? {} : { revision: intOf(row, "value") }),
      };
    })
  );
  if (outcome.revision !== undefined) context.changed(outcome.revision);
  return outcome.answer;
}

interface Outcome<T> {
  readonly answer: T;
  /** Absent where nothing was changed: it had been before. */
  readonly revision?: number;
}

async function answerTo(
  sql: Sql,
  once: Once,
  nowMs: number,
): Promise<string | undefined> {
  await sql.all("DELETE FROM answers WHERE at_ms < $1", [nowMs - ANSWER_MS]);
  const [row] = await sql.all(
    "SELECT fingerprint, answer FROM answers WHERE idempotency_key = $1",
    [once.key],
  );
  if (row === undefined) return undefined;
  if (textOf(row, "fingerprint") !== once.fingerprint) {
    throw new ApiError(
      "conflict",
      "the idempotency key was used for a different request",
      { code: "idempotency_key_reused", retryable: false },
    );
  }
  return textOf(row, "answer");
}

/** Reads. @throws {ApiError} `unavailable` when the store does not answer */
export function look(
  context: RegisterContext,
  text: string,
  values: readonly SqlValue[] = [],
): Promise<readonly SqlRow[]> {
  return reached(() => context.store.read(text, values));
}

async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ApiError ? error : unavailable(1000, error);
  }
}

/** The error for an id that there is not. */
export function notFound(noun: string, id: string): ApiError {
  return new ApiError("not_found", `there is no ${noun} ${id}`, {
    code: `${noun}_not_found`,
    retryable: false,
  });
}

/** The error for an id that there is already. */
export function taken(noun: string, id: string): ApiError {
  return new ApiError("conflict", `there is a ${noun} ${id} already`, {
    code: `${noun}_exists`,
    retryable: false,
  });
}

/** Where a page of a list begins and how long it may be. */
export interface PageRequest {
  /** The last id of the page before. */
  readonly after?: string;
  /** How many at most, 1 to 1000; absent: 100. */
  readonly limit?: number;
}

/** A page of a list. */
export interface Page<T> {
  /** What is on it. */
  readonly data: readonly T[];
  /** Ask for the next page with this; absent on the last one. */
  readonly next?: string;
}

const PAGE = 100;

/** Makes a page out of one row more than asked for; see {@linkcode pageLimit}. */
export function pageOf<T>(
  items: readonly T[],
  limit: number,
  cursor: (item: T) => string,
): Page<T> {
  const data = items.slice(0, limit);
  const last = data.at(-1);
  return {
    data,
    ...(items.length > limit && last !== undefined
      ? { next: cursor(last) }
      : {}),
  };
}

/** How many to give: what was asked for, within reason. */
export function pageLimit(page: PageRequest): number {
  return Math.min(Math.max(1, page.limit ?? PAGE), 1000);
}

/** A new id. Ids sort by the time at which they were made, so lists are in that order. */
export function newId(
  prefix: string,
  nowMs: number,
  randomChars: number = 12,
): string {
  const time = nowMs.toString(36).padStart(9, "0");
  return `${prefix}_${time}${randomText(randomChars)}`;
}
