/**
 * The store in Postgres, for several machines.
 *
 * Every write takes one advisory lock first. That makes writes as orderly as SQLite's: no deadlocks, ledger rows appear in the
 * order of their numbers, and a decision never rests on a figure that somebody is changing. A write is a whole batch, so
 * the lock costs little. Only transactions are used, no session state, so a pooler may stand in between; for one that cannot
 * keep prepared statements, say `?prepare=false` in the address.
 *
 * @module
 */
import postgres from "postgres";
import {
  type Dialect,
  intOf,
  type Liveness,
  type Sql,
  type SqlRow,
  type Store,
  textOf,
  written,
} from "./store.ts";

const DIALECT: Dialect = {
  name: "postgres",
  // By way of text: the driver would wrap a parameter that it knows to be JSON into JSON again.
  elements: (n) => `jsonb_array_elements($${n}::text::jsonb) AS e (value)`,
  texts: (n) => `(SELECT jsonb_array_elements_text($${n}::text::jsonb))`,
};

/** Several machines see a revoked key within five seconds: the rest is for slow networks. */
const TRUST_MS = 2000;
/** Any constant, as long as it stays the same. */
const WRITE_LOCK = 7_190_317_442;

/** What may differ from the usual. */
export interface PostgresOptions {
  /** After this long without a sign of life a process counts as gone, in milliseconds. */
  readonly leaseMs?: number;
  /** No statement is waited for longer than this, in milliseconds. */
  readonly deadlineMs?: number;
  /** The clock; absent: `Date.now`. */
  readonly now?: () => number;
}

/** Connects to `postgres://…`. Connections are made when they are first needed. */
export function openPostgresStore(
  url: string,
  options: PostgresOptions = {},
): Store {
  const deadlineMs = options.deadlineMs ?? 5000;
  const prepare = new URL(url).searchParams.get("prepare") !== "false";
  const client = postgres(url, {
    max: 4,
    connect_timeout: Math.ceil(deadlineMs / 1000),
    // A store that comes back is noticed within a second.
    backoff: (tries: number) => Math.min(1, 0.05 * 2 ** tries),
    onnotice: () => {},
    connection: {
      application_name: "gateway",
      statement_timeout: deadlineMs,
      idle_in_transaction_session_timeout: deadlineMs,
    },
    types: {
      bigint: {
        to: 20,
        from: [20],
        parse: (text: string): number => Number(text),
        serialize: (value: number): string => String(value),
      },
    },
  });
  const read: Sql["all"] = (text, values) =>
    within(
      deadlineMs,
      client.unsafe<SqlRow[]>(text, [...values ?? []], { prepare }),
    );
  const commit: Store["commit"] = async (work) => {
    // The driver's own type unwraps arrays of promises, which no write returns: the result is carried out by hand.
    const result = Promise.withResolvers<Awaited<ReturnType<typeof work>>>();
    const done = client.begin(async (transaction) => {
      const all: Sql["all"] = (text, values) =>
        transaction.unsafe<SqlRow[]>(text, [...values ?? []], {
          prepare,
        });
      await all("SELECT pg_advisory_xact_lock($1)", [WRITE_LOCK]);
      return { value: await work({ all }, false) };
    });
    done.then((out) => result.resolve(out.value), result.reject);
    const value = await within(deadlineMs, result.promise);
    return { value, durable: Promise.resolve() };
  };
  return {
    dialect: DIALECT,
    trustMs: TRUST_MS,
    liveness: beats(read, options.leaseMs ?? 10_000, options.now ?? Date.now),
    read,
    write: (work) => written({ commit }, work),
    commit,
    close: () => client.end({ timeout: deadlineMs / 1000 }),
  };
}

/** Fails instead of waiting for ever: a network that swallows everything never says no. */
async function within<T>(
  deadlineMs: number,
  work: PromiseLike<T>,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error("could not reach the store: no answer")),
    deadlineMs,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Life by counting: each owner counts up in its row. One whose count stood still for a whole lease *while it was being watched*
 * is gone. Nobody's clock is compared with anybody else's, and a watcher that was itself stopped or cut off begins anew.
 */
function beats(
  all: Sql["all"],
  leaseMs: number,
  now: () => number,
): Liveness {
  const seen = new Map<string, { beat: number; sinceMs: number }>();
  let lookedAtMs = now();
  const beat = async (ownerId: string): Promise<void> => {
    await all(
      "INSERT INTO owners (id, beat) VALUES ($1, 0) ON CONFLICT (id) DO UPDATE SET beat = owners.beat + 1",
      [ownerId],
    );
  };
  return {
    enlist: beat,
    beat,
    async gone(ownerId) {
      const rows = await all("SELECT id, beat FROM owners WHERE id <> $1", [
        ownerId,
      ]);
      const nowMs = now();
      if (nowMs - lookedAtMs > leaseMs) seen.clear();
      lookedAtMs = nowMs;
      const gone: string[] = [];
      for (const row of rows) {
        const id = textOf(row, "id");
        const count = intOf(row, "beat");
        const before = seen.get(id);
        if (before?.beat !== count) {
          seen.set(id, { beat: count, sinceMs: nowMs });
        } else if (nowMs - before.sinceMs >= leaseMs) gone.push(id);
      }
      return gone;
    },
    async strike(ownerId) {
      seen.delete(ownerId);
      await all("DELETE FROM owners WHERE id = $1", [ownerId]);
    },
  };
}
