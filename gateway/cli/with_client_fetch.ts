import { gatewayTimers } from "../timers.ts";
import { clientFetch } from "../upstream/http/client_fetch.ts";
import { upstreamClient } from "../upstream/http/http_client.ts";
import type { Way } from "../upstream/http/way.ts";

/** The requests of a command have limits of their own. */
const LIMIT_MS = 60_000;

/** Runs a part of a command that makes requests, by a way; its connections end with it. */
export async function withClientFetch<T>(
  way: Way,
  run: (httpFetch: typeof fetch) => Promise<T>,
): Promise<T> {
  const client = upstreamClient(
    {
      connectTimeoutMs: LIMIT_MS,
      firstByteTimeoutMs: LIMIT_MS,
      idleTimeoutMs: LIMIT_MS,
    },
    gatewayTimers(),
    { way: () => way },
  );
  try {
    return await run(clientFetch(client));
  } finally {
    await client.close();
  }
}
