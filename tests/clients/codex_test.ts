/**
 * Codex CLI against models of every upstream format: it runs a shell command, edits a file with a
 * free-text tool, calls a tool of an MCP server and reads the result.
 *
 * `TEST_CODEX` names the program; `.ci/run` installs it from npm.
 */
import assert from "node:assert/strict";
import { type NeutralBlock, replyScript } from "../../replay/mod.ts";
import { type JsonObject, objectOr } from "../../translate/bytes/json.ts";
import {
  callItem,
  messageItem,
  startResponsesUpstream,
} from "../support/responses_upstream.ts";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";

/** The program; the tests are skipped without it. */
const CODEX = Deno.env.get("TEST_CODEX");

/** Upstream models of each format, as candidates of the configuration. */
const CANDIDATES: Readonly<Record<string, JsonObject>> = {
  messages: { vendor: "a", upstream_model: "claude-opus-4-8" },
  chat_completions: {
    vendor: "b",
    upstream_model: "gpt-5.5",
    dialect: "chat_completions",
  },
  generate_content: { vendor: "c", upstream_model: "gemini-3.1-pro-preview" },
  responses: { vendor: "r", upstream_model: "gpt-5.5", dialect: "responses" },
};

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
  /** Bodies of the requests so far. */
  requests(): readonly string[];
  close(): Promise<void>;
} {
  const bodies: string[] = [];
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: () => {},
  }, async (request) => {
    const body = await request.text();
    const calls = steps[bodies.length];
    bodies.push(body);
    const blocks = calls?.map((call): NeutralBlock => ({
      kind: "tool",
      name: nameIn(body, call),
      args: typeof call.input === "string" ? { input: call.input } : call.input,
    }));
    const { pathname: path, search } = new URL(request.url);
    const { status, headers, steps: sent } = replyScript({
      method: request.method,
      path: `${path}${search}`,
      headers: Object.fromEntries(request.headers),
      body,
    }, {
      blocks: blocks ?? [{ kind: "text", pieces: ["All do", "ne: ü."] }],
      stop: blocks === undefined ? "end" : "tool_use",
      stopSequence: null,
      usage: {
        input: 100,
        cacheRead: 0,
        cacheWrite: 0,
        output: 20,
        reasoning: 0,
      },
    });
    const pieces = sent.flatMap((one) =>
      one.step === "bytes" ? [new Uint8Array(one.bytes)] : []
    );
    return new Response(new Blob(pieces), { status, headers });
  });
  const responses = startResponsesUpstream();
  responses.play(
    ...steps.map((calls, step) => ({
      items: calls.map((call, at) => itemOf(call, `call_${step}_${at}`)),
    })),
    { items: [messageItem(DONE)] },
  );
  return {
    urls: {
      others: `http://127.0.0.1:${server.addr.port}`,
      responses: responses.url,
    },
    requests: () => [...bodies, ...responses.calls.map(({ text }) => text)],
    async close() {
      await server.shutdown();
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

/** Runs Codex in an empty folder; returns its events and the files that it left. */
async function runCodex(program: string, url: string, model: string): Promise<{
  readonly events: readonly JsonObject[];
  readonly files: Readonly<Record<string, string>>;
}> {
  const home = await Deno.makeTempDir();
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${home}/mcp.cjs`, MCP_SERVER);
    await Deno.writeTextFile(
      `${home}/config.toml`,
      `
model = "${model}"
model_provider = "gateway"
[model_providers.gateway]
name = "Model Gateway"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "GATEWAY_KEY"
[mcp_servers.demo]
command = "node"
args = ["${home}/mcp.cjs"]
`,
    );
    const { code, stdout, stderr } = await new Deno.Command(program, {
      args: [
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "Do the task.",
      ],
      cwd: folder,
      clearEnv: true,
      env: {
        PATH: Deno.env.get("PATH") ?? "",
        HOME: home,
        CODEX_HOME: home,
        GATEWAY_KEY: TEST_KEY,
      },
      stdin: "null",
    }).output();
    const text = new TextDecoder();
    const output = text.decode(stdout);
    assert.equal(code, 0, `${output}${text.decode(stderr)}`);
    const files: Record<string, string> = {};
    for await (const { name } of Deno.readDir(folder)) {
      files[name] = await Deno.readTextFile(`${folder}/${name}`);
    }
    return {
      events: output.trim().split("\n").map((line) => JSON.parse(line)),
      files,
    };
  } finally {
    await Deno.remove(home, { recursive: true });
    await Deno.remove(folder, { recursive: true });
  }
}

async function check(
  program: string,
  task: Task,
  candidate: JsonObject,
): Promise<void> {
  const upstreams = startUpstreams(task);
  const { others, responses } = upstreams.urls;
  const vendor = (kind: string, base_url: string): JsonObject => ({
    kind,
    base_url,
    api_key_env: "UPSTREAM_KEY",
  });
  const gateway = await startTestGateway({
    realVendors: true,
    env: { GATEWAY_CONFIG: "x", UPSTREAM_KEY: "key-of-upstream" },
    configFile: JSON.stringify({
      vendors: {
        a: vendor("vendora", others),
        b: vendor("vendorb", `${others}/v1`),
        c: vendor("vendorc", others),
        r: vendor("vendorb", `${responses}/v1`),
      },
      models: { [task.model]: { candidates: [candidate], free: true } },
    }),
  });
  try {
    const { events, files } = await runCodex(program, gateway.url, task.model);
    assert.deepEqual(files, task.files);
    const texts = events.map(({ item }) => objectOr(item)).filter(({ type }) =>
      type === "agent_message"
    ).map(({ text }) => text);
    assert.equal(texts.at(-1), DONE);
    const requests = upstreams.requests();
    assert.equal(requests.length, task.steps.length + 1);
    for (const result of task.results) {
      assert.match(requests.at(-1) ?? "", result);
    }
  } finally {
    await gateway.close();
    await upstreams.close();
  }
}

if (CODEX === undefined) {
  Deno.test.ignore(
    "Codex CLI: SKIPPED, because TEST_CODEX names no program",
    () => {},
  );
} else {
  for (const [format, candidate] of Object.entries(CANDIDATES)) {
    Deno.test(`Codex CLI works with an upstream of the format ${format}`, async (t) => {
      for (const task of TASKS) {
        await t.step(task.model, () => check(CODEX, task, candidate));
      }
    });
  }
}
