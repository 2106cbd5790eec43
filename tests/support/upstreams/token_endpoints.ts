/**
 * Token endpoints and metadata servers on loopback. Endpoints with a fixed https address are
 * reached through an injected `fetch`.
 */

/** A request as the endpoint received it. */
export interface TokenRequest {
  /** The requested address, before it was replaced by one on loopback. */
  readonly url: string;
  readonly method: string;
  /** As received; `fetch` of the endpoints adds one. */
  readonly headers: Headers;
  readonly body: string;
}

interface TokenEndpoints extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly TokenRequest[];
  /** Sends every request to the endpoints, wherever it is addressed to. */
  readonly fetch: typeof fetch;
}

const ADDRESS = "x-test-address";

export function tokenEndpoints(
  reply: (request: TokenRequest) => Response | Promise<Response>,
): TokenEndpoints {
  const requests: TokenRequest[] = [];
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const one = {
        url: request.headers.get(ADDRESS) ?? request.url,
        method: request.method,
        headers: request.headers,
        body: await request.text(),
      };
      requests.push(one);
      return await reply(one);
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  return {
    url,
    requests,
    fetch: (input, init) => {
      const address = new URL(
        input instanceof Request ? input.url : input.toString(),
      );
      const headers = new Headers(init?.headers);
      headers.set(ADDRESS, address.href);
      return fetch(`${url}${address.pathname}${address.search}`, {
        ...init,
        headers,
      });
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Sets variables that libraries read themselves, during `run`. */
export async function withVariables(
  variables: Readonly<Record<string, string>>,
  run: () => Promise<void>,
): Promise<void> {
  try {
    for (const [name, value] of Object.entries(variables)) {
      Deno.env.set(name, value);
    }
    await run();
  } finally {
    for (const name of Object.keys(variables)) Deno.env.delete(name);
  }
}
