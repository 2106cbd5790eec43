/**
 * Starts this project's gateway as a process, with the replay server as the upstream of every
 * vendor.
 */
import { UsageError } from "./settings.ts";

const MAIN = new URL("../../main.ts", import.meta.url);
const CLI = new URL("../../gateway/cli/cli.ts", import.meta.url);
/** Without its lock, the program looks for the versions of its packages at each start. */
const LOCK = `--lock=${new URL("../../deno.lock", import.meta.url).pathname}`;

/** The key that the upstream receives; a client must never see it. */
export const UPSTREAM_CANARY = "up-canary-2b8f41d09c6e";

/** The default of `GATEWAY_PING_SECONDS`. */
const KEEP_ALIVE_MS = 10_000;

const START_TIMEOUT_MS = 60_000;

export interface OwnGateway {
  readonly url: string;
  readonly key: string;
  /** A second key of the same account. */
  readonly otherKey: string;
  /** Silence in a stream after which it sends a sign of life. */
  readonly keepAliveMs: number;
  /** Stops the process and returns its standard error output. */
  stop(): Promise<string>;
}

/**
 * Starts the process.
 * @throws {UsageError} when the suite runs without the gateway's sources
 * @throws when the process does not print its address in time
 */
export async function startOwnGateway(replayUrl: string): Promise<OwnGateway> {
  if (
    MAIN.protocol !== "file:" || !(await Deno.stat(MAIN).catch(() => undefined))
  ) {
    throw new UsageError(
      "--base-url is needed: no gateway is beside the suite",
    );
  }
  const key = `sk-${crypto.randomUUID().replaceAll("-", "")}`;
  const data = await Deno.makeTempDir({ prefix: "conformance-" });
  // One vendor has two dialects, and by default uses the client's own: these models use one of them
  // for all clients. Nothing is known of an upstream model of that name, so it takes every setting.
  const models = Object.fromEntries(
    ["responses", "chat_completions"].map((dialect) => [
      `conformance-${dialect}`,
      {
        candidates: [{
          vendor: "vendorb",
          upstream_model: "conformance",
          dialect,
        }],
        // A model without a price is not offered.
        free: true,
      },
    ]),
  );
  const embeddings = Object.fromEntries(
    Object.entries({
      vendorb: "text-embedding-3-small",
      vendorc: "gemini-embedding-001",
    }).map(([vendor, upstream_model]) => [`conformance-embeddings-${vendor}`, {
      vendor,
      upstream_model,
      operations: ["embeddings"],
      free: true,
    }]),
  );
  const vendors = Object.entries({ A: "", B: "/v1", C: "", D: "" }).flatMap((
    [letter, suffix],
  ) => [
    [`VENDOR${letter}_API_KEY`, UPSTREAM_CANARY],
    [`VENDOR${letter}_BASE_URL`, replayUrl + suffix],
  ]);
  await Deno.writeTextFile(
    `${data}/models.json`,
    JSON.stringify({ models: { ...models, ...embeddings } }),
  );
  const databaseUrl = `sqlite:${data}/gateway.sqlite3`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", LOCK, MAIN.href],
    env: {
      ...Object.fromEntries(vendors),
      PORT: "0",
      HOST: "127.0.0.1",
      GATEWAY_KEY: key,
      GATEWAY_CONFIG: `${data}/models.json`,
      DATABASE_URL: databaseUrl,
      // Vendors that bill a cancelled reply are read to its end otherwise.
      GATEWAY_LEFT_CLIENT_SECONDS: "0",
    },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = textOf(child.stderr);
  const stop = async (): Promise<string> => {
    try {
      child.kill("SIGTERM");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    await child.status;
    await Deno.remove(data, { recursive: true });
    return await errors;
  };
  const url = await addressIn(child.stdout);
  if (url !== undefined) {
    const otherKey = await issueKey(databaseUrl);
    return { url, key, otherKey, keepAliveMs: KEEP_ALIVE_MS, stop };
  }
  throw new Error(`The gateway did not start: ${await stop()}`);
}

/** Issues a key of the account that the gateway's first start created. */
async function issueKey(databaseUrl: string): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      LOCK,
      CLI.href,
      ...["keys", "issue", "--account", "default", "--name", "other", "--json"],
    ],
    env: { DATABASE_URL: databaseUrl },
  }).output();
  const text = new TextDecoder().decode(stdout);
  const [key] = /sk-[\w-]{16,}/.exec(text) ?? [];
  if (key !== undefined) return key;
  throw new Error(
    `Cannot issue a second key: ${text}${new TextDecoder().decode(stderr)}`,
  );
}

async function addressIn(
  output: ReadableStream<Uint8Array>,
): Promise<string | undefined> {
  const reader = output.pipeThrough(new TextDecoderStream()).getReader();
  const timer = setTimeout(() => reader.cancel(), START_TIMEOUT_MS);
  let seen = "";
  let url: string | undefined;
  while (url === undefined) {
    const { value, done } = await reader.read();
    if (done) break;
    seen += value;
    url = /Model gateway at (http:\/\/\S+)/.exec(seen)?.[1];
  }
  clearTimeout(timer);
  // Later output is read and dropped, so that the process never blocks on a full pipe.
  const drain = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  if (url !== undefined) drain().catch(() => {});
  return url;
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(stream).text();
}
