/** A first start that fails: what it prints, and that it stores no key that was not shown. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { type Program, startProgram } from "../support/programs/program.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  await using folder = await temporaryFolder();
  await run(folder.path);
}

function shownKeys(program: Program): readonly string[] {
  return [...program.output().matchAll(/^Key, shown this once: (sk-\w+)$/gm)]
    .map(([, key]) => key ?? "");
}

function storedKeys(folder: string): number {
  using database = new DatabaseSync(`${folder}/data/gateway.sqlite3`);
  const table = database.prepare(
    "SELECT name FROM sqlite_master WHERE name = 'keys'",
  ).get();
  return table === undefined
    ? 0
    : Number(database.prepare("SELECT count(*) AS n FROM keys").get()?.["n"]);
}

async function statusWith(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/models`, {
    headers: { "x-api-key": key },
  });
  await response.body?.cancel();
  return response.status;
}

Deno.test("a first start on a taken port prints one sentence, exits with 2 and stores no key", () =>
  inFolder(async (folder) => {
    using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = taken.addr;
    await using refused = await startProgram({
      env: { PORT: String(port) },
      folder,
    });
    assert.equal(await refused.ended, 2);
    assert.equal(
      refused.output(),
      `The gateway cannot start:\nPORT: ${port} on 127.0.0.1 is in use by another program: stop that program, or set PORT to a free port (0 takes any)\n`,
    );
    assert.deepEqual([...Deno.readDirSync(folder)], []);

    await using next = await startProgram({ env: {}, folder });
    const [key = ""] = shownKeys(next);
    assert.equal(await statusWith(next.url, key), 200);
  }));

Deno.test("a first start that is killed while it shows its key stores no key that was not shown", () =>
  inFolder(async (folder) => {
    for (let round = 0; round < 4; round++) {
      const store = `${folder}/${round}`;
      await Deno.mkdir(store);
      await using killed = await startProgram({
        env: {},
        folder: store,
        until: /^Key, shown this once/m,
      });
      killed.signal("SIGKILL");
      await killed.ended;
      assert.ok(storedKeys(store) <= shownKeys(killed).length);

      await using next = await startProgram({ env: {}, folder: store });
      const keys = [...shownKeys(killed), ...shownKeys(next)];
      assert.equal(await statusWith(next.url, keys.at(-1) ?? ""), 200);
      assert.ok(storedKeys(store) <= keys.length);
    }
  }));

Deno.test("a first start whose key cannot be shown stores none", () =>
  inFolder(async (folder) => {
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        "--no-check",
        "--allow-all",
        "--config",
        `${ROOT}deno.json`,
        `${ROOT}main.ts`,
      ],
      cwd: folder,
      env: { PORT: "0" },
      stdout: "piped",
      stderr: "null",
    }).spawn();
    // Closed long before the first write, which therefore fails.
    await child.stdout.cancel();
    const { code } = await child.status;
    assert.equal(code, 2);
    assert.equal(storedKeys(folder), 0);
  }));

Deno.test("of two simultaneous first starts on one store only one creates a key, and both accept it", () =>
  inFolder(async (folder) => {
    const [one, other] = await Promise.all([
      startProgram({ env: {}, folder }),
      startProgram({ env: {}, folder }),
    ]);
    await using _one = one;
    await using _other = other;
    const keys = [...shownKeys(one), ...shownKeys(other)];
    assert.equal(keys.length, 1);
    assert.equal(storedKeys(folder), 1);
    for (const { url } of [one, other]) {
      assert.equal(await statusWith(url, keys[0] ?? ""), 200);
    }
  }));
