/**
 * Tests that every store must pass.
 */
import assert from "node:assert/strict";
import { migrate } from "../store/migrate.ts";
import { MIGRATIONS, worksSince } from "../store/migrations.ts";
import { RESERVED_CALL } from "../records.ts";
import { insertRow, rowOf } from "../rows/record_rows.ts";
import {
  readReservations,
  type StoredReservation,
} from "../rows/reservation_rows.ts";
import {
  insertRows,
  insertStatement,
  intOf,
  MAX_REPORTS,
  type Store,
  textOf,
} from "../store/store.ts";
import type { TestStore } from "../testing/stores.ts";

const TABLE = "CREATE TABLE notes (id TEXT PRIMARY KEY, n BIGINT, body TEXT)";
const INTO = insertStatement("notes", {
  id: "TEXT",
  n: "BIGINT",
  body: "TEXT",
});

async function count(store: Store): Promise<number> {
  const [row] = await store.read(
    "SELECT CAST(COUNT(*) AS BIGINT) AS n FROM notes",
  );
  return row === undefined ? -1 : intOf(row, "n");
}

async function add(store: Store, id: string, n = 0): Promise<void> {
  await store.write((sql) =>
    sql.all("INSERT INTO notes (id, n) VALUES ($1, $2)", [id, n])
  );
}

/** A statement that takes long. */
function rowsCounted(rows: number): string {
  return `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    SELECT CAST(COUNT(*) AS BIGINT) AS rows FROM n`;
}

export function storeSpec(kind: TestStore): void {
  const test = (
    name: string,
    run: (store: Store, again: () => Promise<Store>) => Promise<void>,
  ): void => {
    Deno.test(`${kind.name}: ${name}`, async () => {
      await using database = await kind.createDatabase();
      await using store = await database.open();
      await store.write((sql) => sql.all(TABLE));
      await run(store, () => database.open());
    });
  };

  test("write() commits everything or nothing", async (store) => {
    await assert.rejects(
      store.write(async (sql) => {
        await sql.all("INSERT INTO notes (id) VALUES ($1)", ["a"]);
        throw new Error("rollback");
      }),
      /rollback/,
    );
    assert.equal(await count(store), 0);
  });

  test("report() reads what was committed before it, and cannot write", async (store) => {
    for (let n = 1; n < 5; n++) {
      await add(store, `${n}`, n);
      const [row] = await store.report(
        "SELECT CAST(SUM(n) AS BIGINT) AS n, MAX(id) AS id FROM notes WHERE n <= $2 AND id > $1",
        ["0", n],
      );
      assert.deepEqual({ ...row }, { n: n * (n + 1) / 2, id: `${n}` });
    }
    await assert.rejects(store.report("SELECT nothing FROM notes"), /nothing/);
    await assert.rejects(store.report("DELETE FROM notes"));
    assert.equal(await count(store), 4);
  });

  test("long reports delay neither reads nor writes", async (store) => {
    const ended: string[] = [];
    const reports = Array.from({ length: MAX_REPORTS + 1 }, async () => {
      await store.report(rowsCounted(1_000_000));
      ended.push("report");
    });
    for (let n = 0; n < 5; n++) {
      await add(store, `${n}`);
      assert.equal(await count(store), n + 1);
    }
    ended.push("writes");
    await Promise.all(reports);
    assert.equal(ended[0], "writes");
  });

  test("write() returns the result of its work", async (store) => {
    assert.deepEqual(await store.write(() => Promise.resolve([1, 2])), [1, 2]);
  });

  test("write() works after a failed statement", async (store) => {
    await assert.rejects(store.write((sql) => sql.all("SELECT nothing")));
    await add(store, "a");
    assert.equal(await count(store), 1);
  });

  test("read() does not see an uncommitted write", async (store) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    await store.write(async (sql) => {
      await sql.all("INSERT INTO notes (id) VALUES ($1)", ["a"]);
      // Not awaited here: a store may answer it only after this write.
      resolve(count(store));
      await sql.all("DELETE FROM notes");
    });
    assert.equal(await promise, 0);
  });

  test("writes of two connections are serialised", async (store, again) => {
    await using other = await again();
    await add(store, "sum");
    const addOne = (to: Store): Promise<void> =>
      to.write(async (sql) => {
        const [row] = await sql.all("SELECT n FROM notes WHERE id = 'sum'");
        const n = row === undefined ? 0 : intOf(row, "n");
        await sql.all("UPDATE notes SET n = $1 WHERE id = 'sum'", [n + 1]);
      });
    await Promise.all(
      Array.from({ length: 40 }, (_, i) => addOne(i % 2 === 0 ? store : other)),
    );
    const [row] = await other.read("SELECT n FROM notes WHERE id = 'sum'");
    assert.equal(row?.["n"], 40);
  });

  test("insertRows() preserves texts and numbers", async (store) => {
    const rows = [
      { id: "plain", n: 0, body: "x" },
      { id: "large", n: Number.MAX_SAFE_INTEGER, body: '"quotes" \\ and \n' },
      { id: "below", n: -1, body: "Grüße 🙂 ' OR '1'='1" },
      { id: "empty", n: null, body: null },
    ];
    await store.write((sql) => insertRows(sql, store.dialect, INTO, rows));
    const found = await store.read(
      `SELECT id, n, body FROM notes WHERE id IN ${store.dialect.texts(1)}`,
      [JSON.stringify(rows.map((row) => row.id))],
    );
    assert.deepEqual(
      new Map(found.map((row) => [textOf(row, "id"), { ...row }])),
      new Map(rows.map((row) => [row.id, row])),
    );
  });

  test("insertRows() does nothing for no rows", async (store) => {
    await store.write((sql) => insertRows(sql, store.dialect, INTO, []));
    assert.equal(await count(store), 0);
  });

  test("migrate() does nothing the second time", async (store) => {
    await migrate(store);
    await migrate(store);
    const rows = await store.read("SELECT version FROM migrations");
    assert.equal(rows.length, MIGRATIONS.length);
  });

  test("migrate() applies only new migrations", async (store) => {
    await migrate(store, [...MIGRATIONS, ["CREATE TABLE later (id TEXT)"]]);
    assert.equal((await store.read("SELECT * FROM later")).length, 0);
  });

  test("migrate() rolls back a failed migration", async (store) => {
    const broken = [...MIGRATIONS, ["CREATE TABLE half (id TEXT)", "NONSENSE"]];
    await assert.rejects(migrate(store, broken));
    await assert.rejects(store.read("SELECT * FROM half"));
  });

  Deno.test(`${kind.name}: migrate() preserves the reservations of active calls`, async () => {
    await using database = await kind.createDatabase();
    await using store = await database.open({
      migrations: MIGRATIONS.slice(0, 1),
    });
    const call: StoredReservation = {
      leaseId: "owner",
      balanceModel: "",
      call: {
        requestId: "req_1",
        accountId: "default",
        keyId: "key_1",
        model: "small",
        inputTokens: 1,
        maxOutputTokens: 2,
        price: { input: 1, cacheRead: 2, cacheWrite: 3, output: 4 },
        reservedMicroUsd: 5,
        atMs: 6,
      },
    };
    await store.write((sql) =>
      insertRow(sql, "reservations", {
        owner_id: call.leaseId,
        purse: call.balanceModel,
        ...rowOf(RESERVED_CALL, call.call),
      })
    );
    await migrate(store);
    const reservations = await readReservations(
      { all: store.read },
      store.dialect,
      ["req_1"],
    );
    assert.deepEqual([...reservations.values()], [call]);
  });

  test("migrate() refuses a store whose newer version no longer works with this one", async (store) => {
    await migrate(store, [...MIGRATIONS, [], [
      worksSince(MIGRATIONS.length + 1),
    ]]);
    await assert.rejects(migrate(store), /newer version/);
    await migrate(store, [...MIGRATIONS, []]);
  });

  test(
    "a process that runs while a newer version changes the store cannot write any more, unless the change lets it",
    async (store, again) => {
      await using newer = await again();
      const write = (): Promise<unknown> =>
        store.write((sql) => sql.all("SELECT id FROM plans"));
      const next = [...MIGRATIONS, ["CREATE TABLE later (id TEXT)"]];
      await migrate(newer, next);
      await write();
      await migrate(newer, [...next, [worksSince(next.length)]]);
      await assert.rejects(write(), /a newer version .* stop it/);
      await assert.rejects(
        store.commit(() => Promise.resolve(), {}),
        /a newer version/,
      );
      assert.deepEqual(await store.read("SELECT id FROM later"), []);
      await newer.write((sql) => sql.all("SELECT id FROM plans"));
    },
  );

  test("programs of versions that know no such limit find no open calls to write", (store) =>
    assert.rejects(store.read("SELECT request_id FROM reservations")));

  test(
    "two processes may start on an empty store at once",
    async (_, again) => {
      const stores = await Promise.all([again(), again(), again()]);
      await Promise.all(stores.map((store) => store.close()));
    },
  );

  test(
    "a lease expires when its process ends, and only then",
    async (store, again) => {
      await store.leases.register("one");
      {
        await using other = await again();
        await other.leases.register("two");
        assert.deepEqual(await store.leases.expired("one"), []);
        assert.deepEqual(await other.leases.expired("two"), []);
      }
      while ((await store.leases.expired("one")).length === 0) {
        // In Postgres a lease expires only after its full duration.
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      assert.deepEqual(await store.leases.expired("one"), ["two"]);
      await store.leases.remove("two");
      assert.deepEqual(await store.leases.expired("one"), []);
    },
  );
}
