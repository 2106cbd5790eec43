/**
 * A program with an upstream client. Makes calls, waits with a blocked event loop for a line on
 * standard input, and then makes the same calls in one turn. Arguments: the URL and the number of
 * calls. Prints `idle` before it waits, and the outcomes of the second calls as JSON.
 */
import { setImmediate } from "node:timers";
import { CHECK_AFTER_MS } from "../../../gateway/upstream/http/conn_socket.ts";
import { upstreamClient } from "../../../gateway/upstream/http/http_client.ts";
import { gatewayTimers } from "../../../gateway/timers.ts";

const [url = "", count = "1"] = Deno.args;
const LIMIT_MS = 20_000;
const client = upstreamClient({
  connectTimeoutMs: LIMIT_MS,
  firstByteTimeoutMs: LIMIT_MS,
  idleTimeoutMs: LIMIT_MS,
}, gatewayTimers());

async function call(): Promise<string> {
  try {
    const { status, body } = await client.call({
      url,
      headers: {},
      body: new TextEncoder().encode("body"),
      signal: new AbortController().signal,
    });
    while (await body.read() !== undefined);
    return String(status);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function calls(): Promise<string[]> {
  return Promise.all(Array.from({ length: Number(count) }, call));
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

await calls();
// A connection is not reused in the turn in which its reply ended.
for (let turn = 0; turn < 5; turn++) {
  await new Promise<void>((resolve) => void setImmediate(resolve));
}
const idleMs = performance.now();
print("idle");
Deno.stdin.readSync(new Uint8Array(8));
while (performance.now() - idleMs < CHECK_AFTER_MS);
print(JSON.stringify(await calls()));
await client.close();
