/** A stream through Debian's Caddy with the very configuration that README.md gives. */
import assert from "node:assert/strict";
import { RawSocket } from "./raw_socket.ts";
import { soon } from "./soon.ts";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "./test_gateway.ts";

const README = new URL("../README.md", import.meta.url);

const program = await (async () => {
  for (const path of ["/usr/bin/caddy", "/usr/local/bin/caddy"]) {
    const found = await Deno.stat(path).catch(() => undefined);
    if (found?.isFile === true) return path;
  }
  return undefined;
})();

/** The documented file with what only a test has: other ports, no certificate, no listener for operators. */
async function documentedConfig(
  gatewayUrl: string,
  port: number,
): Promise<string> {
  const block = /```caddyfile\n([^]*?)```/.exec(await Deno.readTextFile(README))
    ?.[1];
  assert.ok(block !== undefined, "README.md has no caddyfile block");
  const config = block
    .replace("127.0.0.1:8787", new URL(gatewayUrl).host)
    .replace("models.example.com {", `http://127.0.0.1:${port} {`)
    .replace("{\n", "{\n\tadmin off\n");
  assert.doesNotMatch(config, /:8787|models\.example/);
  return config;
}

async function withProxy(
  run: (gateway: TestGateway, port: number) => Promise<void>,
): Promise<void> {
  assert.ok(program !== undefined);
  const gateway = await startTestGateway();
  const folder = await Deno.makeTempDir();
  try {
    // A port that was free a moment ago; taken again, Caddy says so and the next is tried.
    for (let tries = 1;; tries++) {
      using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
      const { port } = listener.addr;
      await Deno.writeTextFile(
        `${folder}/Caddyfile`,
        await documentedConfig(gateway.url, port),
      );
      listener.close();
      const child = new Deno.Command(program, {
        args: [
          "run",
          "--config",
          `${folder}/Caddyfile`,
          "--adapter",
          "caddyfile",
        ],
        env: { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
        stdin: "null",
        stdout: "null",
        stderr: "piped",
      }).spawn();
      const told = child.stderr.pipeThrough(new TextDecoderStream())
        .getReader();
      let text = "";
      let ended = false;
      while (!ended && !text.includes("serving initial configuration")) {
        const { done, value } = await soon(told.read(), "Caddy's start");
        ended = done;
        text += value ?? "";
      }
      const rest = (async () => {
        while (!(await told.read()).done);
      })();
      if (ended) {
        await child.status;
        if (tries < 5 && text.includes("address already in use")) continue;
        throw new Error(`Caddy does not start:\n${text}`);
      }
      try {
        return await run(gateway, port);
      } finally {
        child.kill("SIGTERM");
        await child.status;
        await rest;
      }
    }
  } finally {
    await gateway.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Sends a request through the proxy and gives what arrives, piece by piece. */
async function send(
  port: number,
  method: string,
  target: string,
  body: string,
): Promise<{ until(wanted: RegExp): Promise<string>; close(): void }> {
  const socket = await RawSocket.connect(port);
  await socket.send(
    `${method} ${target} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-api-key: ${TEST_KEY}\r\n` +
      `accept-encoding: gzip\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const decoder = new TextDecoder();
  let text = "";
  return {
    async until(wanted) {
      while (!wanted.test(text)) {
        const piece = await soon(socket.read(), String(wanted));
        assert.ok(
          typeof piece !== "string",
          `ended without ${wanted}:\n${text}`,
        );
        text += decoder.decode(piece, { stream: true });
      }
      return text;
    },
    close: () => socket.close(),
  };
}

function asking(text: string): string {
  return JSON.stringify({
    model: "vendora-opus-4-8",
    max_tokens: 100,
    stream: true,
    messages: [{ role: "user", content: text }],
  });
}

Deno.test({
  name: "Caddy as documented passes text on while the upstream holds the rest",
  ignore: program === undefined,
  fn: () =>
    withProxy(async ({ replay }, port) => {
      for (const path of ["/v1/messages", "/v1/chat/completions"]) {
        const gate = `caddy-${path.slice(4, 8)}`;
        const caller = await send(
          port,
          "POST",
          path,
          asking(`[[fx:text-long?gate=${gate}&at=4]]`),
        );
        await soon(replay.gateReached(gate), "the gate");
        const early = await caller.until(/"text_delta"|"content":"[^"]/);
        assert.doesNotMatch(early, /message_stop|\[DONE\]/);
        replay.openGate(gate);
        await caller.until(/message_stop|\[DONE\]/);
        caller.close();
      }
    }),
});

Deno.test({
  name: "Caddy as documented tells the gateway that a caller left",
  ignore: program === undefined,
  fn: () =>
    withProxy(async ({ replay, logEntry }, port) => {
      const caller = await send(
        port,
        "POST",
        "/v1/messages",
        asking("[[fx:hold-mid#caddy-left]]"),
      );
      await caller.until(/event: message_start/);
      caller.close();
      const entry = await soon(
        replay.journal.waitForNonce("caddy-left"),
        "the call",
      );
      assert.equal(await soon(entry.ended, "its end"), "caller-hung-up");
      await logEntry(({ ended }) => ended === "caller_left");
    }),
});

Deno.test({
  name: "Caddy as documented keeps metrics and the admin API inside",
  ignore: program === undefined,
  fn: () =>
    withProxy(async (_gateway, port) => {
      for (
        const path of [
          "/metrics",
          "/admin/v1/accounts",
          "//metrics",
          "/%6detrics",
          "/v1/../metrics",
          "/METRICS",
        ]
      ) {
        const caller = await send(port, "GET", path, "");
        assert.match(await caller.until(/\r\n\r\n/), /^HTTP\/1.1 404 /, path);
        caller.close();
      }
      const open = await send(port, "GET", "/healthz", "");
      assert.match(await open.until(/\r\n\r\n/), /^HTTP\/1.1 200 /);
      open.close();
    }),
});
