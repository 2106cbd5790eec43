/**
 * Debian's Caddy with the configuration in docs/operations.md.
 */
import assert from "node:assert/strict";
import { collected } from "../programs/collected_program.ts";
import { freePort } from "../../../gateway/accounts/testing/free_port.ts";
import { temporaryFolder } from "../temporary_folder.ts";
import { withTimeout } from "../with_timeout.ts";
import { documentedBlock, installed, type Proxy } from "./proxy.ts";

/** The program; undefined where it is not installed. */
export const CADDY: string | undefined = await installed(
  "/usr/bin/caddy",
  "/usr/local/bin/caddy",
);

/**
 * The documented file, changed for the test: other ports, no certificate, and no admin endpoint.
 */
async function documentedConfig(
  gatewayUrls: readonly string[],
  host: string,
): Promise<string> {
  const config = (await documentedBlock("caddyfile"))
    .replace(
      "127.0.0.1:8787",
      gatewayUrls.map((url) => new URL(url).host).join(" "),
    )
    .replace("models.example.com {", `http://${host} {`)
    .replace("{\n", "{\n\tadmin off\n");
  assert.doesNotMatch(config, /:8787|models\.example/);
  return config;
}

/** Starts Caddy in front of gateways and waits until it listens. */
export async function startCaddy(
  program: string,
  gatewayUrls: readonly string[],
): Promise<Proxy> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder());
  // If another process has taken the port, Caddy exits and the next one is tried.
  for (let tries = 1;; tries++) {
    const port = freePort();
    const host = `127.0.0.1:${port}`;
    const file = `${folder}/Caddyfile`;
    await Deno.writeTextFile(file, await documentedConfig(gatewayUrls, host));
    const caddy = collected(
      new Deno.Command(program, {
        args: ["run", "--config", file, "--adapter", "caddyfile"],
        env: { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn(),
    );
    const started = withTimeout(
      caddy.printed(/serving initial configuration/),
      "Caddy's start",
    );
    if (await started.then(() => true, () => false)) {
      stack.defer(async () => {
        caddy.signal("SIGTERM");
        await caddy.ended;
      });
      const ending = stack.move();
      return {
        url: `http://${host}`,
        host,
        connect: () =>
          Deno.connect({ hostname: "127.0.0.1", port: Number(port) }),
        [Symbol.asyncDispose]: () => ending.disposeAsync(),
      };
    }
    await caddy[Symbol.asyncDispose]();
    if (tries === 5 || !caddy.output().includes("address already in use")) {
      throw new Error(`Caddy does not start:\n${caddy.output()}`);
    }
  }
}
