/**
 * A gateway with one configured endpoint, `/v1/things`, and two upstreams on loopback that a test
 * answers for.
 */
import { startTestGateway, type TestGateway } from "./test_gateway.ts";
import { serveLoopback } from "./serve_loopback.ts";

type Handler = (request: Request) => Response | Promise<Response>;

/** Long enough to be removed from replies. */
export const UPSTREAM_KEY = "sk-upstream-0123456789";

/** Differences from a route without counts and a model at a price per call. */
interface PassedOptions {
  readonly route?: object;
  readonly model?: object;
  readonly env?: Readonly<Record<string, string>>;
  /** Handles requests to the second upstream; absent: there is none. */
  readonly second?: Handler;
}

/** Runs a test with the gateway and the answers of its first upstream. */
export async function withPassed(
  handler: Handler,
  options: PassedOptions,
  run: (server: TestGateway) => Promise<void>,
): Promise<void> {
  const handlers = [handler, ...(options.second ? [options.second] : [])];
  const upstreams = handlers.map((one) => serveLoopback(one));
  const server = await startTestGateway({
    realVendors: true,
    env: {
      UPSTREAM_KEY,
      ...options.env,
    },
    configFile: JSON.stringify({
      vendors: Object.fromEntries(upstreams.map(({ addr }, i) => [`host${i}`, {
        kind: "openai_compatible",
        base_url: `http://127.0.0.1:${addr.port}/base`,
        api_key_env: "UPSTREAM_KEY",
      }])),
      routes: {
        thing: { endpoint: "/v1/things", path: "/things", ...options.route },
      },
      models: {
        "house-thing": {
          operations: ["thing"],
          price: { call: 500 },
          candidates: upstreams.map((_, i) => ({
            vendor: `host${i}`,
            upstream_model: `upstream-thing-${i}`,
            priority: i + 1,
          })),
          ...options.model,
        },
      },
    }),
  });
  try {
    await run(server);
  } finally {
    await server.close();
    await Promise.all(upstreams.map((one) => one.shutdown()));
  }
}

/** A form with the model before a file of so many bytes. */
export function formOf(
  fileBytes: number,
): { readonly head: string; readonly file: Uint8Array; readonly tail: string } {
  return {
    head:
      '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nhouse-thing\r\n' +
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n',
    file: new Uint8Array(fileBytes).fill(0x61),
    tail: "\r\n--b--\r\n",
  };
}

export function formBytes(
  { head, file, tail }: ReturnType<typeof formOf>,
): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const [first, last] = [encoder.encode(head), encoder.encode(tail)];
  const bytes = new Uint8Array(first.length + file.length + last.length);
  bytes.set(first);
  bytes.set(file, first.length);
  bytes.set(last, first.length + file.length);
  return bytes;
}
