/**
 * The raw pipe's process; its argument is the upstream's port.
 *
 * @module
 */
import { endWithInput, say } from "../child.ts";

const [upstreamPort = ""] = Deno.args;
const upstream = `http://127.0.0.1:${upstreamPort}`;

endWithInput();
Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => say({ port }),
}, (request) => {
  const { pathname, search } = new URL(request.url);
  return fetch(upstream + pathname + search, {
    method: request.method,
    headers: request.headers,
    body: request.body,
  });
});
