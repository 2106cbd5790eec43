import assert from "node:assert/strict";
import { replaceFile } from "./replace_file.ts";
import { temporaryFolder } from "../../tests/support/temporary_folder.ts";

Deno.test("replaceFile() keeps permissions and links, and leaves nothing beside", async () => {
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  const file = `${folder}/file.json`;
  const link = `${folder}/link.json`;
  await Deno.writeTextFile(file, "old", { mode: 0o640 });
  await Deno.symlink(file, link);
  await replaceFile(link, "new, größer");
  assert.equal(await Deno.readTextFile(file), "new, größer");
  assert.equal((await Deno.lstat(link)).isSymlink, true);
  assert.equal(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o640);
  assert.equal([...Deno.readDirSync(folder)].length, 2);
});

Deno.test("replaceFile() writes a file that does not exist yet", async () => {
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  await replaceFile(`${folder}/file.json`, "{}");
  assert.equal(await Deno.readTextFile(`${folder}/file.json`), "{}");
});

Deno.test("replaceFile() leaves the file where it cannot be replaced", async () => {
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  await Deno.mkdir(`${folder}/file.json`);
  await assert.rejects(replaceFile(`${folder}/file.json`, "{}"));
  assert.equal([...Deno.readDirSync(folder)].length, 1);
});
