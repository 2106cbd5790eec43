/**
 * The books at ten million ledger entries: how long each report takes, and for how long it blocks
 * the event loop. `deno task bench books ROWS` makes another number of entries, and `--store=FILE`
 * keeps them in a file, which later runs of the same day use again; `--store=postgres://…` in an
 * empty database. `--pages` measures only the pages of the console, `--exports` only the exports,
 * `--exports=cold` with a file that the system has not read yet. `--beside` measures only what
 * reports cost the calls beside them.
 */
import { backfillSlice } from "../../gateway/accounts/ledger/backfill.ts";
import type { Admin } from "../../gateway/accounts/repositories/admin.ts";
import { readingAdmin } from "../../gateway/accounts/testing/reading_admin.ts";
import {
  intOf,
  type Store,
  textOf,
} from "../../gateway/accounts/store/store.ts";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import {
  SQLITE,
  type TestDatabase,
} from "../../gateway/accounts/testing/stores.ts";
import { compact } from "../../replay/compact.ts";
import { firstCallId } from "../../gateway/accounts/calls/call_record.ts";
import { CALL_HOURS_DAYS } from "../../gateway/accounts/rows/call_count_rows.ts";
import type { Bench } from "../bench.ts";
import { measureBeside } from "./books_beside.ts";
import { measurePages } from "./books_pages.ts";

const ROWS = 10_000_000;
/** Postgres ends a long statement. */
const ROWS_PER_WRITE = { sqlite: 250_000, postgres: 10_000 };
const DAYS = 90;
const DAY_MS = 86_400_000;
/** The gateway that is measured has the system's clock. */
const LAST_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;

/** How long records of calls are kept. */
const CALL_DAYS = 30;
/** The time that a request id begins with, in SQL: nine digits to base 36. */
const TIME_TEXT = Array.from(
  { length: 9 },
  (_, digit) =>
    `substr('0123456789abcdefghijklmnopqrstuvwxyz', CAST(at / ${
      36 ** (8 - digit)
    } % 36 + 1 AS INTEGER), 1)`,
).join(" || ");

/**
 * One call of a hundred is refused by a limit, one fails at its upstream, one is cut: columns of
 * `calls`, in SQL.
 */
const OUTCOMES = byRemainder({
  outcome: ["limited", "upstream_failed", "cut", "complete"],
  ended: ["refused", "refused", "failed", "complete"],
  status: [429, 502, 200, 200],
  code: ["requests_per_minute", "upstream", "upstream", null],
});

function byRemainder<T extends string>(
  values: Readonly<Record<T, readonly (string | number | null)[]>>,
): Readonly<Record<T, string>> {
  const literal = (one: string | number | null = null): string =>
    typeof one === "string" ? `'${one}'` : String(one ?? "NULL");
  const texts = Object.entries<readonly (string | number | null)[]>(values)
    .map(([name, of]) => [
      name,
      `CASE seq % 100 WHEN 0 THEN ${literal(of[0])} WHEN 1 THEN ${
        literal(of[1])
      } WHEN 2 THEN ${literal(of[2])} ELSE ${literal(of[3])} END`,
    ]);
  // Every name of `texts` is a key of the object.
  return Object.fromEntries(texts) as Record<T, string>;
}

/** Counts of calls, as `call_count_rows.ts` keeps them: a table, its step, and whose calls. */
const COUNTS = [
  ["call_minutes", 60_000, []],
  ...(["call_hours", "call_days"] as const).flatMap((table) =>
    [["''", "''"], ["account_id", "''"], ["account_id", "key_id"]].map((of) =>
      [table, table === "call_days" ? DAY_MS : 3_600_000, of] as const
    )
  ),
] as const;

/** `deno task bench books`. */
export const books: Bench = {
  about: "reports over ten million ledger entries, and how long they block",
  takesFlags: true,
  async run(context, flags) {
    const { print, record } = context;
    const count = flags.find((flag) => !flag.startsWith("--"));
    const rows = count === undefined ? ROWS : Number(count);
    await using database = await openDatabase(flags);
    const store = await database.open();
    try {
      await fillBooks(store, rows, print);
      const admin = readingAdmin(store, () => LAST_MS);
      if (flags.includes(BESIDE_FLAG)) {
        await measureBeside(database.url, "account_7", context);
        return;
      }
      const exportsOnly = flags.some((flag) => flag.startsWith(EXPORTS_FLAG));
      const pagesOnly = flags.includes(PAGES_FLAG);
      for (const [name, report] of exportsOnly || pagesOnly ? [] : REPORTS) {
        // Twice: the first run reads the file.
        await measured(() => report(admin));
        const { tookMs, blockedMs } = await measured(() => report(admin));
        record?.({ report: name, entries: rows, tookMs, blockedMs });
        print(
          `${name.padEnd(48)} ${tookMs.toFixed(1).padStart(9)} ms, blocks ${
            blockedMs.toFixed(1).padStart(6)
          } ms`,
        );
      }
      const scansBefore = await sequentialScans(store);
      const { data: [entry] } = await admin.ledger({
        accountId: "account_7",
        kind: "charge",
        newestFirst: true,
        limit: 1,
      });
      await measurePages(admin, {
        databaseUrl: database.url,
        accountId: "account_7",
        keyId: "key_7",
        callId: entry?.requestId ?? "",
        first: day(DAYS),
        from: day(60),
        to: day(30),
        only: exportsOnly ? "exports" : pagesOnly ? "pages" : undefined,
        ...flags.includes(`${EXPORTS_FLAG}=cold`) &&
            database.url.startsWith("sqlite:")
          ? { coldFile: database.url.slice("sqlite:".length) }
          : {},
      }, { print, ...compact({ record }) });
      for (const [table, count] of await sequentialScans(store)) {
        print(
          `sequential scans of ${table}: ${
            count - (scansBefore.get(table) ?? 0)
          }`,
        );
      }
    } finally {
      await store.close();
    }
  },
};

const STORE_FLAG = "--store=";
/** Only the calls beside reports. */
const BESIDE_FLAG = "--beside";
/** Only the pages. */
const PAGES_FLAG = "--pages";
/** Only the exports; with `=cold` from the disk instead of the system's cache. */
const EXPORTS_FLAG = "--exports";

/** The kept file of `--store`, or a new one that is removed at the end. */
function openDatabase(flags: readonly string[]): Promise<TestDatabase> {
  const file = flags.findLast((flag) => flag.startsWith(STORE_FLAG))
    ?.slice(STORE_FLAG.length);
  if (file === undefined) return SQLITE.createDatabase();
  const url = file.startsWith("postgres") ? file : `sqlite:${file}`;
  return Promise.resolve({
    url,
    open: (options) => openStore(url, options),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

/** Sequential scans of the tables that grow with every call, as Postgres counts them. */
async function sequentialScans(
  store: Store,
): Promise<ReadonlyMap<string, number>> {
  if (store.dialect.name === "sqlite") return new Map();
  const rows = await store.read(
    `SELECT relname, seq_scan FROM pg_stat_user_tables WHERE schemaname = current_schema()
     AND relname IN ('ledger', 'calls', 'usage_daily', 'usage_days', 'usage_hours') ORDER BY relname`,
  );
  return new Map(
    rows.map((row) => [textOf(row, "relname"), intOf(row, "seq_scan")]),
  );
}

/** Makes entries and their roll-ups in a store, unless it has some. */
export async function fillBooks(
  store: Store,
  rows: number,
  print: (line: string) => void,
): Promise<void> {
  if (await isFilled(store)) {
    print("the store is used as it is");
    return;
  }
  await fill(store, rows, print);
  await rollUp(store, print);
}

/** Makes the counts of calls and the failed attempts that the call book would have made. */
async function fillCounts(store: Store): Promise<void> {
  for (let number = 0; number < CALL_DAYS; number++) {
    const fromMs = LAST_MS - (number + 1) * DAY_MS;
    const first = firstCallId(fromMs);
    const end = firstCallId(fromMs + DAY_MS);
    const calls =
      `FROM ledger WHERE kind = 'charge' AND request_id >= '${first}' AND request_id < '${end}'`;
    for (const [table, stepMs, of] of COUNTS) {
      if (table === "call_hours" && number >= CALL_HOURS_DAYS) continue;
      const subject = of.length === 0 ? "" : `${of.join(", ")}, `;
      const model = of.length === 0 ? "" : "model, ";
      await store.write((sql) =>
        sql.all(
          `INSERT INTO ${table} (${
            of.length === 0 ? "" : "account_id, key_id, model, "
          }${stepOf(table)}, outcome, first_token, calls)
           SELECT ${subject}${model}at_ms / ${stepMs} AS step, ${OUTCOMES.outcome} AS ending, 27 + seq % 10 AS class, COUNT(*)
           ${calls} GROUP BY ${
            subject.replaceAll("'', ", "")
          }${model}step, ending, class`,
        )
      );
    }
    await store.write((sql) =>
      sql.all(
        `INSERT INTO failed_attempts (id, request_id, account_id, model, upstream, error, outcome, duration_ms, words)
         SELECT 'att_' || substr(request_id, 5), request_id, account_id, model, 'upstream_' || (seq / 100 % 5), '503', 'upstream_failed', 300, NULL
         ${calls} AND seq % 100 = 1`,
      )
    );
  }
}

function stepOf(table: string): string {
  return table.slice("call_".length, -1);
}

async function isFilled(store: Store): Promise<boolean> {
  const rows = await store.read("SELECT seq FROM ledger LIMIT 1");
  return rows.length > 0;
}

const day = (number: number): string =>
  new Date(LAST_MS - number * DAY_MS).toISOString().slice(0, 10);

const REPORTS: readonly (readonly [
  string,
  (admin: Admin) => Promise<unknown>,
])[] = [
  [
    "usage of an account by day, 30 days",
    (admin) => admin.usage({ accountId: "account_7", fromDay: day(30) }),
  ],
  [
    "usage of a key by hour, 7 days",
    (admin) => admin.usage({ keyId: "key_7", by: ["hour"], fromDay: day(7) }),
  ],
  ["usage of all accounts by day, 90 days", (admin) => admin.usage({})],
  [
    "usage of all accounts by account and model",
    (admin) => admin.usage({ by: ["account", "model"], fromDay: day(30) }),
  ],
  [
    "usage of an account by end user, 30 days",
    (admin) =>
      admin.usage({
        accountId: "account_7",
        by: ["user"],
        fromDay: day(30),
      }),
  ],
  [
    "ledger of an account since yesterday",
    (admin) =>
      admin.ledger({ accountId: "account_7", fromMs: LAST_MS - DAY_MS }),
  ],
  [
    "ledger of all accounts, newest first",
    (admin) => admin.ledger({ newestFirst: true }),
  ],
  ["top-ups of all accounts", (admin) => admin.ledger({ kind: "top_up" })],
  [
    "ledger of a key, newest first",
    (admin) => admin.ledger({ keyId: "key_7", newestFirst: true }),
  ],
  ["export of 50,000 entries", exportSome],
];

async function exportSome(admin: Admin): Promise<void> {
  let seen = 0;
  for await (const page of admin.allLedger({ accountId: "account_7" })) {
    seen += page.length;
    if (seen >= 50_000) return;
  }
}

/** Inserts entries as an older version left them: without roll-ups. */
async function fill(
  store: Store,
  rows: number,
  print: (line: string) => void,
): Promise<void> {
  const startedMs = performance.now();
  await store.write(async (sql) => {
    await sql.all("INSERT INTO plans (id, created_at_ms) VALUES ('p', 0)");
    await sql.all(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
       INSERT INTO accounts (id, name, status, billing, plan_id, created_at_ms)
       SELECT 'account_' || i, '', 'active', 'postpaid', 'p', 0 FROM n`,
    );
    await sql.all(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 203)
       INSERT INTO keys (id, account_id, name, hash, hint, created_at_ms)
       SELECT 'key_' || i, 'account_' || (i % 51), 'key ' || i, 'hash_' || i, 'sk-…' || i, 0 FROM n`,
    );
  });
  const perWrite = ROWS_PER_WRITE[store.dialect.name];
  for (let from = 0; from < rows; from += perWrite) {
    const to = Math.min(rows, from + perWrite);
    await store.write((sql) =>
      sql.all(
        `WITH RECURSIVE n (i) AS (SELECT CAST(${from} AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ${
          to - 1
        })
         INSERT INTO ledger (request_id, kind, account_id, key_id, model, purse, user_id, input_tokens,
           cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, price, estimated, ended, micro_usd, at_ms)
         SELECT 'req_' || ${TIME_TEXT} || substr(CAST(100000000 + i AS TEXT), 2), CASE WHEN i % 50000 = 0 THEN 'top_up' ELSE 'charge' END,
           'account_' || (i % 204 % 51), 'key_' || (i % 204), 'model_' || (i / 204 % 8), '', 'user_' || (i * 7919 % 20000),
           1000, 0, 0, 100, 0, '1/1/1/1', CASE WHEN i % 40 = 0 THEN 1 ELSE 0 END, 'complete', CASE WHEN i % 50000 = 0 THEN 1000000 ELSE -100 END,
           at FROM (SELECT i, ${LAST_MS - DAYS * DAY_MS} + CAST(i * ${
          DAYS * DAY_MS / rows
        } AS BIGINT) AS at FROM n) AS times`,
      )
    );
    await store.write((sql) =>
      sql.all(
        `INSERT INTO calls (request_id, account_id, key_id, model, user_id, status, ended, code, duration_ms, micro_usd, more, outcome, detail)
         SELECT request_id, account_id, key_id, model, user_id, ${OUTCOMES.status}, ${OUTCOMES.ended}, ${OUTCOMES.code}, 1200, 0 - micro_usd, 0,
           ${OUTCOMES.outcome}, '{"endpoint":"/v1/messages","estimated":false}'
         FROM ledger WHERE seq > ${from} AND seq <= ${to} AND kind = 'charge' AND at_ms >= ${
          LAST_MS - CALL_DAYS * DAY_MS
        }`,
      )
    );
    await store.write((sql) =>
      sql.all(
        `INSERT INTO usage_daily SELECT at_ms / ${DAY_MS}, account_id, key_id, model, user_id, COUNT(*), SUM(estimated),
           SUM(input_tokens), 0, 0, SUM(output_tokens), 0, 0 - SUM(micro_usd)
         FROM ledger WHERE seq > ${from} AND seq <= ${to} AND kind = 'charge' GROUP BY 1, 2, 3, 4, 5
         ON CONFLICT (account_id, day, key_id, model, user_id) DO UPDATE
         SET requests = usage_daily.requests + excluded.requests, micro_usd = usage_daily.micro_usd + excluded.micro_usd`,
      )
    );
  }
  await fillCounts(store);
  await store.write((sql) =>
    sql.all(
      "UPDATE roll_up_backfill SET next_seq = (SELECT MAX(seq) FROM ledger)",
    )
  );
  await store.write((sql) =>
    sql.all("UPDATE call_count SET rows_kept = (SELECT COUNT(*) FROM calls)")
  );
  print(
    `${rows} entries made in ${
      ((performance.now() - startedMs) / 1000).toFixed(0)
    } s`,
  );
}

/** Fills the roll-ups as after an upgrade. */
async function rollUp(
  store: Store,
  print: (line: string) => void,
): Promise<void> {
  const startedMs = performance.now();
  let longestMs = 0;
  for (let more = true; more;) {
    const sliceMs = performance.now();
    more = await store.write((sql) => backfillSlice(sql, 2000, LAST_MS));
    longestMs = Math.max(longestMs, performance.now() - sliceMs);
  }
  print(
    `rolled up in ${
      ((performance.now() - startedMs) / 1000).toFixed(0)
    } s, the longest write of 2000 entries took ${longestMs.toFixed(1)} ms`,
  );
}

/** How long work takes, and the longest time between two turns of the event loop meanwhile. */
async function measured(
  work: () => Promise<unknown>,
): Promise<{ readonly tookMs: number; readonly blockedMs: number }> {
  let blockedMs = 0;
  let turnMs = performance.now();
  const turn = (): void => {
    const nowMs = performance.now();
    blockedMs = Math.max(blockedMs, nowMs - turnMs);
    turnMs = nowMs;
  };
  const timer = setInterval(turn, 0);
  const startedMs = performance.now();
  await work();
  const tookMs = performance.now() - startedMs;
  turn();
  clearInterval(timer);
  return { tookMs, blockedMs };
}
