/**
 * Makes a call to the address in its argument, whose reply stays open, and prints whether the
 * request's body can be collected meanwhile. Needs `--v8-flags=--expose-gc`.
 */
import { gatewayTimers } from "../../../gateway/timers.ts";
import { upstreamClient } from "../../../gateway/upstream/http/http_client.ts";

const PAUSE_MS = 20;
const MAX_COLLECTIONS = 100;
const BODY_BYTES = 256 * 1024;

const [url = ""] = Deno.args;
const limits = {
  connectTimeoutMs: 60_000,
  firstByteTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
};
const client = upstreamClient(limits, gatewayTimers());

async function isHeld(body: WeakRef<ArrayBufferLike>): Promise<boolean> {
  const gc: unknown = Reflect.get(globalThis, "gc");
  if (typeof gc !== "function") {
    throw new Error("cannot collect: --v8-flags=--expose-gc is missing");
  }
  for (let n = 0; n < MAX_COLLECTIONS; n++) {
    await new Promise<void>((resolve) => void setTimeout(resolve, PAUSE_MS));
    gc();
    if (body.deref() === undefined) return false;
  }
  return true;
}

function call() {
  const body = new Uint8Array(BODY_BYTES).fill(120);
  return {
    sent: new WeakRef(body.buffer),
    response: client.call({
      url,
      headers: {},
      body,
      signal: new AbortController().signal,
    }),
  };
}

const { sent, response } = call();
const { body } = await response;
await body.read();
// deno-lint-ignore no-console
console.log(await isHeld(sent) ? "held" : "collected");
body.cancel();
await client.close();
