/**
 * A gateway in a process of its own whose telemetry goes to a collector on loopback.
 */
import { isObject, type JsonObject } from "../../../translate/bytes/json.ts";
import { collected, type CollectedProgram } from "./collected_program.ts";
import { serveLoopback } from "../serve_loopback.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

export const KEY = "sk-0123456789abcdefghij";
export const VENDOR_KEY = "vendor-key-0123456789";

/** A request that the collector has received. */
export interface Export {
  readonly path: string;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly exports: readonly Export[];
  /** Resolves once `isWanted` accepts an export, an earlier one too. */
  received(isWanted: (one: Export) => boolean): Promise<Export>;
}

/** @param reply what it answers after it has read an export; absent: success */
export function startCollector(
  reply: (one: Export) => Response | Promise<Response> = () =>
    new Response("{}", { headers: { "content-type": "application/json" } }),
): Collector {
  const exports: Export[] = [];
  const looks = new Set<() => void>();
  const server = serveLoopback(async (request) => {
    const one = {
      path: new URL(request.url).pathname,
      headers: request.headers,
      bytes: new Uint8Array(await request.arrayBuffer()),
    };
    exports.push(one);
    for (const look of [...looks]) look();
    return await reply(one);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    exports,
    received: (isWanted) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = exports.find(isWanted);
          if (found === undefined) return;
          looks.delete(look);
          resolve(found);
        };
        looks.add(look);
        look();
      }),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

interface GatewayProcess {
  readonly url: string;
  readonly program: CollectedProgram;
}

/** @param env settings in addition to the store in memory and the keys */
export async function startGatewayProcess(
  env: Readonly<Record<string, string>>,
): Promise<GatewayProcess> {
  const program = collected(
    new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        "--no-check",
        "--lock=deno.lock",
        "--allow-net",
        "--allow-env",
        `--allow-read=${ROOT}`,
        `${ROOT}main.ts`,
      ],
      cwd: ROOT,
      env: {
        PATH: "/usr/bin:/bin",
        HOME: Deno.env.get("HOME") ?? "/",
        PORT: "0",
        DATABASE_URL: "sqlite::memory:",
        GATEWAY_KEY: KEY,
        VENDORA_API_KEY: VENDOR_KEY,
        ...env,
      },
      clearEnv: true,
      stdout: "piped",
      stderr: "piped",
    }).spawn(),
  );
  const [, url = ""] = await program.printed(
    /^Model gateway at (http\S+)\n/m,
  );
  return { url, program };
}

/** A call by the message format. */
export function post(
  url: string,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}/v1/messages?beta=true`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-api-key": KEY,
      ...headers,
    },
    body: JSON.stringify({
      model: "vendora-opus-4-8",
      max_tokens: 50,
      ...body,
    }),
  });
}

/** The attributes of an object of OTLP in JSON; numbers may be texts there. */
export function attributesOf(raw: JsonObject): Record<string, unknown> {
  const attributes: Record<string, unknown> = {};
  for (const { key, value } of objectsIn(raw["attributes"], "key")) {
    if (isObject(value)) attributes[String(key)] = Object.values(value)[0];
  }
  return attributes;
}

/** Every object inside a JSON value that has the key. */
export function* objectsIn(value: unknown, has: string): Generator<JsonObject> {
  if (Array.isArray(value)) {
    for (const inner of value) yield* objectsIn(inner, has);
  } else if (isObject(value)) {
    if (has in value) yield value;
    for (const inner of Object.values(value)) yield* objectsIn(inner, has);
  }
}
