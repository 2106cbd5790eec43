/** Calls through Debian's Caddy with exactly the configuration in docs/operations.md. */
import assert from "node:assert/strict";
import { ADMIN_TOKEN } from "../support/console_visitor.ts";
import {
  assertOperatorsDoor,
  OPERATOR_PATHS,
} from "../support/operators_door.ts";
import { RawSocket } from "../support/raw_socket.ts";
import { withTimeout } from "../support/with_timeout.ts";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
  type TestGatewayOptions,
} from "../support/test_gateway.ts";

const PAGE = new URL("../../docs/operations.md", import.meta.url);

const program = await (async () => {
  for (const path of ["/usr/bin/caddy", "/usr/local/bin/caddy"]) {
    const found = await Deno.stat(path).catch(() => undefined);
    if (found?.isFile === true) return path;
  }
  return undefined;
})();

/**
 * The documented file, changed for the test: other ports, no certificate, and no admin endpoint.
 */
async function documentedConfig(
  gatewayUrl: string,
  port: number,
): Promise<string> {
  const block = /```caddyfile\n([^]*?)```/.exec(await Deno.readTextFile(PAGE))
    ?.[1];
  assert.ok(block !== undefined, "docs/operations.md has no caddyfile block");
  const config = block
    .replace("127.0.0.1:8787", new URL(gatewayUrl).host)
    .replace("models.example.com {", `http://127.0.0.1:${port} {`)
    .replace("{\n", "{\n\tadmin off\n");
  assert.doesNotMatch(config, /:8787|models\.example/);
  return config;
}

async function withProxy(
  run: (gateway: TestGateway, port: number) => Promise<void>,
  options: TestGatewayOptions = {},
): Promise<void> {
  assert.ok(program !== undefined);
  const gateway = await startTestGateway(options);
  const folder = await Deno.makeTempDir();
  try {
    // The port was just free; if another process has taken it, Caddy exits and the next port is
    // tried.
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
      const log = child.stderr.pipeThrough(new TextDecoderStream())
        .getReader();
      let text = "";
      let ended = false;
      while (!ended && !text.includes("serving initial configuration")) {
        const { done, value } = await withTimeout(log.read(), "Caddy's start");
        ended = done;
        text += value ?? "";
      }
      const rest = (async () => {
        while (!(await log.read()).done);
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

/** Sends a request through Caddy and returns a reader of the response. */
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
        const piece = await withTimeout(socket.read(), String(wanted));
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
  name:
    "Caddy as documented forwards text while the upstream holds back the rest",
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
        await withTimeout(replay.gateReached(gate), "the gate");
        const early = await caller.until(/"text_delta"|"content":"[^"]/);
        assert.doesNotMatch(early, /message_stop|\[DONE\]/);
        replay.openGate(gate);
        await caller.until(/message_stop|\[DONE\]/);
        caller.close();
      }
    }),
});

Deno.test({
  name:
    "Caddy as documented closes the gateway's connection when a client disconnects",
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
      const entry = await withTimeout(
        replay.requestLog.waitForNonce("caddy-left"),
        "the call",
      );
      assert.equal(await withTimeout(entry.ended, "its end"), "caller-hung-up");
      await logEntry(({ ended }) => ended === "caller_left");
    }),
});

Deno.test({
  name:
    "Caddy as documented does not expose metrics, the admin API and the operators' pages",
  ignore: program === undefined,
  fn: () =>
    withProxy(async (gateway, port) => {
      await assertOperatorsDoor(gateway.url);
      for (
        const path of [
          "/metrics",
          "/admin/v1/accounts",
          "//metrics",
          "/%6detrics",
          "/v1/../metrics",
          "/METRICS",
          ...OPERATOR_PATHS,
        ]
      ) {
        const caller = await send(port, "GET", path, "");
        assert.match(await caller.until(/\r\n\r\n/), /^HTTP\/1.1 404 /, path);
        caller.close();
      }
      for (const path of ["/healthz", "/console/sign-in"]) {
        const open = await send(port, "GET", path, "");
        assert.match(await open.until(/\r\n\r\n/), /^HTTP\/1.1 200 /, path);
        open.close();
      }
    }, { env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN } }),
});
