/**
 * The gateway program: reads the settings, opens the store, serves requests, and stops in order.
 * `routes/` handles the requests.
 */
import { readFileSync } from "node:fs";
import { compose } from "./compose.ts";
import { banner } from "./gateway/banner.ts";
import { startEvents } from "./gateway/start_events.ts";
import { DEFAULT_ACCOUNT } from "./gateway/accounts/authenticator.ts";
import {
  type Config,
  ConfigError,
  isLoopback,
  readConfig,
} from "./gateway/settings/config.ts";
import { denoDefects } from "./gateway/observability/deno_defects.ts";
import { passwordsIn, watchFaults } from "./gateway/observability/faults.ts";
import {
  fileVersion,
  FileWatch,
  LOOK_MS,
} from "./gateway/settings/file_watch.ts";
import type { Gateway } from "./gateway/gateway.ts";
import { lineWriter } from "./gateway/observability/line_writer.ts";
import {
  exportedOutput,
  standardOutput,
} from "./gateway/observability/output.ts";
import { watchWarnings } from "./gateway/observability/platform_warnings.ts";
import { serveSteadily } from "./gateway/http/steady_server.ts";
import { listenError } from "./gateway/listen_error.ts";
import { eventLine, jsonLog } from "./gateway/observability/log.ts";
import type { ConnectionEvent } from "./gateway/observability/process_event.ts";
import { recordConfiguration } from "./gateway/settings/record_configuration.ts";
import {
  type ConfigurationEvent,
  loadedEvent,
  reload,
} from "./gateway/settings/reload.ts";
import { proxySecrets } from "./gateway/upstream/http/proxy.ts";
import { VERSION } from "./gateway/version.ts";
import { dispatch } from "./routes/mod.ts";
import { respondWhileStarting } from "./routes/starting.ts";
import { CAN_UPGRADE } from "./routes/web_socket/raw_upgrade.ts";

/**
 * Bypasses the console, whose lines Deno exports when it collects logs: a first key is only for the
 * operator at the terminal. Waits for a reader, so it is only for texts before the first request.
 */
const show = (text: string): void => {
  let rest = new TextEncoder().encode(`${text}\n`);
  while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
};

/** Read before the settings, whose refusal has this form, too. */
const isJson = Deno.env.get("GATEWAY_LOG_FORMAT") === "json";

function showKey(key: string): void {
  try {
    show(
      isJson
        ? eventLine({ type: "first_key", key })
        : `Key, shown this once: ${key}\n`,
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown reason";
    throw new ConfigError([
      `standard output: the first key could not be shown (${reason}), so none was made. Set GATEWAY_KEY, or let the output be read`,
    ]);
  }
}

/** Time for the last lines of the log, if their reader is slow. */
const LAST_LINES_MS = 1_000;
/** Later the console writes lines of the log. */
const { error: writeError } = console;
let closeLog = async (): Promise<void> => {};

async function exitOnConfigError<T>(step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    await closeLog();
    writeError(
      isJson
        ? eventLine({ type: "start_refused", error })
        : `The gateway cannot start:\n${error.message}`,
    );
    Deno.exit(2);
  }
}

if (Deno.args.includes("--version")) {
  show(VERSION);
  Deno.exit(0);
}
const readSettings = (): Config =>
  readConfig({
    env: Deno.env.toObject(),
    readFile: (path) => readFileSync(path, "utf8"),
  });
const config = await exitOnConfigError(readSettings);
const output = standardOutput();
const log = lineWriter({
  write: config.traces ? exportedOutput() : output,
  gap: (dropped) => eventLine({ type: "log_lines_dropped", lines: dropped }),
});
closeLog = () => log.close(LAST_LINES_MS);
const print = log.line;
let secrets = (): readonly string[] => [];
watchWarnings({ print, secrets: () => secrets() });
let reloadSettings = (): void => {};
let inForce = (): Config => config;
const watched = (): readonly string[] => {
  const { configFile, secretFiles, certificateFiles } = inForce();
  return [
    ...(configFile === undefined ? [] : [configFile]),
    ...[...secretFiles, ...certificateFiles].map(({ path }) => path),
  ];
};
const watch = watched().length === 0 ? undefined : new FileWatch(
  async () => (await Promise.all(watched().map(fileVersion))).join(),
  () => reloadSettings(),
);
// Notes the versions that were read: a file may change while the store opens.
await watch?.look();
/** Requests that arrive before the gateway is assembled wait for it, unless it waits for its store. */
const opened = Promise.withResolvers<Gateway>();
const storeDown = Promise.withResolvers<undefined>();
let handle = async (
  request: Request,
  peer: () => string,
): Promise<Response> => {
  const gateway = await Promise.race([opened.promise, storeDown.promise]);
  return gateway === undefined
    ? respondWhileStarting(request, config.basePath)
    : dispatch(gateway, request, peer);
};
const address = Promise.withResolvers<{ hostname: string; port: number }>();
let onConnectionEvent = (_: ConnectionEvent): void => {};
// Listens before anything is opened or created: a start that cannot listen must not store a key
// that was never shown.
const server = await exitOnConfigError(() => {
  try {
    return serveSteadily({
      listen: config.listen,
      onListen: address.resolve,
      handle: (request, peer) => handle(request, peer),
      onExhausted: (error) =>
        onConnectionEvent({ type: "connections_exhausted", error }),
      onAccepting: () => onConnectionEvent({ type: "connections_accepted" }),
    });
  } catch (error) {
    throw listenError(error, config.listen);
  }
});
// Imported only here: a gateway with vendors needs none of its fixtures.
const replay = config.replay
  ? await (await import("./replay/mod.ts")).startReplay()
  : undefined;
const now = () => Date.now();
const { gateway, accounts, events, configure } = await exitOnConfigError(() =>
  compose({
    config,
    ...(replay === undefined ? {} : { replayUrl: replay.url }),
    log: config.logRequests ? jsonLog(print, now) : () => {},
    onEvent(event) {
      if (event.type === "store_down") storeDown.resolve(undefined);
      print(eventLine(event));
    },
    droppedLines: log.dropped,
    showKey,
  })
);

inForce = () => gateway.config;

/** Time for clients to receive the error of an aborted call. */
const ABORT_GRACE_MS = 2_000;

let stopping = false;
/** Exit code of the process; 1 after an uncaught exception. */
let exitCode = 0;
async function stop(): Promise<void> {
  // On Ctrl-C, a terminal signals the task runner and this process, so a second signal is not a
  // request to stop faster.
  if (stopping) return;
  stopping = true;
  try {
    await shutDown();
  } catch (error) {
    exitCode = 1;
    reportError(error);
  }
  await closeLog();
  Deno.exit(exitCode);
}

async function shutDown(): Promise<void> {
  if (config.shutdownDelayMs > 0) {
    gateway.announceStop();
    await new Promise((resolve) => setTimeout(resolve, config.shutdownDelayMs));
  }
  gateway.drain();
  const timers: ReturnType<typeof setTimeout>[] = [];
  const graceEnded = new Promise<void>((resolve) => {
    timers.push(
      setTimeout(() => gateway.abortAll(), config.drainMs),
      // For a client that does not read the error of its aborted call.
      setTimeout(resolve, config.drainMs + ABORT_GRACE_MS),
    );
  });
  // The server does not count web sockets.
  await Promise.race([
    Promise.all([server.shutdown(), gateway.sockets.closed()]),
    graceEnded,
  ]);
  for (const timer of timers) clearTimeout(timer);
  const lastExport = gateway.otlpMetrics?.close();
  await gateway.live.close();
  await gateway.accounts.close();
  gateway.models.close();
  // Not awaited: on some versions of Deno an aborted connection never reports its end.
  void gateway.client.close();
  await replay?.close();
  await lastExport;
}

secrets = () => [
  ...gateway.models.secrets(),
  gateway.config.gatewayKey ?? "",
  gateway.config.adminToken ?? "",
  ...passwordsIn(gateway.config.databaseUrl),
  ...passwordsIn(gateway.config.databaseReadUrl ?? ""),
  ...Object.values(gateway.config.otlpMetrics?.headers ?? {}),
  ...[gateway.config, ...Object.values(gateway.config.vendors)].flatMap((
    { way },
  ) => way?.proxies.flatMap(proxySecrets) ?? []),
];
watchFaults({
  print,
  count: gateway.metrics.countFault,
  stop() {
    exitCode = 1;
    void stop();
  },
  secrets: () => secrets(),
  now,
});

// Registered before the address is shown: a supervisor that has read it may already send a signal.
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.addSignalListener(signal, stop);
}

const record = (event: ConfigurationEvent | { type: "started" }): void => {
  recordConfiguration(accounts.admin, gateway.config, event).catch((error) =>
    print(eventLine({ type: "configuration_not_recorded", error }))
  );
};
const onConfigurationEvent = (event: ConfigurationEvent): void => {
  events.count(event.type);
  print(eventLine(event));
  record(event);
};
onConnectionEvent = (event) => {
  events.count(event.type);
  print(eventLine(event));
};
reloadSettings = (): void =>
  reload({
    read: readSettings,
    current: () => gateway.config,
    configure,
    onEvent: onConfigurationEvent,
  });
record({ type: "started" });
if (watch !== undefined) {
  print(eventLine(loadedEvent(config)));
  Deno.unrefTimer(setInterval(() => void watch.look(), LOOK_MS));
  if (Deno.build.os !== "windows") {
    Deno.addSignalListener("SIGHUP", reloadSettings);
  }
}

handle = (request, peer) => dispatch(gateway, request, peer);
opened.resolve(gateway);
/** One click from the first start to the console; not where others can read the terminal's log. */
const signInCode = accounts.freshKey !== undefined &&
    gateway.console !== undefined && config.listen !== undefined &&
    isLoopback(config.listen.hostname)
  ? (await accounts.admin.signInCodes.create({
    accountId: DEFAULT_ACCOUNT,
    scope: "manage",
  })).text
  : undefined;
address.promise.then(({ hostname, port }) => {
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  const start = {
    config,
    baseUrl: `http://${host}:${port}`,
    ...(accounts.freshKey === undefined ? {} : { firstKey: accounts.freshKey }),
    ...(signInCode === undefined ? {} : { signInCode }),
    hasConsole: gateway.console !== undefined,
    isInMemory: accounts.isInMemory,
    models: gateway.models.models,
  };
  const notes = [
    ...denoDefects(Deno.version.deno),
    ...(CAN_UPGRADE || config.maxSockets === 0 ? [] : [
      `Deno ${Deno.version.deno} does not hand over the connections of requests as web sockets need it: there are no web sockets, and clients of the Responses format use HTTP.`,
    ]),
  ];
  const lines = isJson
    ? startEvents(start, notes).map((event) => eventLine(event))
    : [banner(start), ...notes];
  output([...lines, ""].join("\n")).catch(() => {
    // Standard output is closed; the log counts its own lines.
  });
});
