/**
 * The compiled program. Its runtime is a download that no registry of packages has, so everything
 * up to it is tested: what is compiled into the binary, and the check that judges one.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { run } from "../../deploy/image/run.ts";
import { checkBinary } from "../support/deploy/check_binary.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

async function compileTask(): Promise<string[]> {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  return tasks.compile.split(" ");
}

Deno.test("deno task compile embeds the program with its fixtures and pages, and nothing of the tests", async () => {
  await using folder = await temporaryFolder();
  const output = join(folder.path, "model-gateway");
  const args = (await compileTask()).slice(1).map((word) =>
    word.startsWith("--output=") ? `--output=${output}` : word
  );
  // Deno itself in place of the runtime: the binary has its parts, but does not run.
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args.slice(0, -1), "--no-check", ...args.slice(-1)],
    cwd: ROOT,
    env: { DENORT_BIN: Deno.execPath(), NO_COLOR: "1" },
  }).output();
  const text = new TextDecoder().decode(stderr);
  assert.ok(success, text);
  const { size } = await Deno.stat(output);
  assert.ok(size > (await Deno.stat(Deno.execPath())).size, "it has files");
  const embedded = text.slice(text.indexOf("Embedded Files"));
  for (
    const name of [
      "main.ts",
      "fixtures",
      "assets",
      "report_readers.ts",
      "call_span.ts",
      "zod",
      "pg",
    ]
  ) {
    assert.ok(
      embedded.includes(`─ ${name}`) || embedded.includes(`┬ ${name}`),
      name,
    );
  }
  for (
    const name of ["_test.ts", "playwright-core", "conformance", "openai "]
  ) {
    assert.ok(!embedded.includes(name), name);
  }
  const binary = new TextDecoder("latin1").decode(
    await Deno.readFile(output),
  );
  for (
    const part of [
      "The quick brown fox",
      "function consoleClient(",
      "font-variant-numeric",
    ]
  ) {
    assert.ok(
      binary.includes(part),
      `of a fixture, the script, the style sheet: ${part}`,
    );
  }
});

Deno.test("the check of the binary accepts a program with the binary's permissions, and refuses another one", async () => {
  await using folder = await temporaryFolder();
  const words = await compileTask();
  const flags = words.filter((word) => word.startsWith("--allow-"));
  const program = join(folder.path, "model-gateway");
  // The binary reads its modules from itself.
  const permissions = flags.map((flag) =>
    flag === "--allow-read=." ? `--allow-read=.,${ROOT}` : flag
  );
  await Deno.writeTextFile(
    program,
    `#!/bin/sh\nexec ${Deno.execPath()} run --no-check --no-prompt --config=${ROOT}deno.json --lock=${ROOT}deno.lock ${
      permissions.join(" ")
    } ${ROOT}main.ts "$@"\n`,
  );
  await run("chmod", ["755", program]);
  await checkBinary(program);
  await assert.rejects(checkBinary("/bin/true"));
});
