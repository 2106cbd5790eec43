/**
 * Portkey's gateway from npm, on Node: a peer in the same language.
 */
import type { UpstreamDialect } from "../mock/mock_bodies.ts";
import { freePort, startServer } from "./programs.ts";
import {
  CALLER_PATHS,
  type Direction,
  isPassThrough,
  Skipped,
  type Target,
  type TargetKind,
  type Upstream,
  upstreamUrl,
} from "./target.ts";

/** Name in the tables. */
export const PORTKEY = "portkey";
const VERSION = "1.15.2";
/**
 * Pinned version of its HTTP server. With 1.14 and later, which Portkey's range also allows, every
 * stream from a messages or chat upstream is a 500 (`TypeError: immutable`).
 */
const SERVER_VERSION = "1.13.8";

/** Portkey as a target. Its sites share one installation. */
export function portkey(): TargetKind {
  let sites = 0;
  let installed: Promise<string> | undefined;
  return {
    name: PORTKEY,
    about:
      `@portkey-ai/gateway ${VERSION} on Node, @hono/node-server ${SERVER_VERSION}`,
    async prepare(upstream) {
      installed ??= install();
      const folder = await installed;
      sites++;
      return {
        start: () => startIn(folder, upstream),
        async [Symbol.asyncDispose]() {
          if (--sites > 0) return;
          installed = undefined;
          await Deno.remove(folder, { recursive: true });
        },
      };
    },
  };
}

/** Installs Portkey in a temporary folder. Returns the folder. */
async function install(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "bench-portkey-" });
  try {
    await installIn(folder);
    return folder;
  } catch (error) {
    await Deno.remove(folder, { recursive: true });
    throw error;
  }
}

async function installIn(folder: string): Promise<void> {
  await Deno.writeTextFile(
    `${folder}/package.json`,
    JSON.stringify({
      private: true,
      dependencies: { "@portkey-ai/gateway": VERSION },
      overrides: { "@hono/node-server": SERVER_VERSION },
    }),
  );
  const { success, stderr } = await new Deno.Command("npm", {
    args: ["install", "--ignore-scripts", "--no-audit", "--no-fund"],
    cwd: folder,
    stdin: "null",
  }).output().catch(() => {
    throw new Skipped("npm is not installed");
  });
  if (success) return;
  const reason = new TextDecoder().decode(stderr).trim().split("\n").at(-1);
  throw new Skipped(`npm could not install it: ${reason}`);
}

/** Whether Portkey supports a direction: two of its endpoints do not translate. */
export function portkeySupports(direction: Direction): boolean {
  return direction.caller !== "generate_content" &&
    (direction.caller === "chat_completions" || isPassThrough(direction));
}

async function startIn(folder: string, upstream: Upstream): Promise<Target> {
  const port = freePort();
  const server = await startServer(
    "node",
    {
      args: [
        `${folder}/node_modules/@portkey-ai/gateway/build/start-server.js`,
        `--port=${port}`,
        "--headless",
      ],
      cwd: folder,
      env: upstream.authority === undefined
        ? {}
        : { NODE_EXTRA_CA_CERTS: upstream.authority },
    },
    `http://127.0.0.1:${port}/`,
    "SIGKILL",
  );
  return {
    ...server,
    lenient: true,
    address: (direction) =>
      portkeySupports(direction)
        ? {
          host: "127.0.0.1",
          port,
          path: CALLER_PATHS[direction.caller],
          headers: {
            "x-portkey-config": JSON.stringify(
              route(upstream, direction.upstream),
            ),
          },
          model: "mock-model",
        }
        : undefined,
  };
}

/**
 * Portkey's configuration, sent with every request as its documentation describes for a gateway
 * without an account.
 */
function route(upstream: Upstream, dialect: UpstreamDialect) {
  const host = upstreamUrl(upstream);
  switch (dialect) {
    case "messages":
      return {
        provider: "anthropic",
        api_key: "up-bench",
        custom_host: `${host}/v1`,
      };
    case "chat_completions":
    case "responses":
      return {
        provider: "openai",
        api_key: "up-bench",
        custom_host: `${host}/v1`,
      };
    case "generate_content":
      return { provider: "google", api_key: "up-bench", custom_host: host };
  }
}
