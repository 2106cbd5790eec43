/** What the process writes: a page for people at the start, unless JSON is asked for; then JSON lines with a level. */
import assert from "node:assert/strict";
import { type Program, startProgram } from "../support/programs/program.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { withTimeout } from "../support/with_timeout.ts";

const KEY = "sk-0123456789abcdefghij";
const ENV = {
  GATEWAY_UPSTREAM: "replay",
  DATABASE_URL: "sqlite::memory:",
};

type Line = Readonly<Record<string, unknown>>;

/** Each line as JSON, with its time and level. */
function jsonLines(text: string): readonly Line[] {
  return text.trimEnd().split("\n").map((line) => {
    const parsed: Line = JSON.parse(line);
    assert.match(String(parsed["ts"]), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, line);
    assert.match(String(parsed["level"]), /^(?:info|warn|error)$/, line);
    return parsed;
  });
}

function startFaulty(folder: string, format: string): Promise<Program> {
  return startProgram({
    command: ["tests/support/programs/faulty_program.ts"],
    folder,
    env: { ...ENV, GATEWAY_KEY: KEY, GATEWAY_LOG_FORMAT: format },
    until: /"stream": true.*\n|"type":"listening".*\n/,
  });
}

/** Has the process write a line of each kind; it ends with the last one. */
async function runThrough(program: Program, url: string): Promise<void> {
  const call = (key: string, text: string): Promise<Response> =>
    fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({
        model: "vendorb-5",
        max_tokens: 9,
        messages: [{ role: "user", content: text }],
      }),
    });
  for (
    const [key, text] of [
      [KEY, "Hello"],
      ["sk-wrong", "Hello"],
      [KEY, "[[fx:error?status=500]]"],
    ] as const
  ) await (await call(key, text)).text();
  program.signal("SIGWINCH");
  await withTimeout(
    program.printed(/"text":"DeprecationWarning: this is old".*\n/),
    "the warning",
  );
  program.signal("SIGUSR1");
  assert.equal(await withTimeout(program.ended, "the end"), 1);
}

function checkLevels(lines: readonly Line[]): void {
  const levelOf = (name: string, value: unknown): unknown =>
    lines.find((line) => line[name] === value)?.["level"];
  assert.equal(levelOf("ended", "complete"), "info");
  assert.equal(levelOf("status", 401), "info");
  assert.equal(levelOf("text", "a text of a library"), "warn");
  assert.equal(levelOf("type", "fault"), "error");
}

Deno.test("after the page of the start, every line is JSON with a level", async () => {
  await using folder = await temporaryFolder();
  await using program = await startFaulty(folder.path, "page");
  await runThrough(program, program.url);
  const text = program.output();
  const end = text.lastIndexOf('"stream": true');
  checkLevels(jsonLines(text.slice(text.indexOf("\n\n", end) + 2)));
});

Deno.test("with GATEWAY_LOG_FORMAT=json every line is JSON with a level, the first included", async () => {
  await using folder = await temporaryFolder();
  await using program = await startFaulty(folder.path, "json");
  const listening = jsonLines(program.output())
    .find(({ type }) => type === "listening");
  assert.deepEqual(listening?.["upstreams"], ["replay"]);
  assert.match(String(listening?.["console"]), /^http:\S+\/console\/$/);
  await runThrough(program, String(listening?.["address"]));
  const lines = jsonLines(program.output());
  checkLevels(lines);
});

Deno.test("with GATEWAY_LOG_FORMAT=json the first key and a link that signs in are in JSON lines, once", async () => {
  await using folder = await temporaryFolder();
  const start = (): Promise<Program> =>
    startProgram({
      folder: folder.path,
      env: { GATEWAY_LOG_FORMAT: "json" },
      until: /"type":"listening".*\n/,
    });
  const first = await start();
  const [shown, listening] = jsonLines(first.output());
  assert.equal(shown?.["type"], "first_key");
  const url = String(listening?.["address"]);
  const reply = await fetch(`${url}/v1/models`, {
    headers: { "x-api-key": String(shown?.["key"]) },
  });
  await reply.body?.cancel();
  assert.equal(reply.status, 200);
  assert.match(String(listening?.["sign_in"]), /\/console\/sign-in#code-\w+$/);
  first.signal("SIGTERM");
  assert.equal(await first.ended, 0);
  jsonLines(first.output());
  await using again = await start();
  assert.deepEqual(
    jsonLines(again.output()).filter(({ type, sign_in: link }) =>
      type === "first_key" || link !== undefined
    ),
    [],
  );
});

Deno.test("with GATEWAY_LOG_FORMAT=json a refused start is a JSON line", async () => {
  await using folder = await temporaryFolder();
  await using program = await startProgram({
    folder: folder.path,
    env: { GATEWAY_LOG_FORMAT: "json", PORT: "x", GATEWAY_LOG: "y" },
  });
  assert.equal(await program.ended, 2);
  const [line, ...others] = jsonLines(program.output());
  assert.deepEqual(others, []);
  assert.equal(line?.["level"], "error");
  assert.equal(line?.["type"], "start_refused");
  assert.match(String(line?.["error"]), /^PORT: .*\nGATEWAY_LOG: /);
});
