/**
 * What Codex CLI does when a conversation has become too long: with a provider of its own it asks
 * the model for a summary; with its built-in provider it asks the endpoint to compact.
 *
 * `TEST_CODEX` names the program; `.ci/run` installs it from npm.
 */
import assert from "node:assert/strict";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "../support/test_gateway.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const CODEX = Deno.env.get("TEST_CODEX");

/** Any conversation is longer after its first turn. */
const COMPACTED_AT = 120;

const PROVIDERS: Readonly<Record<string, (url: string) => string>> = {
  own: (url) => `
model_provider = "gateway"
[model_providers.gateway]
name = "Model Gateway"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "GATEWAY_KEY"
`,
  "built-in": (url) => `openai_base_url = "${url}/v1"`,
};

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Runs Codex with one home and working folder. */
async function withCodex(
  program: string,
  config: string,
  use: (
    run: (args: readonly string[], input?: string) => Promise<Ended>,
  ) => Promise<void>,
): Promise<void> {
  await using home = await temporaryFolder();
  await using folder = await temporaryFolder();
  await Deno.writeTextFile(`${home.path}/config.toml`, config);
  await use(async (args, input = "") => {
    const child = new Deno.Command(program, {
      args: [...args],
      cwd: folder.path,
      clearEnv: true,
      env: {
        PATH: Deno.env.get("PATH") ?? "",
        HOME: home.path,
        CODEX_HOME: home.path,
        GATEWAY_KEY: TEST_KEY,
      },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
    const { code, stdout, stderr } = await child.output();
    const text = new TextDecoder();
    return { code, output: text.decode(stdout) + text.decode(stderr) };
  });
}

const OPTIONS = [
  "--json",
  "--skip-git-repo-check",
  "--dangerously-bypass-approvals-and-sandbox",
];

/** Makes two turns, with a compaction between them; the second one's end. */
async function twoTurns(
  program: string,
  gateway: TestGateway,
  provider: string,
): Promise<Ended> {
  let last: Ended = { code: -1, output: "" };
  const config = `
model = "vendora-opus-4-8"
model_auto_compact_token_limit = ${COMPACTED_AT}
${PROVIDERS[provider]?.(gateway.url)}`;
  await withCodex(program, config, async (run) => {
    await run(["login", "--with-api-key"], `${TEST_KEY}\n`);
    const first = await run(["exec", ...OPTIONS, "Hello."]);
    assert.equal(first.code, 0, first.output);
    last = await run(["exec", "resume", "--last", ...OPTIONS, "And now?"]);
  });
  return last;
}

const TESTS: Readonly<
  Record<string, (program: string, gateway: TestGateway) => Promise<void>>
> = {
  async "Codex CLI compacts a conversation by itself with a provider of its own"(
    program,
    gateway,
  ) {
    const { code, output } = await twoTurns(program, gateway, "own");
    assert.equal(code, 0, output);
    assert.deepEqual(
      gateway.logged.map(({ status, path }) => [status, path]),
      Array(3).fill([200, "/v1/responses"]),
      "a turn, the summary, and a turn",
    );
  },
  async "Codex CLI with its built-in provider is told which setting lets it compact"(
    program,
    gateway,
  ) {
    const { code, output } = await twoTurns(program, gateway, "built-in");
    assert.equal(code, 1, output);
    assert.match(output, /model_provider in its config\.toml/);
    assert.match(output, /docs\/clients\.md/);
  },
};

for (const [name, run] of Object.entries(TESTS)) {
  Deno.test({
    name: CODEX === undefined
      ? `${name}: SKIPPED, because TEST_CODEX names no program`
      : name,
    ignore: CODEX === undefined,
    async fn() {
      await using gateway = await startTestGateway();
      await run(CODEX ?? "", gateway);
    },
  });
}
