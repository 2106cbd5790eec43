/**
 * The process of the raw pipe. Arguments: the upstream's address, and the
 * port of a `loop_probe.ts` if there is to be one.
 */
import { exitWithStdin, sendMessage } from "../load/child.ts";
import { startProbe } from "../measure/loop_probe.ts";

const [upstream = "", probePort] = Deno.args;

exitWithStdin();
if (probePort !== undefined) startProbe(Number(probePort));
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
