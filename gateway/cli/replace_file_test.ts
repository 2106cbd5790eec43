import assert from "node:assert/strict";
import { replaceFile } from "./replace_file.ts";
import { temporaryFolder } from "../../tests/support/temporary_folder.ts";

async function inFolder(
  body: (folder: string) => Promise<void>,
): Promise<void> {
  await using folder = await temporaryFolder();
  await body(folder.path);
}

Deno.test("replaceFile() keeps permissions and links, and leaves nothing beside", () =>
  inFolder(async (folder) => {
    const file = `${folder}/file.json`;
    const link = `${folder}/link.json`;
    await Deno.writeTextFile(file, "old", { mode: 0o640 });
    await Deno.symlink(file, link);
    await replaceFile(link, "new, größer");
    assert.equal(await Deno.readTextFile(file), "new, größer");
    assert.equal((await Deno.lstat(link)).isSymlink, true);
    assert.equal(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o640);
    assert.equal([...Deno.readDirSync(folder)].length, 2);
  }));

Deno.test("replaceFile() writes a file that does not exist yet", () =>
  inFolder(async (folder) => {
    await replaceFile(`${folder}/file.json`, "{}");
    assert.equal(await Deno.readTextFile(`${folder}/file.json`), "{}");
  }));

Deno.test("replaceFile() leaves the file where it cannot be replaced", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/file.json`);
    await assert.rejects(replaceFile(`${folder}/file.json`, "{}"));
    assert.equal([...Deno.readDirSync(folder)].length, 1);
  }));
