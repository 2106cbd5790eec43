/**
 * The process of the raw pipe. Argument: the upstream's address.
 *
 * @module
 */
import { exitWithStdin, sendMessage } from "../child.ts";

const [upstream = ""] = Deno.args;

exitWithStdin();
Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => sendMessage({ port }),
}, (request) => {
  const { pathname, search } = new URL(request.url);
  return fetch(upstream + pathname + search, {
    method: request.method,
    headers: request.headers,
    body: request.body,
  });
});
