/**
 * Debian's Caddy with the configuration in docs/operations.md.
 */
import assert from "node:assert/strict";
import { withTimeout } from "../with_timeout.ts";

const PAGE = new URL("../../../docs/operations.md", import.meta.url);

/** The program; undefined where it is not installed. */
export const CADDY: string | undefined = await (async () => {
  for (const path of ["/usr/bin/caddy", "/usr/local/bin/caddy"]) {
    const found = await Deno.stat(path).catch(() => undefined);
    if (found?.isFile === true) return path;
  }
  return undefined;
})();

interface Caddy {
  /** Port on loopback, without TLS. */
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * The documented file, changed for the test: other ports, no certificate, and no admin endpoint.
 */
async function documentedConfig(
  gatewayUrls: readonly string[],
  port: number,
): Promise<string> {
  const block = /```caddyfile\n([^]*?)```/.exec(await Deno.readTextFile(PAGE))
    ?.[1];
  assert.ok(block !== undefined, "docs/operations.md has no caddyfile block");
  const config = block
    .replace(
      "127.0.0.1:8787",
      gatewayUrls.map((url) => new URL(url).host).join(" "),
    )
    .replace("models.example.com {", `http://127.0.0.1:${port} {`)
    .replace("{\n", "{\n\tadmin off\n");
  assert.doesNotMatch(config, /:8787|models\.example/);
  return config;
}

/** Starts Caddy in front of gateways and waits until it listens. */
export async function startCaddy(
  program: string,
  gatewayUrls: readonly string[],
): Promise<Caddy> {
  const folder = await Deno.makeTempDir();
  // The port was just free; if another process has taken it, Caddy exits and the next port is
  // tried.
  for (let tries = 1;; tries++) {
    using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
    const { port } = listener.addr;
    await Deno.writeTextFile(
      `${folder}/Caddyfile`,
      await documentedConfig(gatewayUrls, port),
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
    const log = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
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
      await Deno.remove(folder, { recursive: true });
      throw new Error(`Caddy does not start:\n${text}`);
    }
    return {
      port,
      async stop() {
        child.kill("SIGTERM");
        await child.status;
        await rest;
        await Deno.remove(folder, { recursive: true });
      },
    };
  }
}
