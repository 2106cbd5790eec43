/** The files of the console and of the API: cells, failures, and clients that read slowly. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { readingAdmin } from "../../gateway/accounts/testing/reading_admin.ts";
import { storeCharges } from "../../gateway/accounts/testing/stored_charges.ts";
import { postgresAt, SQLITE } from "../../gateway/accounts/testing/stores.ts";
import { exportLedger } from "../../gateway/admin/ledger.ts";
import { fileReply } from "../../routes/account/file_reply.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  startConsole,
  visit,
  visitAs,
} from "../support/console/visitor.ts";
import { csvRows } from "../support/console/csv_rows.ts";
import { withTimeout } from "../support/with_timeout.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { bearer } from "../support/clients/bearer.ts";

const SERVER = Deno.env.get("TEST_POSTGRES_URL");

/**
 * Texts that a spreadsheet would evaluate, some after a separator of its language, and their cells.
 */
const FORMULAS: Readonly<Record<string, string>> = {
  '=HYPERLINK("http://127.0.0.1/","a, b")':
    '\'=HYPERLINK("http://127.0.0.1/","a, b")',
  "+1": "'+1",
  "-1+1": "'-1+1",
  "@SUM(1)": "'@SUM(1)",
  "\t=1": "'\t'=1",
  "\r=1": "'\r'=1",
  "a;=1+1": "a;'=1+1",
  "a; =1+1;b\t@SUM(1)": "a; '=1+1;b\t'@SUM(1)",
  'a";"+1': 'a";"\'+1',
};

Deno.test("no cell of a file runs as a formula, and numbers stay numbers", async () => {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  await admin.accounts.create({
    id: "acme",
    name: "@acme",
    billing: "postpaid",
  });
  const { text: key = "" } = await admin.keys.issue({
    accountId: "acme",
    name: "=1+1",
  });
  for (const user of Object.keys(FORMULAS)) {
    const reply = await gateway.post("/v1/chat/completions", {
      model: "vendora-opus-4-8",
      user,
      messages: [{ role: "user", content: "Hello" }],
    }, { "x-api-key": key });
    assert.equal(reply.status, 200, await reply.text());
    const id = reply.headers.get("request-id");
    await gateway.logEntry(({ request_id }) => request_id === id);
  }
  await gateway.accounts.flush();
  await gateway.recorded();
  const token = await credentialOf(gateway, "manage", "acme");
  const holder = await visit(gateway.url, "manage", token.text);
  const operator = await visitAs(gateway, "operator");
  const read = async (reply: Promise<Response>): Promise<string> => {
    const answer = await reply;
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return text;
  };
  const api = (path: string, credential: string): Promise<string> =>
    read(
      fetch(gateway.url + path, bearer(credential)),
    );
  const users = Object.values(FORMULAS).toSorted();
  for (
    const [text, column] of [
      [await read(holder.get("/console/calls.csv")), "user"],
      [await read(holder.get("/console/ledger.csv?kind=charge")), "user"],
      [await read(holder.get("/console/ledger.csv?format=focus")), "x_User"],
      [await read(holder.get("/console/usage.csv?by=user")), "user"],
      [await read(operator.get("/console/operator/calls.csv")), "user"],
      [
        await api("/admin/v1/ledger/export?format=csv", ADMIN_TOKEN),
        "user",
      ],
      [
        await api("/v1/account/ledger/export?format=focus", token.text),
        "x_User",
      ],
    ] as const
  ) {
    const rows = csvRows(text);
    assert.deepEqual(
      [...new Set(rows.map((row) => row[column]))].toSorted(),
      users,
      text,
    );
    for (const row of rows) {
      for (const [name, cell] of Object.entries(row)) {
        assert.match(
          cell,
          /^(?![=+\-@\t\r])|^-?\d+(?:\.\d+)?$/,
          `${name}: ${cell}`,
        );
      }
      const { micro_usd: cost = row["BilledCost"] } = row;
      assert.match(cost ?? "", /^-?\d+(?:\.\d+)?$/);
    }
  }
  const keys = csvRows(await read(holder.get("/console/keys.csv")));
  assert.deepEqual(keys.map(({ name }) => name), ["'=1+1"]);
  const accounts = csvRows(
    await read(operator.get("/console/operator/accounts.csv")),
  );
  assert.ok(accounts.some(({ name }) => name === "'@acme"));
});

Deno.test("a file whose first read fails is an error with a status", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/books.sqlite3`;
  await using gateway = await startConsole({
    env: { DATABASE_URL: `sqlite:${path}` },
  });
  const token = await credentialOf(gateway, "manage");
  const holder = await visit(gateway.url, "manage", token.text);
  const operator = await visitAs(gateway, "operator");
  const database = new DatabaseSync(path);
  for (const table of ["ledger", "calls", "usage_daily", "changes"]) {
    database.exec(`ALTER TABLE ${table} RENAME TO lost_${table}`);
  }
  database.close();
  for (const format of ["jsonl", "csv", "focus"]) {
    for (
      const [base, credential] of [
        ["/admin/v1", ADMIN_TOKEN],
        ["/v1/account", token.text],
      ]
    ) {
      const path = `${base}/ledger/export?format=${format}`;
      const reply = await fetch(gateway.url + path, bearer(credential ?? ""));
      assert.equal(reply.status, 503, path);
      assert.match(
        reply.headers.get("content-type") ?? "",
        /^application\/json/,
      );
      assert.match(await reply.text(), /"error"/);
    }
  }
  for (
    const file of [
      "ledger.csv",
      "ledger.csv?format=focus",
      "calls.csv",
      "usage.csv?by=user&account=default",
      "changes.csv",
    ]
  ) {
    for (
      const reply of [
        await holder.get(`/console/${file.replace("&account=default", "")}`),
        await operator.get(`/console/operator/${file}`),
      ]
    ) {
      assert.equal(reply.status, 503, file);
      assert.equal(reply.headers.get("content-disposition"), null);
      await reply.body?.cancel();
    }
  }
});

/** More than Postgres has connections for. */
const READERS = 8;
const ENTRIES = 1500;

for (
  const kind of [SQLITE, ...(SERVER === undefined ? [] : [postgresAt(SERVER)])]
) {
  Deno.test(`${kind.name}: exports that their clients do not read hold no transaction and no connection, and are read to their end by a client that reads on`, async () => {
    await using database = await kind.createDatabase();
    await using store = await database.open();
    await storeCharges(
      store,
      Array.from({ length: ENTRIES }, (_, at) => ({
        requestId: `req_${at}`,
        model: "m",
        tokens: { input: 1, cacheRead: 0, cacheWrite: 0, output: 0 },
        price: { input: 1, cacheRead: 1, cacheWrite: 1, output: 1 },
        atMs: at,
      })),
    );
    let reads = 0;
    const running = new Set<Promise<unknown>>();
    const admin = readingAdmin({
      ...store,
      async report(text, values) {
        reads++;
        const read = store.report(text, values);
        running.add(read);
        try {
          return await read;
        } finally {
          running.delete(read);
        }
      },
    });
    const readers: ReadableStreamDefaultReader<Uint8Array>[] = [];
    for (let at = 0; at < READERS; at++) {
      const { text } = exportLedger(admin, { format: "csv" });
      const { body } = await fileReply({}, text);
      assert.ok(body instanceof ReadableStream);
      const reader = body.getReader();
      await reader.read();
      readers.push(reader);
    }
    const rows = await withTimeout(
      store.read("SELECT id FROM plans"),
      "a read beside the exports",
    );
    assert.ok(rows.length >= 0);
    await store.write((sql) => sql.all("DELETE FROM answers"));
    // Waits for the reads that were made ahead.
    while (running.size > 0) await Promise.all(running);
    if (kind === SQLITE) {
      // The log could not be emptied while somebody reads from it.
      const other = new DatabaseSync(database.url.slice("sqlite:".length));
      const [checkpoint] = other.prepare("PRAGMA wal_checkpoint(TRUNCATE)")
        .all();
      other.close();
      assert.deepEqual({ ...checkpoint }, {
        busy: 0,
        log: 0,
        checkpointed: 0,
      });
    }
    const [left, slow, ...others] = readers;
    await left?.cancel();
    for (const other of others) await other.cancel();
    const before = reads;
    let text = "";
    const decoder = new TextDecoder();
    for (;;) {
      const piece = await slow?.read();
      if (piece === undefined || piece.done) break;
      text += decoder.decode(piece.value);
    }
    assert.equal(text.match(/,req_\d+,/g)?.at(-1), `,req_${ENTRIES - 1},`);
    assert.ok(before < reads);
  });
}
