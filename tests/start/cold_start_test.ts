/** What the first `deno task start` downloads: what the program can load, no test's package. */
import assert from "node:assert/strict";
import { join } from "node:path";

const ROOT = new URL("../../", import.meta.url).pathname;

/**
 * 77 packages in November 2026. A dependency of the program may raise it, one of tests must not.
 */
const MAX_PACKAGES = 78;
/** Packages, their metadata and compiled modules; 68 MB in November 2026. */
const MAX_BYTES = 85_000_000;

const STARTED = /^Model gateway at /m;

/** Downloaded to see whether there is a registry: small, without dependencies. */
const PROBE = "npm:leven@4.1.0";

Deno.test({
  name:
    "a first start downloads only the packages that the program can load (skipped without an npm registry)",
  ignore: !await canDownload(),
  fn: async () => {
    await using folder = await temporaryFolder();
    const { output, status } = await firstStart(folder.path);
    assert.match(output, STARTED);
    assert.equal(status.code, 0, output);

    const packages = await packagesIn(join(folder.path, "npm"));
    for (const name of ["zod", "undici", "pg", "google-auth-library"]) {
      assert.ok(packages.has(name), `${name} is not among the packages`);
    }
    for (const name of ["openai", "playwright-core", "typescript"]) {
      assert.ok(!packages.has(name), `${name} is for tests`);
    }
    const list = [...packages].toSorted().join("\n");
    assert.ok(packages.size <= MAX_PACKAGES, `${packages.size}:\n${list}`);
    const bytes = await bytesIn(folder.path);
    assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
  },
});

/** Runs the task with an empty cache until the gateway serves. */
async function firstStart(
  cache: string,
): Promise<{ output: string; status: Deno.CommandStatus }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["task", "start"],
    cwd: ROOT,
    env: {
      DENO_DIR: cache,
      DATABASE_URL: "sqlite::memory:",
      GATEWAY_KEY: "sk-0123456789abcdefghij",
      PORT: "0",
    },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(child.stderr).text();
  let output = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const wasStarting = !STARTED.test(output);
    output += text;
    if (wasStarting && STARTED.test(output)) child.kill("SIGTERM");
  }
  return { output: output + await errors, status: await child.status };
}

/** The names of the packages in a folder of Deno's npm cache: `HOST/NAME/VERSION/package.json`. */
async function packagesIn(folder: string): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const path of filesIn(folder)) {
    const [, name] =
      /^[^/]+\/((?:@[^/]+\/)?[^/@]+)\/\d[^/]*\/package\.json$/.exec(
        path.slice(folder.length + 1),
      ) ?? [];
    if (name !== undefined) names.add(name);
  }
  return names;
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for await (const path of filesIn(folder)) {
    bytes += (await Deno.stat(path)).size;
  }
  return bytes;
}

async function* filesIn(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) yield* filesIn(path);
    else yield path;
  }
}

async function canDownload(): Promise<boolean> {
  await using folder = await temporaryFolder();
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "--no-lock", "--no-config", PROBE],
    env: { DENO_DIR: folder.path },
    stdout: "null",
    stderr: "null",
  }).output();
  return success;
}

async function temporaryFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempDir();
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
