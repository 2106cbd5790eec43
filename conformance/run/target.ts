/**
 * Starts this project's gateway as a process, with the replay server as the upstream of every
 * vendor.
 */
import { UsageError } from "./settings.ts";

const MAIN = new URL("../../main.ts", import.meta.url);

/** The key that the upstream receives; a client must never see it. */
export const UPSTREAM_CANARY = "up-canary-2b8f41d09c6e";

/** Time limit of the gateway's start. */
const START_TIMEOUT_MS = 30_000;

/** A running gateway process. */
export interface OwnGateway {
  /** Base address. */
  readonly url: string;
  readonly key: string;
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
  // for all clients.
  const models = Object.fromEntries(
    ["responses", "chat_completions"].map((dialect) => [
      `conformance-${dialect}`,
      {
        candidates: [{ vendor: "vendorb", upstream_model: "gpt-5.5", dialect }],
      },
    ]),
  );
  const vendors = Object.entries({ A: "", B: "/v1", C: "", D: "" }).flatMap((
    [letter, suffix],
  ) => [
    [`VENDOR${letter}_API_KEY`, UPSTREAM_CANARY],
    [`VENDOR${letter}_BASE_URL`, replayUrl + suffix],
  ]);
  await Deno.writeTextFile(`${data}/models.json`, JSON.stringify({ models }));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", MAIN.href],
    env: {
      ...Object.fromEntries(vendors),
      PORT: "0",
      HOST: "127.0.0.1",
      GATEWAY_KEY: key,
      GATEWAY_CONFIG: `${data}/models.json`,
      DATABASE_URL: `sqlite:${data}/gateway.sqlite3`,
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
  if (url !== undefined) return { url, key, stop };
  throw new Error(`The gateway did not start: ${await stop()}`);
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
