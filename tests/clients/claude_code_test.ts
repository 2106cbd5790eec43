/**
 * Claude Code, with the lines that the console shows, against models of every upstream format: it runs a shell command, writes a file, and
 * reads the results. With a cache of one hour, its charges are what it computes itself.
 *
 * `TEST_CLAUDE_CODE` names the program; `.ci/run` installs it from npm.
 */
import assert from "node:assert/strict";
import type { NeutralBlock } from "../../replay/mod.ts";
import {
  arrayOr,
  type JsonObject,
  objectOr,
} from "../../translate/bytes/json.ts";
import {
  agentReply,
  type AgentUpstream,
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
import {
  callItem,
  messageItem,
  startResponsesUpstream,
} from "../support/upstreams/responses_upstream.ts";
import {
  credentialOf,
  startConsole,
  visitAs,
} from "../support/console/visitor.ts";
import { csvRows } from "../support/console/csv_rows.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import { bearer } from "../support/clients/bearer.ts";

const PROGRAM = Deno.env.get("TEST_CLAUDE_CODE");

/** The program knows the vendor's prices for it. */
const MODEL = "claude-opus-4-8";

const DONE = "All done: ü.";

/** The calls of each reply; then the model ends with a text. */
const STEPS: readonly (readonly NeutralBlock[])[] = [
  [{
    kind: "tool",
    name: "Bash",
    args: {
      command: "printf 'by the shell: \"ü\"\\n' > shell.txt; echo $((40 + 2))",
      description: "Write a file",
    },
  }],
  [{ kind: "tool", name: "Read", args: { file_path: "shell.txt" } }],
];

function startUpstream(): AgentUpstream {
  return startAgentUpstream((body, index) => {
    const cached = {
      cacheRead: index * 10_000,
      cacheWrite: 9_000 + index,
      cacheWrite1h: 8_000,
    };
    return agentReply(STEPS[index], {
      input: 300,
      ...(body.includes('"ttl":"1h"') ? cached : {}),
    });
  });
}

/** What the program prints at its end. */
interface Result {
  readonly text: unknown;
  /** Its own computation. */
  readonly costUsd: unknown;
}

async function run(
  program: string,
  gateway: TestGateway,
  env: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const { output, files } = await start(program, gateway, "Bash,Read", env);
  assert.deepEqual(files, { "shell.txt": 'by the shell: "ü"\n' });
  const result = objectOr(JSON.parse(output));
  return { text: result["result"], costUsd: result["total_cost_usd"] };
}

async function start(
  program: string,
  gateway: TestGateway,
  tools: string,
  env: Readonly<Record<string, string>> = {},
): ReturnType<typeof runAgent> {
  const { text: key } = await credentialOf(gateway, "key");
  return await runAgent(program, {
    args: [
      "--print",
      "Do the task.",
      "--output-format=json",
      `--allowedTools=${tools}`,
    ],
    env: {
      ...await pastedVariables(
        programLines("claude-code", gateway.url, MODEL, {
          pickerIds: [MODEL],
        }),
      ),
      ANTHROPIC_AUTH_TOKEN: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      ...env,
    },
  });
}

async function check(program: string, candidate: JsonObject): Promise<void> {
  await using upstream = startUpstream();
  await using gateway = await startConsole(
    agentOptions(
      { [MODEL]: { candidates: [candidate], free: true } },
      upstream.url,
    ),
  );
  assert.equal((await run(program, gateway)).text, DONE);
  const last = upstream.bodies.at(-1) ?? "";
  assert.equal(upstream.bodies.length, STEPS.length + 1);
  assert.match(last, /"42/);
  assert.match(last, /by the shell: \\+"ü/);
}

/** The vendor's rates for the model, in micro-dollars per million tokens. */
const PRICE = {
  input: 5_000_000,
  output: 25_000_000,
  cache_read: 500_000,
  cache_write: 6_250_000,
  cache_write_1h: 10_000_000,
};

/** By hand: three replies of 300 tokens in and 20 out, reads, and writes of either life. */
const SUM = (3 * 300 * 5_000_000 + 3 * 20 * 25_000_000 + 30_000 * 500_000 +
  3_003 * 6_250_000 + 24_000 * 10_000_000) / 1e6;

async function checkCharges(program: string): Promise<void> {
  await using upstream = startUpstream();
  await using gateway = await startConsole(
    agentOptions(
      {
        [MODEL]: {
          candidates: [{ vendor: "a", upstream_model: MODEL }],
          price: PRICE,
        },
      },
      upstream.url,
    ),
  );
  const { admin } = gateway.accounts;
  const { costUsd } = await run(program, gateway, {
    ENABLE_PROMPT_CACHING_1H: "1",
  });
  await gateway.accounts.flush();
  const holder = await visitAs(gateway, "manage");
  const page = async (path: string): Promise<string> => await holder.read(path);

  const { data: entries } = await admin.ledger({ accountId: "default" });
  const charges = entries.filter(({ lines }) => lines !== undefined);
  assert.equal(charges.length, 3);
  const sumOf = (values: readonly number[]): number =>
    values.reduce((sum, one) => sum + one, 0);
  // Each call is rounded by itself.
  const charged = -sumOf(charges.map(({ microUsd }) => microUsd));
  assert.ok(Math.abs(charged - SUM) <= 3, `${charged}, by hand ${SUM}`);
  assert.ok(
    Math.abs(charged - Number(costUsd) * 1e6) <= 3,
    `${charged}, by the program ${costUsd}`,
  );
  const long = charges.map(({ lines = [] }) =>
    lines.find(({ meter }) => meter === "cache_write_1h")?.quantity
  );
  assert.deepEqual(long, [8_000, 8_000, 8_000]);

  const { data: days } = await admin.usage({ accountId: "default" });
  assert.equal(sumOf(days.map(({ microUsd }) => microUsd)), charged);
  const rows = csvRows(await page("/console/ledger.csv"));
  assert.equal(-sumOf(rows.map((row) => Number(row["micro_usd"]))), charged);
  for (const { requestId } of charges) {
    assert.match(
      (await page(`/console/calls/${requestId}`)).replaceAll(/<[^>]+>/g, " "),
      /Cache write, 1 hour\s+8,000/,
    );
  }
  const token = await credentialOf(gateway, "read");
  const own: unknown = await (await fetch(
    `${gateway.url}/v1/account/ledger`,
    bearer(token.text),
  )).json();
  assert.equal(
    -sumOf(
      arrayOr(objectOr(own)["data"]).map((one) =>
        Number(objectOr(one)["micro_usd"])
      ),
    ),
    charged,
  );
}

const SOURCE = "https://ulm.example/minster";

/** Its search of the web, made by a model of another format, reaches the conversation. */
async function checkSearch(program: string): Promise<void> {
  await using upstream = startResponsesUpstream();
  upstream.play(
    { items: [callItem("WebSearch", '{"query":"minster height"}', "call_1")] },
    {
      items: [{
        type: "web_search_call",
        id: "ws_1",
        status: "completed",
        action: {
          type: "search",
          query: "minster height",
          sources: [{ type: "url", url: SOURCE }],
        },
      }, messageItem("161.5 m.")],
    },
    { items: [messageItem(DONE)] },
  );
  await using gateway = await startConsole(
    agentOptions(
      {
        [MODEL]: {
          candidates: [{
            ...CANDIDATES["responses"],
            capabilities: { webSearch: true },
          }],
          free: true,
        },
      },
      upstream.url,
    ),
  );
  const { output } = await start(program, gateway, "WebSearch");
  assert.equal(objectOr(JSON.parse(output))["result"], DONE);
  assert.deepEqual(upstream.calls.map(({ body }) => body["tools"])[1], [
    { type: "web_search" },
  ]);
  assert.match(upstream.calls[2]?.text ?? "", /ulm\.example\/minster/);
}

if (PROGRAM === undefined) {
  Deno.test.ignore(
    "Claude Code: SKIPPED, because TEST_CLAUDE_CODE names no program",
    () => {},
  );
} else {
  for (const [format, candidate] of Object.entries(CANDIDATES)) {
    Deno.test(`Claude Code works with an upstream of the format ${format}`, () =>
      check(PROGRAM, candidate));
  }
  Deno.test("Claude Code searches the web with a model of another format", () =>
    checkSearch(PROGRAM));
  Deno.test("Claude Code's own sum of calls with a cache of one hour is charged", () =>
    checkCharges(PROGRAM));
}
