/**
 * A whole gateway on loopback for tests: real sockets on both sides, a replay server as the vendors, one known key.
 *
 * @module
 */
import { type ReplayServer, startReplay } from "../conformance/replay.ts";
import { openDesk } from "../gateway/admin/desk.ts";
import { type Config, readConfig } from "../gateway/config.ts";
import { createGateway, type Gateway } from "../gateway/gateway.ts";
import type { LogEntry } from "../gateway/log.ts";
import { gatewayTimers, type Timers } from "../gateway/timers.ts";
import { offerOf } from "../gateway/upstream/candidates.ts";
import { type AccountsInUse, openAccounts } from "../gateway/open_accounts.ts";
import { upstreamClient } from "../gateway/upstream/http_client.ts";
import { replayVendors } from "../gateway/upstream/replay_vendors.ts";
import { dispatch } from "../routes/mod.ts";

/** The key that a test gateway accepts. */
export const TEST_KEY = "sk-test-0123456789abcdef";

/** A running test gateway. */
export interface TestGateway {
  /** Without a slash at the end. */
  readonly url: string;
  /** To look into, or to stop. */
  readonly gateway: Gateway;
  /** The accounts, with what operators do. */
  readonly books: AccountsInUse;
  /** Plays every vendor; its journal tells what arrived there. */
  readonly replay: ReplayServer;
  /** What was logged so far. */
  readonly logged: readonly LogEntry[];
  /** Settles with the first log entry, past or future, that the test wants. */
  logEntry(wanted: (entry: LogEntry) => boolean): Promise<LogEntry>;
  /** Posts with {@linkcode TEST_KEY}: a string as it is, anything else as JSON. */
  post(
    path: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<Response>;
  /** Breaks off what runs and closes every socket on both sides. */
  close(): Promise<void>;
}

/** What may differ from a gateway with nothing configured. */
export interface TestGatewayOptions {
  /** Settings by name; absent: every default. */
  readonly env?: Readonly<Record<string, string>>;
  /** The text of the file that `GATEWAY_CONFIG` names; absent: an empty one. */
  readonly configFile?: string;
  /** True: the vendors that the settings name are called. Absent: the replay server stands in for every vendor. */
  readonly realVendors?: boolean;
  /** Absent: the system's. */
  readonly now?: () => number;
  /** Absent: the system's. */
  readonly timers?: Timers;
  /** Absent: chance. */
  readonly random?: () => number;
  /** Where the vendors are, and with which keys; absent: all at the replay server. */
  readonly access?: Config["vendors"];
}

/** One id of each family, and the dialect its upstream is called in by a caller of the chat format. */
export const FAMILIES: readonly string[] = [
  "vendora-opus-4-8",
  "vendorb-5.5",
  "vendorc-3-pro",
  "vendord-m3",
];

/** Starts one. */
export async function startTestGateway(
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  const replay = await startReplay();
  const config = readConfig({
    env: {
      GATEWAY_KEY: TEST_KEY,
      DATABASE_URL: "sqlite::memory:",
      ...options.env,
    },
    readFile: () => options.configFile ?? "{}",
  });
  const books = await openAccounts(config, () => {});
  const logged: LogEntry[] = [];
  const waiting = new Set<(entry: LogEntry) => void>();
  const systemTimers = gatewayTimers();
  const client = upstreamClient(config, systemTimers);
  const gateway = createGateway({
    config,
    accounts: books.accounts,
    desk: openDesk(books.admin, config.adminToken, () => Date.now()),
    offer: offerOf(
      config.catalogue,
      options.access ??
        (options.realVendors === true
          ? config.vendors
          : replayVendors(replay.url, config.catalogue.vendors)),
    ),
    client,
    timers: options.timers ?? systemTimers,
    now: options.now ?? (() => Date.now()),
    random: options.random ?? Math.random,
    log(entry) {
      logged.push(entry);
      for (const tell of [...waiting]) tell(entry);
    },
  });
  const server = Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    onListen: () => {},
  }, (request) => dispatch(gateway, request));
  const url = `http://127.0.0.1:${server.addr.port}`;
  return {
    url,
    gateway,
    books,
    replay,
    logged,
    logEntry: (wanted) =>
      new Promise((resolve) => {
        const past = logged.find(wanted);
        if (past !== undefined) return resolve(past);
        const tell = (entry: LogEntry): void => {
          if (!wanted(entry)) return;
          waiting.delete(tell);
          resolve(entry);
        };
        waiting.add(tell);
      }),
    post: (path, body, headers = {}, signal) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-api-key": TEST_KEY,
          ...headers,
        },
        body: typeof body === "string" ? body : JSON.stringify(body),
        signal: signal ?? null,
      }),
    async close() {
      gateway.breakOffAll();
      await server.shutdown();
      await client.close();
      await gateway.accounts.close();
      await replay.close();
    },
  };
}
