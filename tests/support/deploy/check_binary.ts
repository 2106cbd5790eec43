/**
 * Judges the compiled program: `deno task compile:check` compiles it and runs this. It starts the
 * binary in an empty folder as a user does, and needs no other program.
 */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { VERSION } from "../../../gateway/version.ts";
import {
  collected,
  type CollectedProgram,
} from "../programs/collected_program.ts";
import { temporaryFolder } from "../temporary_folder.ts";

const STARTED = /^Model gateway at (http\S+)$/m;
const KEY = /^Key, shown this once: (\S+)$/m;

/** Judges the program at a path; throws at the first thing that it does wrong. */
export async function checkBinary(path: string): Promise<void> {
  await using folder = await temporaryFolder();
  await using asked = start(path, folder.path, ["--version"]);
  assert.equal(await asked.ended, 0, asked.output());
  assert.equal(asked.output().trim(), VERSION);

  let key: string;
  {
    await using first = start(path, folder.path);
    const [, url = ""] = await first.printed(STARTED);
    key = KEY.exec(first.output())?.[1] ?? "";
    await assertServes(url, key);
    // Disposed of: killed, as by kill -9.
  }
  await using second = start(path, folder.path);
  const [, url = ""] = await second.printed(STARTED);
  assert.doesNotMatch(second.output(), KEY, "the store was kept");
  await assertServes(url, key);
  second.signal("SIGTERM");
  assert.equal(await second.ended, 0, second.output());
}

function start(
  path: string,
  cwd: string,
  args: readonly string[] = [],
): CollectedProgram {
  return collected(
    new Deno.Command(path, {
      args: [...args],
      cwd,
      env: { PORT: "0", GATEWAY_UPSTREAM: "replay" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn(),
  );
}

/** A stream, a report (made in a thread), and a page: the parts that are loaded later. */
async function assertServes(url: string, key: string): Promise<void> {
  const authorization = `Bearer ${key}`;
  const stream = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({
      model: "vendora-opus-4-8",
      max_tokens: 50,
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
    }),
  });
  assert.match(await stream.text(), /event: message_stop/);
  const usage = await fetch(`${url}/v1/usage`, { headers: { authorization } });
  assert.equal(usage.status, 200, await usage.text());
  const page = await fetch(`${url}/console/sign-in`);
  assert.match(await page.text(), /<form/);
}

if (import.meta.main) {
  const path = resolve(Deno.args[0] ?? "dist/model-gateway");
  await checkBinary(path);
  // deno-lint-ignore no-console
  console.log(`${path}: starts, serves, and keeps what it stored`);
}
