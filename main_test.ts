/** The program as a process, as a first user, a supervisor and a platform start it. */
import assert from "node:assert/strict";
import { temporaryFolder } from "./tests/support/temporary_folder.ts";

const ROOT = new URL("./", import.meta.url).pathname;
const KEY = "sk-0123456789abcdefghij";

interface Program {
  readonly process: Deno.ChildProcess;
  /** Waits for a matching line of the output and returns it. */
  line(wanted: RegExp): Promise<string>;
  /** All output so far. */
  output(): string;
  stop(signal?: Deno.Signal): Promise<Deno.CommandStatus>;
}

function start(
  env: Record<string, string>,
  permissions: readonly string[],
  cwd: string = ROOT,
): Program {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--config",
      `${ROOT}deno.json`,
      `--lock=${ROOT}deno.lock`,
      ...permissions,
      `${ROOT}main.ts`,
    ],
    cwd,
    env: {
      PATH: "/usr/bin:/bin",
      HOME: Deno.env.get("HOME") ?? "/",
      PORT: "0",
      ...env,
    },
    clearEnv: true,
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let text = "";
  const waiting = new Set<() => void>();
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      for (const check of [...waiting]) check();
    }
    for (const check of [...waiting]) check();
  };
  const reading = Promise.all([read(process.stdout), read(process.stderr)]);
  return {
    process,
    output: () => text,
    line: (wanted) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = text.split("\n").slice(0, -1).find((line) =>
            wanted.test(line)
          );
          if (found !== undefined) {
            waiting.delete(check);
            resolve(found);
          }
        };
        waiting.add(check);
        check();
        reading.then(() => {
          check();
          reject(new Error(`the program ended without ${wanted}:\n${text}`));
        });
      }),
    async stop(signal = "SIGTERM") {
      process.kill(signal);
      const status = await process.status;
      await reading;
      return status;
    },
  };
}

const START_PERMISSIONS = [
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write",
];

async function baseUrl(program: Program): Promise<string> {
  return /http:\S+/.exec(await program.line(/^Model gateway at/))?.[0] ?? "";
}

Deno.test("without settings it prints an address, a key once, and four commands that work", async () => {
  await using folder = await temporaryFolder();
  const first = start({}, START_PERMISSIONS, folder.path);
  const url = await baseUrl(first);
  await first.line(/"stream": true/);
  const key = /sk-\w+/.exec(await first.line(/^Key, shown this once/))?.[0] ??
    "";
  const commands = first.output().split("\n\n").filter((text) =>
    text.startsWith("curl ")
  );
  assert.equal(commands.length, 4);
  for (const command of commands) {
    const run = await new Deno.Command("bash", {
      args: ["-c", command.replace("curl ", "curl -sS ")],
    }).output();
    const reply = new TextDecoder().decode(run.stdout);
    assert.match(
      reply,
      command.includes('"stream": true')
        ? /message_stop/
        : /"role":"assistant"/,
      command,
    );
  }
  assert.equal((await first.stop()).code, 0);

  const second = start({}, START_PERMISSIONS, folder.path);
  const again = await baseUrl(second);
  await second.line(/"stream": true/);
  assert.ok(!second.output().includes(key), "the key is shown twice");
  const response = await fetch(`${again}/v1/models`, {
    headers: { "x-api-key": key },
  });
  assert.equal(
    response.status,
    200,
    "the first start's key does not work at the second",
  );
  await response.body?.cancel();
  assert.equal((await second.stop()).code, 0);
  assert.notEqual(url, "");
  for await (const file of Deno.readDir(`${folder.path}/data`)) {
    const bytes = await Deno.readFile(`${folder.path}/data/${file.name}`);
    assert.ok(
      !new TextDecoder("latin1").decode(bytes).includes(key),
      `the key is in ${file.name}`,
    );
  }
});

Deno.test("it runs without file access and without a port", async () => {
  const program = start(
    {
      DENO_DEPLOY: "true",
      DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0",
      GATEWAY_KEY: KEY,
      GATEWAY_UPSTREAM: "replay",
    },
    ["--allow-net", "--allow-env"],
  );
  try {
    const url = await baseUrl(program);
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${KEY}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({
        model: "vendorc-3-flash",
        messages: [{ role: "user", content: "Hi" }],
      }),
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("x-gateway-upstream"), "replay");
    assert.equal((await response.json()).object, "chat.completion");
  } finally {
    assert.equal((await program.stop("SIGINT")).code, 0);
  }
});

Deno.test("an invalid setting prevents the start and is named", async () => {
  const program = start({ PORT: "eighty", HOST: "0.0.0.0" }, START_PERMISSIONS);
  const status = await program.process.status;
  await program.line(/^PORT: must be a whole number$/);
  assert.equal(status.code, 2);
});

Deno.test("SIGTERM lets a running stream finish, refuses new calls, and exits with 0", async () => {
  const program = start(
    { GATEWAY_KEY: KEY, DATABASE_URL: "sqlite::memory:" },
    START_PERMISSIONS,
  );
  const url = await baseUrl(program);
  const headers = { "x-api-key": KEY, "content-type": "application/json" };
  const requestBody = (text: string) => ({
    model: "vendorb-5",
    max_tokens: 50,
    stream: true,
    messages: [{ role: "user", content: text }],
  });
  const stream = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers,
    body: JSON.stringify(requestBody("[[fx:slow?ms=40]]")),
  });
  const reader = stream.body?.getReader();
  const decoder = new TextDecoder();
  let text = decoder.decode((await reader?.read())?.value, { stream: true });
  program.process.kill("SIGTERM");
  for (;;) {
    const next = await reader?.read();
    if (next === undefined || next.done) break;
    text += decoder.decode(next.value, { stream: true });
  }
  assert.match(text, /event: message_stop/);
  assert.equal((await program.process.status).code, 0);
  await program.line(/"ended":"complete"/);
});

Deno.test("SIGTERM ends a stream beyond the drain time with an error, and exits with 0", async () => {
  const program = start(
    {
      GATEWAY_KEY: KEY,
      DATABASE_URL: "sqlite::memory:",
      GATEWAY_DRAIN_SECONDS: "0.3",
    },
    START_PERMISSIONS,
  );
  const url = await baseUrl(program);
  const stream = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": KEY, "content-type": "application/json" },
    body: JSON.stringify({
      model: "vendora-opus-4-8",
      stream: true,
      messages: [{ role: "user", content: "[[fx:hold-mid]]" }],
    }),
  });
  program.process.kill("SIGTERM");
  const text = await stream.text();
  assert.match(text, /"message":"the gateway is shutting down/);
  assert.ok(!text.includes("[DONE]"));
  assert.equal((await program.process.status).code, 0);
  await program.line(/"ended":"failed"/);
});
