/**
 * `fetch` over the gateway's own HTTP client: for libraries that take one, and for requests beside
 * calls. Deno's own reads the environment by itself, so that its requests would leave by another
 * way than calls.
 */
import { VERSION } from "../../version.ts";
import type { ByteSource } from "./byte_source.ts";
import type { UpstreamClient } from "./http_client.ts";
import type { Way } from "./way.ts";

/** Statuses of replies without a body. */
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Returns a function in the form of `fetch`. It follows no redirect: one is returned, or with
 * `redirect: "error"` rejected. A body is sent as a whole.
 *
 * @param way absent: the client's own
 */
export function clientFetch(client: UpstreamClient, way?: Way): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { url, method, headers } = request;
    if (!headers.has("user-agent")) {
      headers.set("user-agent", `model-gateway/${VERSION}`);
    }
    const body = request.body === null
      ? undefined
      : new Uint8Array(await request.arrayBuffer());
    const response = await client.call({
      url,
      method,
      headers: Object.fromEntries(headers),
      ...(body === undefined ? {} : { body }),
      ...(way === undefined ? {} : { way }),
      signal: request.signal,
    });
    const { status } = response;
    if (status >= 300 && status < 400 && init?.redirect === "error") {
      response.body.cancel();
      throw new TypeError(`unexpected redirect (status ${status})`);
    }
    const hasBody = method !== "HEAD" && !NO_BODY.has(status);
    if (!hasBody) response.body.cancel();
    return new Response(hasBody ? streamOf(response.body) : null, {
      status,
      headers: response.headers(),
    });
  };
}

function streamOf(source: ByteSource): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const chunk = await source.read();
      if (chunk === undefined) controller.close();
      else controller.enqueue(new Uint8Array(chunk));
    },
    cancel: () => source.cancel(),
  });
}
