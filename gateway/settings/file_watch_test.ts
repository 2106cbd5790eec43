import assert from "node:assert/strict";
import { fileVersion, FileWatch } from "./file_watch.ts";
import { temporaryFolder } from "../../tests/support/temporary_folder.ts";

/** Looks once at each version and returns the number of reported changes after each look. */
async function changes(
  versions: readonly (string | undefined)[],
): Promise<readonly number[]> {
  let reported = 0;
  let at = 0;
  const watch = new FileWatch(
    () => {
      const version = versions[at];
      return version === undefined
        ? Promise.reject(new Error("no such file"))
        : Promise.resolve(version);
    },
    () => reported++,
  );
  const counts: number[] = [];
  for (at = 0; at < versions.length; at++) {
    await watch.look();
    counts.push(reported);
  }
  return counts;
}

Deno.test("FileWatch reports a change once it has stayed for two looks", async () => {
  assert.deepEqual(await changes(["a", "a", "b", "b", "b"]), [0, 0, 0, 1, 1]);
});

Deno.test("FileWatch reports nothing while a file is being written, or is absent for a moment", async () => {
  assert.deepEqual(await changes(["a", "b", "c", "c"]), [0, 0, 0, 1]);
  assert.deepEqual(await changes(["a", undefined, "a", "a"]), [0, 0, 0, 0]);
  assert.deepEqual(await changes(["a", undefined, "b", "b"]), [0, 0, 0, 1]);
});

Deno.test("FileWatch reports a file that changes back", async () => {
  assert.deepEqual(await changes(["a", "b", "b", "a", "a"]), [0, 0, 1, 1, 2]);
});

Deno.test("FileWatch reports a file that is gone once, and its return", async () => {
  assert.deepEqual(
    await changes(["a", undefined, undefined, undefined, "a", "a", "a"]),
    [0, 0, 1, 1, 1, 2, 2],
  );
});

/** Ways to replace a file's content by one of the same length. */
const EDITS: readonly (readonly [string, (folder: string) => Promise<void>])[] =
  [
    ["written in place", async (folder) => {
      await Deno.writeTextFile(`${folder}/gateway.json`, "two");
      // Some file systems note times by the hundredth of a second or more roughly.
      await Deno.utime(`${folder}/gateway.json`, 1, 1);
    }],
    ["replaced by a rename, with the time of the old one", async (folder) => {
      await Deno.writeTextFile(`${folder}/gateway.json.new`, "two");
      const { atime, mtime } = await Deno.stat(`${folder}/gateway.json`);
      assert.ok(atime !== null && mtime !== null);
      await Deno.utime(`${folder}/gateway.json.new`, atime, mtime);
      const path = `${folder}/gateway.json`;
      await Deno.rename(`${path}.new`, path);
    }],
    [
      "behind a link to a folder that is swapped, as volumes of Kubernetes are",
      async (folder) => {
        await Deno.mkdir(`${folder}/..2`);
        await Deno.writeTextFile(`${folder}/..2/gateway.json`, "two");
        await Deno.symlink("..2", `${folder}/..data_new`);
        await Deno.rename(`${folder}/..data_new`, `${folder}/..data`);
      },
    ],
  ];

for (const [name, edit] of EDITS) {
  Deno.test(`a file ${name} is read once more`, async () => {
    await using folder = await temporaryFolder();
    const path = `${folder.path}/gateway.json`;
    await Deno.mkdir(`${folder.path}/..1`);
    await Deno.writeTextFile(`${folder.path}/..1/gateway.json`, "one");
    await Deno.symlink("..1", `${folder.path}/..data`);
    if (name.includes("link")) {
      await Deno.symlink("..data/gateway.json", path);
    } else await Deno.writeTextFile(path, "one");
    const read: string[] = [];
    const watch = new FileWatch(
      () => fileVersion(path),
      () => read.push(Deno.readTextFileSync(path)),
    );
    await watch.look();
    await edit(folder.path);
    for (let i = 0; i < 4; i++) await watch.look();
    assert.deepEqual(read, ["two"]);
  });
}
