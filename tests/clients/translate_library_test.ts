/** `translate/` as a library: the example of its README on Deno, and bundled on Node. */
import assert from "node:assert/strict";
import { temporaryFolder } from "../support/temporary_folder.ts";

const ROOT = new URL("../../", import.meta.url);
const EXPECTED =
  /^\{"model":"gpt-5",.*"content":"Hi".*\} \[\]\n\{"id":"msg_.*"type":"message".*\{"type":"text","text":"Hello",.*\}.*"stop_reason":"end_turn".*\}\n$/;

/** Writes the example beside the project's settings, with the import that a checkout has. */
async function exampleFile(folder: string): Promise<string> {
  const readme = await Deno.readTextFile(
    new URL("translate/README.md", ROOT),
  );
  const example = /```ts\n([^]*?)```/.exec(readme)?.[1];
  assert.ok(example !== undefined, "translate/README.md has no example");
  const path = `${folder}/example.ts`;
  await Deno.writeTextFile(
    path,
    example.replace(
      "@model-gateway/translate",
      new URL("translate/mod.ts", ROOT).href,
    ),
  );
  return path;
}

async function output(
  program: string,
  args: readonly string[],
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  assert.ok(success, decoder.decode(stderr));
  return decoder.decode(stdout);
}

Deno.test("translate's example runs on Deno and, bundled, on Node", async () => {
  await using folder = await temporaryFolder();
  const config = `--config=${new URL("deno.json", ROOT).pathname}`;
  const example = await exampleFile(folder.path);
  assert.match(
    await output(Deno.execPath(), ["run", "--no-prompt", config, example]),
    EXPECTED,
  );
  const bundle = `${folder.path}/example.mjs`;
  await output(Deno.execPath(), [
    "bundle",
    "--quiet",
    config,
    `--output=${bundle}`,
    example,
  ]);
  assert.match(await output("node", [bundle]), EXPECTED);
});
