/**
 * Codex CLI, with the lines that the console shows, against models of every upstream format: it runs a shell command, edits a file with a
 * free-text tool, calls a tool of an MCP server and reads the result.
 *
 * `TEST_CODEX` names the program; `.ci/run` installs it from npm.
 */
import assert from "node:assert/strict";
import type { NeutralBlock } from "../../replay/mod.ts";
import { type JsonObject, objectOr } from "../../translate/bytes/json.ts";
import {
  agentReply,
  startAgentUpstream,
} from "../support/upstreams/agent_upstream.ts";
import {
  agentOptions,
  CANDIDATES,
  runAgent,
} from "../support/clients/agents.ts";
import { programLines } from "../support/clients/program_lines.ts";
import {
  callItem,
  messageItem,
  startResponsesUpstream,
} from "../support/upstreams/responses_upstream.ts";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";

const CODEX = Deno.env.get("TEST_CODEX");

/** A tool that the model calls, by Codex's name for it. */
interface Call {
  readonly group?: string;
  readonly name: string;
  /** Arguments, or the text of a free-text tool. */
  readonly input: Readonly<Record<string, string | number>> | string;
}

/** What Codex does with a model of one name. It offers other tools to models that it knows. */
interface Task {
  readonly model: string;
  /** One reply of the model each; then it ends with a text. */
  readonly steps: readonly (readonly Call[])[];
  /** Files in the working folder after the task. */
  readonly files: Readonly<Record<string, string>>;
  /** Results of calls, as they reach the upstream. */
  readonly results: readonly RegExp[];
}

const shell = (cmd: string): Call => ({ name: "exec_command", input: { cmd } });
const patch = (...lines: readonly string[]): Call => ({
  name: "apply_patch",
  input: ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n"),
});

const TASKS: readonly Task[] = [
  {
    model: "house-model",
    steps: [
      [
        shell("printf 'by the shell: \"ü\"\\n' > shell.txt"),
        { group: "mcp__demo", name: "add", input: { a: 20, b: 22.5 } },
      ],
      [shell('echo "size: $(wc -c < shell.txt)"')],
    ],
    files: { "shell.txt": 'by the shell: "ü"\n' },
    results: [/42\.5/, /size: 19/],
  },
  {
    model: "gpt-5.5",
    steps: [
      [patch("*** Add File: new.txt", '+first\\n "ü"', "+second")],
      [patch("*** Update File: new.txt", "@@", "-second", "+2 \\ \u{1f600}")],
    ],
    files: { "new.txt": 'first\\n "ü"\n2 \\ \u{1f600}\n' },
    results: [/Success/],
  },
  {
    // Its tools come in an input item, in a group.
    model: "gpt-5.6-sol",
    steps: [[{
      group: "functions",
      name: "exec",
      input:
        `text(await tools.exec_command({ cmd: "printf nested > nested.txt; echo made $((40 + 2))" }));`,
    }]],
    files: { "nested.txt": "nested" },
    results: [/made 42/],
  },
];

const DONE = "All done: ü.";

/** The MCP server of the configuration: one tool, over standard input and output. */
const MCP_SERVER = `
  const { createInterface } = require("node:readline");
  const send = (message) =>
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  const results = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "demo", version: "1.0.0" },
    }),
    "tools/list": () => ({
      tools: [{
        name: "add",
        description: "Adds two numbers",
        inputSchema: {
          type: "object",
          properties: { a: { type: "number" }, b: { type: "number" } },
          required: ["a", "b"],
        },
      }],
    }),
    "tools/call": ({ arguments: { a, b } }) => ({
      content: [{ type: "text", text: String(a + b) }],
    }),
  };
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) send({ id, result: results[method]?.(params) ?? {} });
  });
`;

/** Starts upstreams that make the calls of a task, step by step, in their own format. */
function startUpstreams({ steps }: Task): {
  readonly urls: Readonly<Record<"others" | "responses", string>>;
  requests(): readonly string[];
} & AsyncDisposable {
  const others = startAgentUpstream((body, index) =>
    agentReply(
      steps[index]?.map((call): NeutralBlock => ({
        kind: "tool",
        name: nameIn(body, call),
        args: typeof call.input === "string"
          ? { input: call.input }
          : call.input,
      })),
    )
  );
  const responses = startResponsesUpstream();
  responses.play(
    ...steps.map((calls, step) => ({
      items: calls.map((call, at) => itemOf(call, `call_${step}_${at}`)),
    })),
    { items: [messageItem(DONE)] },
  );
  return {
    urls: { others: others.url, responses: responses.url },
    requests: () => [
      ...others.bodies,
      ...responses.calls.map(({ text }) => text),
    ],
    async [Symbol.asyncDispose]() {
      await others.close();
      await responses.close();
    },
  };
}

/** The name of a tool in an upstream's request: a group's name may precede it. */
function nameIn(body: string, { group, name }: Call): string {
  const pattern = new RegExp(`"name":"(${group ?? ""}[^"]*?${name})"`);
  const found = pattern.exec(body)?.[1];
  assert.ok(found !== undefined, `the upstream is not offered ${name}`);
  return found;
}

function itemOf({ group, name, input }: Call, id: string): JsonObject {
  const item = typeof input === "string"
    ? {
      id: `ctc_${id}`,
      type: "custom_tool_call",
      status: "completed",
      call_id: id,
      name,
      input,
    }
    : callItem(name, JSON.stringify(input), id);
  return group === undefined ? item : { ...item, namespace: group };
}

/** How Codex reaches the gateway. Its built-in provider opens a web socket first. */
const PROVIDERS = {
  own: (url: string, model: string) => programLines("codex", url, model),
  "own, with web sockets": (url: string, model: string) =>
    programLines("codex", url, model, { hasWebSockets: true }),
  "built-in": (url: string, model: string) =>
    `model = "${model}"\nopenai_base_url = "${url}/v1"`,
} as const;

type Provider = keyof typeof PROVIDERS;

/** Runs Codex; returns its events and the files that it left. */
async function runCodex(
  program: string,
  url: string,
  model: string,
  provider: Provider,
): Promise<{
  readonly events: readonly JsonObject[];
  readonly files: Readonly<Record<string, string>>;
}> {
  const { output, files } = await runAgent(program, {
    args: [
      "exec",
      "--json",
      "--skip-git-repo-check",
      "--dangerously-bypass-approvals-and-sandbox",
      "Do the task.",
    ],
    env: { CODEX_HOME: "HOME/", GATEWAY_KEY: TEST_KEY },
    home: {
      "mcp.cjs": MCP_SERVER,
      "auth.json": JSON.stringify({ OPENAI_API_KEY: TEST_KEY }),
      "config.toml": `
${PROVIDERS[provider](url, model)}

[mcp_servers.demo]
command = "node"
args = ["HOME/mcp.cjs"]
`,
    },
  });
  return {
    events: output.trim().split("\n").map((line) => JSON.parse(line)),
    files,
  };
}

async function check(
  program: string,
  task: Task,
  candidate: JsonObject,
  provider: Provider,
): Promise<void> {
  await using upstreams = startUpstreams(task);
  const { others, responses } = upstreams.urls;
  await using gateway = await startTestGateway(
    agentOptions(
      { [task.model]: { candidates: [candidate], free: true } },
      others,
      responses,
    ),
  );
  const { events, files } = await runCodex(
    program,
    gateway.url,
    task.model,
    provider,
  );
  assert.deepEqual(files, task.files);
  const texts = events.map(({ item }) => objectOr(item)).filter(({ type }) =>
    type === "agent_message"
  ).map(({ text }) => text);
  assert.equal(texts.at(-1), DONE);
  const requests = upstreams.requests();
  assert.equal(requests.length, task.steps.length + 1);
  assert.equal(gateway.gateway.sockets.opened > 0, provider !== "own");
  for (const result of task.results) {
    assert.match(requests.at(-1) ?? "", result);
  }
}

if (CODEX === undefined) {
  Deno.test.ignore(
    "Codex CLI: SKIPPED, because TEST_CODEX names no program",
    () => {},
  );
} else {
  for (const [format, candidate] of Object.entries(CANDIDATES)) {
    for (
      const provider of ["own", "own, with web sockets", "built-in"] as const
    ) {
      Deno.test(`Codex CLI works with an upstream of the format ${format}, provider ${provider}`, async (t) => {
        for (const task of TASKS) {
          await t.step(
            task.model,
            () => check(CODEX, task, candidate, provider),
          );
        }
      });
    }
  }
}
