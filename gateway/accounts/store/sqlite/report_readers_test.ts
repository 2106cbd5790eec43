/** The threads that read a SQLite file for reports. What every store does is in `store_spec.ts`. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { openReportReaders, type ReportReaders } from "./report_readers.ts";
import { openSqliteStore } from "./sqlite.ts";
import { MAX_REPORTS } from "../store.ts";
import { temporaryFolder } from "../../../../tests/support/temporary_folder.ts";

const LONG =
  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT COUNT(*) AS rows FROM n";

async function withFile(run: (path: string) => Promise<void>): Promise<void> {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/gateway.sqlite3`;
  await using store = openSqliteStore(path);
  await store.write((sql) => sql.all("CREATE TABLE t (id TEXT)"));
  await run(path);
}

Deno.test("statements beyond the readers wait for their turn; more than one runs at a time", () =>
  withFile(async (path) => {
    const readers = openReportReaders(path);
    const ended: string[] = [];
    const run = async (name: string, text: string): Promise<void> => {
      await readers.all(text);
      ended.push(name);
    };
    await Promise.all([
      run("long", LONG),
      ...Array.from({ length: 5 }, (_, n) => run(`${n}`, "SELECT 1")),
    ]);
    assert.deepEqual(ended, ["0", "1", "2", "3", "4", "long"]);
    await readers.close();
  }));

Deno.test("rows arrive in their order, however many they are", () =>
  withFile(async (path) => {
    const readers = openReportReaders(path);
    const text =
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) SELECT i FROM n";
    const counts = [1, 99, 100, 101, 200, 1234];
    const lists = await Promise.all(
      counts.map((count) => readers.all(text, [count])),
    );
    assert.deepEqual(
      lists.map((rows) => rows.map(({ i }) => i)),
      counts.map((count) => Array.from({ length: count }, (_, at) => at + 1)),
    );
    assert.deepEqual(await readers.all("SELECT 1 AS i WHERE 0"), []);
    await readers.close();
  }));

/** Prints its threads' priorities (`nice`) by their ids, before and after a report. */
const PRIORITIES = `
import { openReportReaders } from ${
  JSON.stringify(new URL("./report_readers.ts", import.meta.url).href)
};
function priorities() {
  const found = {};
  for (const { name } of Deno.readDirSync("/proc/self/task")) {
    try {
      const stat = Deno.readTextFileSync("/proc/self/task/" + name + "/stat");
      // The name of a thread, in brackets, may have blanks.
      found[name] = Number(stat.replace(/^.*\\) /, "").split(" ")[16]);
    } catch {
      // A thread of the runtime's pool may end meanwhile.
    }
  }
  return found;
}
const before = priorities();
const readers = openReportReaders(Deno.args[0]);
await readers.all("SELECT 1");
console.log(JSON.stringify({ before, after: priorities() }));
await readers.close();
`;

Deno.test({
  name: "readers have the lowest priority, and no other thread's changes",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withFile(async (path) => {
      // A process of its own: other tests have readers in this one.
      const { stdout, success } = await new Deno.Command(Deno.execPath(), {
        args: ["eval", "--no-check", PRIORITIES, path],
        stderr: "inherit",
      }).output();
      assert.ok(success);
      const { before, after } = JSON.parse(new TextDecoder().decode(stdout));
      for (const [thread, priority] of Object.entries(before)) {
        if (thread in after) assert.equal(after[thread], priority);
      }
      const added = Object.keys(after).filter((thread) => !(thread in before));
      assert.equal(added.filter((thread) => after[thread] === 19).length, 1);
    }),
});

/** Readers whose statements are `go`, `fail`, and `late`, which ends 200 ms after its limit. */
function scriptedReaders(limitMs: number): ReportReaders {
  const code = `onmessage = () => {
    onmessage = ({ data }) => {
      if (data?.text === "fail") throw new Error("broken");
      const reply = () => postMessage({ rows: [] });
      if (data?.text === "late") setTimeout(reply, ${limitMs + 200});
      else reply();
    };
  };`;
  return openReportReaders(
    "",
    limitMs,
    `data:text/javascript,${encodeURIComponent(code)}`,
  );
}

Deno.test("a reader beyond the limit takes no other statement before its own has ended", async () => {
  const readers = scriptedReaders(300);
  const late = /took longer than 300 ms/;
  await Promise.all(
    Array.from(
      { length: MAX_REPORTS + 1 },
      () => assert.rejects(readers.all("late"), late),
    ),
  );
  for (let isFree = false; !isFree;) {
    isFree = await readers.all("go").then(() => true, () => false);
  }
  await readers.close();
  await assert.rejects(readers.all("go"), /closed/);
});

Deno.test("a reader that fails rejects its statement, and another one takes its place", async () => {
  const readers = scriptedReaders(30_000);
  for (let round = 0; round < 3; round++) {
    await assert.rejects(
      readers.all("fail"),
      /a reader of the store failed: .*broken/,
    );
    assert.deepEqual(await readers.all("go"), []);
  }
  await readers.close();
});

Deno.test("a store that is closed rejects its reports, and leaves no write-ahead log", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/gateway.sqlite3`;
  const store = openSqliteStore(path);
  await store.write((sql) => sql.all("CREATE TABLE t (id TEXT)"));
  await store.report("SELECT * FROM t");
  await store.close();
  assert.ok(!existsSync(`${path}-wal`));
  const again = openSqliteStore(path);
  const reports = Array.from(
    { length: MAX_REPORTS + 1 },
    () => assert.rejects(again.report(LONG), /closed/),
  );
  await again.close();
  await Promise.all(reports);
});
