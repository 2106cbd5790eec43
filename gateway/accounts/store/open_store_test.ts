import assert from "node:assert/strict";
import { openStore } from "./open_store.ts";

for (
  const url of [
    "",
    "mysql://host/db",
    "sqlite",
    "sqlite:",
    "sqlite://host/file",
    "./data/gateway.sqlite3",
    "postgres://",
  ]
) {
  Deno.test(`openStore() refuses "${url}" and names the accepted forms`, () =>
    assert.rejects(
      openStore(url),
      /DATABASE_URL: it must be sqlite:PATH, sqlite::memory: or postgres:/,
    ));
}

Deno.test("openStore() does not repeat the address, which may contain a password", () =>
  assert.rejects(
    openStore("mysql://me:secret@host"),
    (error) => error instanceof Error && !error.message.includes("secret"),
  ));

Deno.test("openStore() opens an empty store for each sqlite::memory:", async () => {
  for (let i = 0; i < 2; i++) {
    await using store = await openStore("sqlite::memory:");
    assert.deepEqual(await store.read("SELECT id FROM plans"), []);
    await store.write((sql) =>
      sql.all("INSERT INTO plans (id, created_at_ms) VALUES ('a', 0)")
    );
  }
});

Deno.test("openStore() rejects when the server cannot be reached", async () => {
  // Port 9 is the discard service: usually closed.
  await assert.rejects(openStore("postgres://user@127.0.0.1:9/nothing"));
});
