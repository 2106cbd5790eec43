/**
 * Gateway processes on a SQLite file when its disk is full, when another process locks it, and when
 * it is read-only.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { startProgram } from "../support/programs/program.ts";
import { withTimeout } from "../support/with_timeout.ts";
import {
  CONFIGURED_KEY,
  LANES,
  ledgerStaysExact,
} from "../support/programs/store_outage.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

/**
 * Ignores SIGXFSZ, so that a write beyond the file size limit fails instead of ending the process.
 */
const WITHOUT_SIGNAL: readonly string[] = [
  "bash",
  "-c",
  'trap "" XFSZ; exec "$@"',
  "bash",
];

async function withFile(
  run: (path: string) => Promise<void>,
): Promise<void> {
  await using folder = await temporaryFolder();
  await run(`${folder.path}/gateway.sqlite3`);
}

/** Limits the size of the files that a process may write; with a limit of 0 every write fails. */
async function limitFiles(
  pid: number,
  limit: "0" | "unlimited",
): Promise<void> {
  const { success, stderr } = await new Deno.Command("prlimit", {
    args: ["--pid", String(pid), `--fsize=${limit}:unlimited`],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

Deno.test({
  name:
    "two processes on a SQLite file whose disk is full three times: the ledger stays exact, no process exits",
  // Only Linux has `prlimit`.
  ignore: Deno.build.os !== "linux",
  fn: onFullDisk,
});

async function onFullDisk(): Promise<void> {
  await withFile((path) =>
    ledgerStaysExact(
      { databaseUrl: `sqlite:${path}`, programs: 2, starter: WITHOUT_SIGNAL },
      async ({ programs, served, refused }) => {
        for (let time = 0; time < 3; time++) {
          await withTimeout(served(20), "replies");
          const noticed = refused();
          for (const { pid } of programs) await limitFiles(pid, "0");
          await withTimeout(noticed, "a refusal by each process");
          for (const { pid } of programs) await limitFiles(pid, "unlimited");
        }
        await withTimeout(served(2 * LANES), "replies");
      },
    )
  );
}

Deno.test("two processes on a SQLite file that another process locks: the ledger stays exact, and streams continue", () =>
  withFile((path) =>
    ledgerStaysExact(
      { databaseUrl: `sqlite:${path}`, programs: 2 },
      async ({ programs, keep, served, refused }) => {
        await withTimeout(served(20), "replies");
        const other = new DatabaseSync(path);
        const [first] = programs;
        assert.ok(first !== undefined);
        const stream = await first.call(CONFIGURED_KEY, {
          model: "vendorb-5",
          stream: true,
          text: "[[fx:slow?ms=40]]",
        });
        assert.equal(stream.status, 200);
        const noticed = refused();
        try {
          other.exec("PRAGMA busy_timeout = 5000; BEGIN EXCLUSIVE");
          const body = await stream.text();
          assert.match(body, /event: message_stop/);
          keep("/v1/messages", stream, body);
          await withTimeout(noticed, "a refusal by each process");
        } finally {
          other.close();
        }
        await withTimeout(served(2 * LANES), "replies");
      },
    )
  ));

Deno.test("with a read-only store file the gateway does not start, and the error names DATABASE_URL", () =>
  withFile(async (path) => {
    const folder = path.slice(0, path.lastIndexOf("/"));
    new DatabaseSync(path).close();
    await using program = await startProgram({
      folder,
      env: { DATABASE_URL: `sqlite:${path}`, GATEWAY_KEY: CONFIGURED_KEY },
      permissions: ["--allow-net", "--allow-env", "--allow-read"],
    });
    assert.equal(
      await withTimeout(program.ended, "the end of the process"),
      2,
      program.output(),
    );
    assert.match(program.output(), /DATABASE_URL: could not open the store/);
  }));
