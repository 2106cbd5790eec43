/**
 * A whole gateway on loopback for tests: real sockets on both sides, a replay server as every
 * vendor, and one known key.
 */
import { type ReplayServer, startReplay } from "../../replay/mod.ts";
import { type Config, readConfig } from "../../gateway/settings/config.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { LogEntry } from "../../gateway/observability/log.ts";
import type { Timers } from "../../gateway/timers.ts";
import type { ConfiguredAccounts } from "../../gateway/open_accounts.ts";
import { compose, type ComposeOptions } from "../../compose.ts";
import { dispatch } from "../../routes/mod.ts";
import { compact } from "../../translate/bytes/compact.ts";
import { TEST_KEY } from "./test_key.ts";
import { serveLoopback } from "./serve_loopback.ts";
import { smallBody } from "./small_body.ts";

export { TEST_KEY };

/** A running test gateway. Disposing of it closes it. */
export interface TestGateway extends AsyncDisposable {
  readonly url: string;
  readonly gateway: Gateway;
  readonly accounts: ConfiguredAccounts;
  /** Serves as every vendor; its `requestLog` lists the requests that arrived there. */
  readonly replay: ReplayServer;
  readonly logged: readonly LogEntry[];
  /** Resolves with the first log entry, past or future, that `wanted` accepts. */
  logEntry(wanted: (entry: LogEntry) => boolean): Promise<LogEntry>;
  /** Events of the store and of credentials so far. */
  readonly events: readonly GatewayEvent[];
  /** Resolves with the first event, past or future, that `wanted` accepts. */
  event(wanted: (event: GatewayEvent) => boolean): Promise<GatewayEvent>;
  /**
   * Sends a POST with {@linkcode TEST_KEY}; a string body is sent verbatim, anything else as JSON.
   */
  post(
    path: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<Response>;
  /** Sends a {@linkcode smallBody} to `/v1/messages`. */
  call(
    fields?: Parameters<typeof smallBody>[0],
    key?: string,
  ): Promise<Response>;
  /** Resolves once the charges and the records of all calls are in the store. */
  recorded(): Promise<void>;
  /** Makes another content of the configuration file take effect, as a reload does. */
  configure(configFile: string): void;
  /** Aborts running calls and closes every socket on both sides. */
  close(): Promise<void>;
}

/** What operators see of the store and of credentials. */
type GatewayEvent = Parameters<
  NonNullable<ComposeOptions["onEvent"]>
>[0];

/** Differences from a gateway with nothing configured. */
export interface TestGatewayOptions {
  /** Settings by name; absent: defaults. */
  readonly env?: Readonly<Record<string, string>>;
  /** Content of the configuration file; absent: there is none. */
  readonly configFile?: string;
  /**
   * True: call the vendors that the settings name; absent: the replay server serves as every
   * vendor.
   */
  readonly realVendors?: boolean;
  /** The clock, in Unix milliseconds; absent: the system's. */
  readonly now?: () => number;
  /** Absent: the system's timers. */
  readonly timers?: Timers;
  /** Absent: `Math.random`. */
  readonly random?: () => number;
  /** Addresses and keys of the vendors; absent: all at the replay server. */
  readonly access?: Config["vendors"];
}

/** One model id of each vendor family. */
export const FAMILIES: readonly string[] = [
  "vendora-opus-4-8",
  "vendorb-5.5",
  "vendorc-3-pro",
  "vendord-m3",
];

/** The name of the configuration file, which is no file of the disk. */
const CONFIG_FILE = "gateway.json";

export async function startTestGateway(
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  const replay = await startReplay();
  const settings = (file: string): Config =>
    readConfig({
      env: {
        GATEWAY_KEY: TEST_KEY,
        DATABASE_URL: "sqlite::memory:",
        ...(options.configFile === undefined
          ? {}
          : { GATEWAY_CONFIG: CONFIG_FILE }),
        ...options.env,
      },
      readFile: (path) =>
        path === CONFIG_FILE ? file : Deno.readTextFileSync(path),
    });
  const config = settings(options.configFile ?? "{}");
  const log = awaited<LogEntry>();
  const events = awaited<GatewayEvent>();
  const { gateway, accounts: books, configure } = await compose({
    config,
    ...(options.realVendors === true ? {} : { replayUrl: replay.url }),
    ...compact({
      vendors: options.access,
      timers: options.timers,
      now: options.now,
      random: options.random,
    }),
    log: log.add,
    onEvent: events.add,
  });
  const server = serveLoopback((request, info) =>
    dispatch(gateway, request, () => info.remoteAddr.hostname)
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  const close = async (): Promise<void> => {
    gateway.abortAll();
    await server.shutdown();
    gateway.models.close();
    await gateway.client.close();
    await gateway.live.close();
    await gateway.accounts.close();
    await replay.close();
  };
  const post: TestGateway["post"] = (path, body, headers = {}, signal) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-api-key": TEST_KEY,
        ...headers,
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
      signal: signal ?? null,
    });
  return {
    url,
    gateway,
    accounts: books,
    replay,
    logged: log.all,
    logEntry: log.first,
    events: events.all,
    event: events.first,
    post,
    call: (fields, key = TEST_KEY) =>
      post("/v1/messages", smallBody(fields), { "x-api-key": key }),
    async recorded() {
      await books.flush();
      await books.calls?.flush();
    },
    configure: (file) => configure(settings(file)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A list whose next items can be awaited. */
function awaited<T>(): {
  readonly all: readonly T[];
  readonly add: (item: T) => void;
  readonly first: (wanted: (item: T) => boolean) => Promise<T>;
} {
  const all: T[] = [];
  const waiting = new Set<(item: T) => void>();
  return {
    all,
    add(item) {
      all.push(item);
      for (const check of [...waiting]) check(item);
    },
    first: (wanted) =>
      new Promise((resolve) => {
        const past = all.find(wanted);
        if (past !== undefined) return resolve(past);
        const check = (item: T): void => {
          if (!wanted(item)) return;
          waiting.delete(check);
          resolve(item);
        };
        waiting.add(check);
      }),
  };
}
