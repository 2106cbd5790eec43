/** A stream through Debian's nginx with the very configuration that README.md gives. */
import assert from "node:assert/strict";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "./test_gateway.ts";

/** For anything that nginx is asked. */
const LIMIT_MS = 20_000;

const README = new URL("../README.md", import.meta.url);

async function nginxProgram(): Promise<string | undefined> {
  for (const path of ["/usr/sbin/nginx", "/usr/local/sbin/nginx"]) {
    const found = await Deno.stat(path).catch(() => undefined);
    if (found?.isFile === true) return path;
  }
  return undefined;
}

const program = await nginxProgram();

/** The documented block with what only a test has: a gateway at another port, a socket in a folder, no certificate. */
async function documentedConfig(
  gatewayUrl: string,
  socket: string,
): Promise<string> {
  const block = /```nginx\n([^]*?)```/.exec(await Deno.readTextFile(README))
    ?.[1];
  assert.ok(block !== undefined, "README.md has no nginx block");
  const config = block
    .replace("127.0.0.1:8787", new URL(gatewayUrl).host)
    .replace("listen 443 ssl;", `listen unix:${socket};`)
    .replaceAll(/^ *ssl_certificate.*\n/gm, "");
  assert.doesNotMatch(config, /:8787|listen 443|ssl/);
  return config;
}

interface Proxy {
  readonly socket: string;
  stop(): Promise<void>;
}

/** Starts nginx in a folder of its own; it listens when this settles. */
async function startNginx(
  nginx: string,
  gatewayUrl: string,
): Promise<Proxy> {
  const folder = await Deno.makeTempDir();
  const socket = `${folder}/nginx.sock`;
  const file = `${folder}/nginx.conf`;
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  ).join("\n");
  await Deno.writeTextFile(
    file,
    `daemon off;\nmaster_process off;\npid ${folder}/pid;\nerror_log stderr notice;\n` +
      `events {}\nhttp {\naccess_log off;\n${temporary}\n` +
      `${await documentedConfig(gatewayUrl, socket)}\n}\n`,
  );
  const child = new Deno.Command(nginx, {
    args: ["-e", "stderr", "-p", folder, "-c", file],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const told = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  // The notice comes after the sockets are open.
  while (
    !text.includes("start worker") && !/using the "\w+" event/.test(text)
  ) {
    const { done, value } = await told.read();
    if (done) throw new Error(`nginx does not start:\n${text}`);
    text += value;
  }
  const rest = (async () => {
    while (!(await told.read()).done);
  })();
  return {
    socket,
    async stop() {
      child.kill("SIGTERM");
      await child.status;
      await rest;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Sends a request through nginx and gives what arrives, piece by piece. */
async function send(
  path: string,
  method: string,
  target: string,
  body: string,
): Promise<{ until(wanted: RegExp): Promise<string>; close(): void }> {
  const connection = await Deno.connect({ transport: "unix", path });
  // A stream that is held back must fail the test, not stop it.
  const limit = setTimeout(() => connection.close(), LIMIT_MS);
  await connection.write(new TextEncoder().encode(
    `${method} ${target} HTTP/1.1\r\nhost: models.example.com\r\nx-api-key: ${TEST_KEY}\r\n` +
      `accept-encoding: gzip\r\ncontent-type: application/json\r\ncontent-length: ${
        new TextEncoder().encode(body).length
      }\r\n\r\n${body}`,
  ));
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(16_384);
  let text = "";
  return {
    async until(wanted) {
      while (!wanted.test(text)) {
        const read = await connection.read(buffer);
        if (read === null) throw new Error(`ended without ${wanted}:\n${text}`);
        text += decoder.decode(buffer.subarray(0, read), { stream: true });
      }
      return text;
    },
    close() {
      clearTimeout(limit);
      connection.close();
    },
  };
}

async function withProxy(
  run: (gateway: TestGateway, proxy: Proxy) => Promise<void>,
): Promise<void> {
  assert.ok(program !== undefined);
  const gateway = await startTestGateway();
  try {
    const proxy = await startNginx(program, gateway.url);
    try {
      await run(gateway, proxy);
    } finally {
      await proxy.stop();
    }
  } finally {
    await gateway.close();
  }
}

Deno.test({
  name: "nginx as documented passes text on while the upstream holds the rest",
  ignore: program === undefined,
  fn: () =>
    withProxy(async ({ replay }, { socket }) => {
      for (const path of ["/v1/messages", "/v1/chat/completions"]) {
        const gate = `nginx-${path.slice(4, 8)}`;
        const body = JSON.stringify({
          model: "vendora-opus-4-8",
          max_tokens: 100,
          stream: true,
          messages: [{
            role: "user",
            content: `[[fx:text-long?gate=${gate}&at=4]]`,
          }],
        });
        const caller = await send(socket, "POST", path, body);
        await replay.gateReached(gate);
        const early = await caller.until(/"text_delta"|"content":"[^"]/);
        assert.doesNotMatch(early, /message_stop|\[DONE\]/);
        replay.openGate(gate);
        await caller.until(/message_stop|\[DONE\]/);
        caller.close();
      }
    }),
});

Deno.test({
  name: "nginx as documented tells the gateway that a caller left",
  ignore: program === undefined,
  fn: () =>
    withProxy(async ({ replay, logEntry }, { socket }) => {
      const body = JSON.stringify({
        model: "vendora-opus-4-8",
        max_tokens: 100,
        stream: true,
        messages: [{ role: "user", content: "[[fx:hold-mid#nginx-left]]" }],
      });
      const caller = await send(socket, "POST", "/v1/messages", body);
      await caller.until(/event: message_start/);
      caller.close();
      const entry = await replay.journal.waitForNonce("nginx-left");
      assert.equal(await entry.ended, "caller-hung-up");
      await logEntry(({ ended }) => ended === "caller_left");
    }),
});

Deno.test({
  name: "nginx as documented keeps metrics and the admin API inside",
  ignore: program === undefined,
  fn: () =>
    withProxy(async (_gateway, { socket }) => {
      for (const path of ["/metrics", "/admin/v1/accounts", "//metrics"]) {
        const caller = await send(socket, "GET", path, "");
        assert.match(await caller.until(/\r\n\r\n/), /^HTTP\/1.1 404 /, path);
        caller.close();
      }
      const open = await send(socket, "GET", "/healthz", "");
      assert.match(await open.until(/\r\n\r\n/), /^HTTP\/1.1 200 /);
      open.close();
    }),
});
