/** Standard output without a reader: the gateway serves on, drops lines and states how many. */
import assert from "node:assert/strict";
import { withTimeout } from "../support/with_timeout.ts";
import { TEST_KEY } from "../support/test_gateway.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** Their lines fill a pipe, the test's own buffer and the gateway's. */
const CALLS = 5_000;
/** Its log line has as much of it as of any. */
const LONG_PATH = `/v1/${"none".repeat(50)}`;

/** The gateway in a process whose output is read only when the test reads it. */
class UnreadProgram implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = "";

  constructor(env: Readonly<Record<string, string>>) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--no-prompt", "--no-check", "--allow-all"],
        ...["--config", `${ROOT}deno.json`, `--lock=${ROOT}deno.lock`],
        `${ROOT}main.ts`,
      ],
      env: {
        PATH: "/usr/bin:/bin",
        HOME: Deno.env.get("HOME") ?? "/",
        PORT: "0",
        DATABASE_URL: "sqlite::memory:",
        GATEWAY_KEY: TEST_KEY,
        GATEWAY_UPSTREAM: "replay",
        ...env,
      },
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#reader = this.#child.stdout.pipeThrough(new TextDecoderStream())
      .getReader();
  }

  /** Reads until the output matches, or to its end. */
  async read(wanted?: RegExp): Promise<string> {
    while (wanted === undefined || !wanted.test(this.#text)) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      this.#text += value;
    }
    return this.#text;
  }

  stop(): Promise<Deno.CommandStatus> {
    this.#child.kill("SIGTERM");
    return withTimeout(this.#child.status, "the end of the process");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#reader.cancel();
    await this.#child.status;
  }
}

/** Starts the gateway, and reads no more after its address. */
async function startUnread(
  env: Readonly<Record<string, string>> = {},
): Promise<{ program: UnreadProgram; url: string }> {
  const program = new UnreadProgram(env);
  const address = /^Model gateway at (http\S+)\n/m;
  const url = address.exec(await program.read(address))?.[1] ?? "";
  return { program, url };
}

function call(url: string, fields: object = {}): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": TEST_KEY },
    body: JSON.stringify({
      model: "vendora-opus-4-8",
      max_tokens: 9,
      messages: [{ role: "user", content: "hello" }],
      ...fields,
    }),
  });
}

/** Makes requests whose lines are not read. */
async function fillLog(url: string): Promise<void> {
  let left = CALLS;
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const response = await withTimeout(
        fetch(url + LONG_PATH),
        "a call whose log line nobody reads",
      );
      assert.equal(response.status, 404);
      await response.text();
    }
  };
  await Promise.all(Array.from({ length: 8 }, caller));
}

/** Resolves once the ledger has this many charges; a charge is written after its reply. */
async function charged(url: string, calls: number): Promise<void> {
  const headers = { "x-api-key": TEST_KEY };
  for (let made = 0; made < calls;) {
    const usage = await fetch(`${url}/v1/usage`, { headers });
    made = (await usage.json()).totals.requests;
    assert.ok(made <= calls);
  }
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
}

const DROPPED = "gateway_log_lines_dropped_total";

Deno.test("a log without a reader stops no call and no stream; lines are dropped and counted", async () => {
  const { program, url } = await startUnread();
  await using _ = program;
  await fillLog(url);
  assert.ok(await metric(url, DROPPED) > 0);
  const stream = await call(url, { stream: true });
  assert.match(await stream.text(), /event: message_stop/);
  await (await call(url)).text();
  assert.match(await (await fetch(`${url}/healthz`)).text(), /ok/);
  await withTimeout(charged(url, 2), "the charges of both calls");
  await program.read(/"type":"log_lines_dropped".*\n/);
  // The log works again.
  await (await call(url)).text();
  const dropped = await metric(url, DROPPED);
  const [text] = await Promise.all([program.read(), program.stop()]);
  const lines = text.split("\n")
    .filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  const gaps = lines.filter(({ type }) => type === "log_lines_dropped");
  assert.equal(gaps.reduce((sum, gap) => sum + gap.lines, 0), dropped);
  const printed = lines.filter((line) => "request_id" in line);
  assert.equal(printed.length + dropped, CALLS + 3);
  assert.equal(printed.at(-1)?.status, 200);
});

Deno.test("a process whose log has no reader stops in order at a signal", async () => {
  const { program, url } = await startUnread();
  await using _ = program;
  await fillLog(url);
  assert.equal((await program.stop()).code, 0);
});

Deno.test("the last lines of the log are written before the process ends", async () => {
  const { program, url } = await startUnread();
  await using _ = program;
  await (await call(url)).text();
  assert.equal((await program.stop()).code, 0);
  assert.match(await program.read(), /"status":200.*\n$/);
});

Deno.test("a log that is exported as well stops nothing either", async () => {
  const { program, url } = await startUnread({
    OTEL_DENO: "true",
    // Exported to nowhere.
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
    OTEL_DENO_TRACING: "false",
    OTEL_DENO_METRICS: "false",
  });
  await using _ = program;
  await fillLog(url);
  assert.ok(await metric(url, DROPPED) > 0);
  const text = await program.read(/"type":"log_lines_dropped".*\n/);
  assert.match(text, /^\{"ts".*"request_id"/m);
});
