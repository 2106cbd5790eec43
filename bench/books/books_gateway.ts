import { ADMIN_TOKEN } from "../load/admin_post.ts";
import { probeFlag } from "../measure/loop_probe.ts";
import { storeProbeFlag } from "../measure/store_probe.ts";
import { freePort, startServer } from "../targets/programs.ts";

/** A gateway over a filled store, with the addresses of its probes. */
interface BooksGateway extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** Blocks of its event loop. */
  readonly loopUrl: string;
  /** Times of its statements. */
  readonly storeUrl: string;
}

/** Starts a gateway with probes of its event loop and its statements. */
export async function startBooksGateway(
  databaseUrl: string,
  env: Readonly<Record<string, string>>,
): Promise<BooksGateway> {
  const [port, loopPort, storePort] = [freePort(), freePort(), freePort()];
  const url = `http://127.0.0.1:${port}`;
  const server = await startServer(Deno.execPath(), {
    args: [
      "run",
      "--allow-all",
      probeFlag(loopPort, true),
      storeProbeFlag(storePort),
      `--lock=${new URL("../../deno.lock", import.meta.url).pathname}`,
      new URL("../../main.ts", import.meta.url).href,
    ],
    env: {
      HOST: "127.0.0.1",
      PORT: String(port),
      DATABASE_URL: databaseUrl,
      GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
      NO_COLOR: "1",
      ...env,
    },
  }, `${url}/healthz`);
  return {
    ...server,
    url,
    loopUrl: `http://127.0.0.1:${loopPort}`,
    storeUrl: `http://127.0.0.1:${storePort}`,
  };
}
