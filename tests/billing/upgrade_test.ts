/** Stores of released versions, with many entries, upgraded by this one. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { migrate } from "../../gateway/accounts/store/migrate.ts";
import {
  MIGRATIONS,
  worksSince,
} from "../../gateway/accounts/store/migrations.ts";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import { intOf, type Store } from "../../gateway/accounts/store/store.ts";
import {
  onServer,
  postgresAt,
  SQLITE,
  type TestDatabase,
  type TestStore,
} from "../../gateway/accounts/testing/stores.ts";
import { openAdmin } from "../../gateway/accounts/repositories/admin.ts";
import { type Program, startProgram } from "../support/programs/program.ts";
import { until } from "../support/until.ts";
import { withTimeout } from "../support/with_timeout.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

/** Schema versions of the released programs: 0.9.0. */
const RELEASED = [2];
/** Entries of the ledger; `deno task test:long` has more. */
const ROWS = Number(Deno.env.get("UPGRADE_ROWS") ?? 2_000);
const KEY = "sk-0123456789abcdefghij";
const LOOK_MS = 20;

/** Entries that are inserted at once: a write has a time limit. */
const AT_ONCE = 10_000;

/** Charges of four micro-dollars each, of two accounts, within a day. */
async function fill(store: Pick<Store, "write">): Promise<void> {
  const statements = [
    "INSERT INTO plans (id, created_at_ms) VALUES ('unlimited', 0)",
    ...["default", "other"].map((id) =>
      "INSERT INTO accounts (id, name, status, billing, plan_id, balance_micro_usd, created_at_ms) " +
      `VALUES ('${id}', '${id}', 'active', 'postpaid', 'unlimited', ${
        -2 * ROWS
      }, 0)`
    ),
  ];
  for (let first = 1; first <= ROWS; first += AT_ONCE) {
    const last = Math.min(first + AT_ONCE - 1, ROWS);
    statements.push(
      "INSERT INTO ledger (request_id, kind, account_id, key_id, model, purse, input_tokens, cache_read_tokens, " +
        "cache_write_tokens, output_tokens, reasoning_tokens, price, estimated, ended, micro_usd, at_ms) " +
        `WITH RECURSIVE numbers (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last}) ` +
        "SELECT 'req_' || n, 'charge', CASE WHEN n % 2 = 0 THEN 'default' ELSE 'other' END, 'configured', " +
        `'vendorb-5', '', 2, 0, 0, 1, 0, '${PRICE}', 0, 'complete', -4, ${FIRST_MS} + n FROM numbers`,
    );
  }
  statements.push(
    "INSERT INTO usage_daily (day, account_id, key_id, model, user_id, requests, estimated, input_tokens, " +
      "cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, micro_usd) " +
      "SELECT at_ms / 86400000, account_id, key_id, model, '', COUNT(*), 0, SUM(input_tokens), 0, 0, " +
      "SUM(output_tokens), 0, 0 - SUM(micro_usd) FROM ledger GROUP BY at_ms / 86400000, account_id, key_id, model",
  );
  for (const statement of statements) {
    await store.write((sql) => sql.all(statement));
  }
}

const DAY_MS = 86_400_000;
const DAY = "2024-10-04";
const FIRST_MS = Date.parse(DAY);
/**
 * The price as it is stored: one micro-dollar for a token of the prompt, two for one of the reply.
 */
const PRICE = "1000000/1000000/1000000/2000000";

/** @param until what it prints once it is started; absent: once it serves */
function startOn(
  { url }: TestDatabase,
  folder: string,
  until?: RegExp,
): Promise<Program> {
  return startProgram({
    folder,
    ...(until === undefined ? {} : { until }),
    env: {
      DATABASE_URL: url,
      GATEWAY_KEY: KEY,
      GATEWAY_UPSTREAM: "replay",
    },
  });
}

async function versionOf(store: Pick<Store, "read">): Promise<number> {
  const [row] = await store.read(
    "SELECT MAX(version) AS version FROM migrations",
  );
  return intOf(row ?? {}, "version");
}

/** Kills a process in the middle of its upgrade: it has changed tables, and not committed. */
async function killAnUpgrade(
  { url }: TestDatabase,
  folder: string,
  isInLastStep: () => Promise<boolean> | boolean,
): Promise<void> {
  await using program = await startProgram({
    folder,
    command: [
      "tests/support/programs/slow_upgrade.ts",
      url,
      SLOW_STEPS[
        url.startsWith("sqlite") ? "sqlite" : "postgres"
      ],
    ],
    env: {},
    until: /^/,
  });
  await withTimeout(until(isInLastStep), "the last step");
  program.signal("SIGKILL");
  await program.ended;
}

const SLOW_STEPS = {
  sqlite:
    "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000000000) SELECT MAX(x) FROM n",
  postgres: "SELECT pg_sleep(4.5)",
} as const;

/** Whether a process holds the file's write lock for longer than an opening takes. */
async function isWritten(url: string): Promise<boolean> {
  using database = new DatabaseSync(url.replace(/^sqlite:/, ""));
  for (let looks = 0; looks < 10; looks++) {
    try {
      database.exec("BEGIN IMMEDIATE; ROLLBACK");
      return false;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
  return true;
}

function upgradeTests(
  kind: TestStore,
  isInLastStep: (url: string) => Promise<boolean>,
): void {
  for (const version of RELEASED) {
    Deno.test(`${kind.name}: schema ${version} is upgraded whole or not at all, by two processes at once, with its books`, async () => {
      await using database = await kind.createDatabase();
      await using folder = await temporaryFolder();
      const old = await database.open({
        migrations: MIGRATIONS.slice(0, version),
      });
      await fill(old);
      await old.close();

      await killAnUpgrade(
        database,
        folder.path,
        () => isInLastStep(database.url),
      );
      const killed = await database.open({
        migrations: MIGRATIONS.slice(0, version),
      });
      assert.equal(await versionOf(killed), version);
      await killed.close();

      const programs = await Promise.all([
        startOn(database, folder.path),
        startOn(database, folder.path),
      ]);
      try {
        for (const program of programs) {
          assert.notEqual(program.url, "", program.output());
          assert.equal((await called(program)).status, 200);
        }
        await using store = await opened(database);
        assert.equal(await versionOf(store), MIGRATIONS.length);
        // The sums of old entries are made beside the calls.
        await until(async () => {
          const [row] = await store.read(
            "SELECT next_seq FROM roll_up_backfill",
          );
          return row !== undefined && intOf(row, "next_seq") === 0;
        });
      } finally {
        for (const program of programs) {
          program.signal("SIGTERM");
          assert.equal(await program.ended, 0, program.output());
        }
      }
      await using store = await opened(database);
      const admin = await openAdmin(store, () => true);
      assert.deepEqual(await admin.audit(), []);
      const [sums] = await store.read(
        "SELECT CAST(COUNT(*) AS BIGINT) AS entries, CAST(SUM(micro_usd) AS BIGINT) AS micro_usd " +
          `FROM ledger WHERE request_id LIKE 'req~_%' ESCAPE '~' AND at_ms < ${
            FIRST_MS + DAY_MS
          }`,
      );
      assert.deepEqual({ ...sums }, { entries: ROWS, micro_usd: -4 * ROWS });
      const { data } = await admin.usage({
        by: ["account"],
        fromDay: DAY,
        toDay: DAY,
      });
      assert.deepEqual(
        data.map(({ requests, microUsd }) => [requests, microUsd]),
        [[ROWS / 2, 2 * ROWS], [ROWS / 2, 2 * ROWS]],
      );
    });
  }
}

/** Holds up every change of a table; ends when its session is ended. */
const HOLD = "SELECT pg_sleep(120)";

/** All processes of an installation die while one changes tables and the others wait for it. */
function killedTogetherTest(serverUrl: string): void {
  const count = 3;
  const sessions = (condition: string): Promise<readonly unknown[]> =>
    onServer(serverUrl, `SELECT pid FROM pg_stat_activity WHERE ${condition}`);
  const holder = `query = '${HOLD}'`;
  for (const version of RELEASED) {
    Deno.test(`postgres: ${count} processes that are killed in the upgrade of schema ${version} leave it as it was, and ${count} others upgrade it`, async () => {
      await using database = await postgresAt(serverUrl).createDatabase();
      await using folder = await temporaryFolder();
      const released = { migrations: MIGRATIONS.slice(0, version) };
      const old = await database.open(released);
      await fill(old);
      await old.close();

      const schema = new URL(database.url).searchParams.get("search_path");
      const lock = `LOCK TABLE ${schema}.ledger IN ACCESS SHARE MODE`;
      const held = onServer(serverUrl, "BEGIN", lock, HOLD).catch(() => {});
      await withTimeout(
        until(async () => (await sessions(holder)).length > 0),
        "the lock",
      );
      const killed = await Promise.all(
        Array.from(
          { length: count },
          () => startOn(database, folder.path, /^/),
        ),
      );
      try {
        // One waits for the held table, the others for that one.
        const waiting = "wait_event_type = 'Lock' AND state = 'active'";
        await withTimeout(
          until(async () => (await sessions(waiting)).length >= count),
          "the upgrades",
        );
      } finally {
        for (const program of killed) program.signal("SIGKILL");
        await Promise.all(killed.map(({ ended }) => ended));
        await onServer(
          serverUrl,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${holder}`,
        );
        await held;
      }
      const left = await database.open(released);
      assert.equal(await versionOf(left), version);
      await left.close();

      const programs = await Promise.all(
        Array.from({ length: count }, () => startOn(database, folder.path)),
      );
      try {
        for (const program of programs) {
          assert.equal((await called(program)).status, 200, program.output());
        }
      } finally {
        for (const program of programs) {
          program.signal("SIGTERM");
          assert.equal(await program.ended, 0, program.output());
        }
      }
      await using store = await opened(database);
      assert.equal(await versionOf(store), MIGRATIONS.length);
      const admin = await openAdmin(store, () => true);
      assert.deepEqual(await admin.audit(), []);
    });
  }
}

function supersededTest(kind: TestStore): void {
  Deno.test(`${kind.name}: a process that still runs after an upgrade that takes away what it needs refuses calls, and its charges stay as they were`, async () => {
    await using database = await kind.createDatabase();
    await using folder = await temporaryFolder();
    await using program = await startOn(database, folder.path);
    assert.equal((await called(program)).status, 200);
    await using newer = await opened(database);
    // The charge follows the reply.
    await until(async () =>
      (await newer.read("SELECT seq FROM ledger")).length === 1
    );
    await migrate(newer, [...MIGRATIONS, [worksSince(MIGRATIONS.length + 1)]]);
    const refused = await called(program);
    assert.equal(refused.status, 503);
    assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]/);
    await withTimeout(
      program.printed(/"store_down".*a newer version of this program/),
      "the reason",
    );
    const ready = await fetch(`${program.url}/readyz`);
    assert.equal(ready.status, 503);
    await ready.body?.cancel();
    program.signal("SIGTERM");
    assert.equal(await program.ended, 0, program.output());
    await using again = await startOn(database, folder.path);
    assert.equal(await again.ended, 2);
    assert.match(again.output(), /a newer version of this program wrote it/);
    const [charges] = await newer.read(
      "SELECT CAST(COUNT(*) AS BIGINT) AS calls FROM ledger WHERE micro_usd <> 0",
    );
    assert.equal(intOf(charges ?? {}, "calls"), 1);
  });
}

/** A whole call; its body is read. */
async function called({ url }: Program): Promise<Response> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": KEY, "content-type": "application/json" },
    body: JSON.stringify({
      model: "vendorb-5",
      max_tokens: 16,
      messages: [{ role: "user", content: "Hi" }],
    }),
  });
  await response.body?.cancel();
  return response;
}

async function opened({ url }: TestDatabase): Promise<Store & AsyncDisposable> {
  const store = await openStore(url);
  return { ...store, [Symbol.asyncDispose]: () => store.close() };
}

upgradeTests(SQLITE, isWritten);
supersededTest(SQLITE);

const serverUrl = Deno.env.get("TEST_POSTGRES_URL");
if (serverUrl === undefined) {
  Deno.test.ignore(
    "postgres: upgrades: SKIPPED, because TEST_POSTGRES_URL names no server",
    () => {},
  );
} else {
  supersededTest(postgresAt(serverUrl));
  killedTogetherTest(serverUrl);
  upgradeTests(postgresAt(serverUrl), async () => {
    const rows = await onServer(
      serverUrl,
      `SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query = '${SLOW_STEPS.postgres}'`,
    );
    return rows.length > 0;
  });
}
