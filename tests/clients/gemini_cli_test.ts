/**
 * Gemini CLI, with the lines that the console shows, against models of every upstream format: it writes a file, runs a shell command beside
 * it, changes the file and reads the result.
 *
 * `TEST_GEMINI_CLI` names the program; `.ci/run` installs it from npm.
 */
import assert from "node:assert/strict";
import type { NeutralBlock } from "../../replay/mod.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import {
  agentReply,
  startAgentUpstream,
} from "../support/upstreams/agent_upstream.ts";
import {
  agentOptions,
  CANDIDATES,
  runAgent,
} from "../support/clients/agents.ts";
import {
  pastedVariables,
  programLines,
} from "../support/clients/program_lines.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const GEMINI = Deno.env.get("TEST_GEMINI_CLI");

const MODEL = "house-model";

const tool = (name: string, args: Record<string, string>): NeutralBlock => ({
  kind: "tool",
  name,
  args,
});

/** One reply of the model each; then it ends with a text. */
const STEPS: readonly (readonly NeutralBlock[])[] = [
  [
    tool("write_file", {
      file_path: "new.txt",
      content: 'first "ü"\nsecond\n',
    }),
    tool("run_shell_command", { command: "printf made:42 | tr a-z A-Z" }),
  ],
  [
    tool("replace", {
      file_path: "new.txt",
      instruction: "Number the second line.",
      old_string: "second",
      new_string: "2 \u{1f600}",
    }),
  ],
  [tool("read_file", { file_path: "new.txt" })],
];
const DONE = "All done: ü.";
const FILES = { "new.txt": 'first "ü"\n2 \u{1f600}\n' };

/** Runs the program; returns its answer and the files that it left. */
async function runGemini(program: string, url: string): Promise<{
  readonly answer: string;
  readonly files: Readonly<Record<string, string>>;
}> {
  const { output, files } = await runAgent(program, {
    args: [
      "--model",
      MODEL,
      "--yolo",
      "--skip-trust",
      "--output-format",
      "json",
      "--prompt",
      "Do the task.",
    ],
    env: {
      ...await pastedVariables(programLines("gemini-cli", url, MODEL)),
      // The program otherwise starts itself once more, to have more memory.
      GEMINI_CLI_NO_RELAUNCH: "true",
    },
    home: {
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
      }),
    },
  });
  const { response } = JSON.parse(output.slice(output.indexOf("{")));
  return { answer: response, files };
}

async function check(program: string, candidate: JsonObject): Promise<void> {
  await using upstream = startAgentUpstream((_, index) =>
    agentReply(STEPS[index])
  );
  await using gateway = await startTestGateway(
    agentOptions(
      { [MODEL]: { candidates: [candidate], free: true } },
      upstream.url,
    ),
  );
  const { answer, files } = await runGemini(program, gateway.url);
  assert.equal(answer, DONE);
  assert.deepEqual(files, FILES);
  assert.equal(upstream.bodies.length, STEPS.length + 1);
  const last = upstream.bodies.at(-1) ?? "";
  assert.ok(last.includes("MADE:42"), last.slice(-20_000));
  assert.ok(last.includes("2 \u{1f600}"), last.slice(-20_000));
}

if (GEMINI === undefined) {
  Deno.test.ignore(
    "Gemini CLI: SKIPPED, because TEST_GEMINI_CLI names no program",
    () => {},
  );
} else {
  for (const [format, candidate] of Object.entries(CANDIDATES)) {
    Deno.test(`Gemini CLI works with an upstream of the format ${format}`, () =>
      check(GEMINI, candidate));
  }
}
