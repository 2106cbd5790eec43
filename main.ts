/**
 * The gateway as a program: settings in, store open, `Deno.serve`, an orderly stop. What it does with a request is `routes/`.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { startReplay } from "./conformance/replay.ts";
import { openAccounts } from "./gateway/open_accounts.ts";
import { openDesk } from "./gateway/admin/desk.ts";
import { banner } from "./gateway/banner.ts";
import { ConfigError, readConfig } from "./gateway/config.ts";
import { createGateway } from "./gateway/gateway.ts";
import { lineWriter } from "./gateway/line_writer.ts";
import { eventLine, jsonLog } from "./gateway/log.ts";
import { gatewayTimers } from "./gateway/timers.ts";
import { offerOf } from "./gateway/upstream/candidates.ts";
import { upstreamClient } from "./gateway/upstream/http_client.ts";
import { replayVendors } from "./gateway/upstream/replay_vendors.ts";
import { dispatch } from "./routes/mod.ts";

/** Not through the console, whose lines Deno exports where it collects them: a fresh key is for whoever starts the gateway. */
const show = (text: string): void => {
  let rest = new TextEncoder().encode(`${text}\n`);
  while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
};

async function orExit<T>(step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // deno-lint-ignore no-console
    console.error(`The gateway cannot start:\n${error.message}`);
    Deno.exit(2);
  }
}

const config = await orExit(() =>
  readConfig({
    env: Deno.env.toObject(),
    readFile: (path) => readFileSync(path, "utf8"),
  })
);
// deno-lint-ignore no-console
const write = (lines: string): void => console.log(lines);
const lines = lineWriter(write);
addEventListener("unload", lines.flush);
// Where Deno exports lines, each is one.
const print = config.traces ? write : lines.line;
const { accounts, admin, freshKey, forgetful } = await orExit(() =>
  openAccounts(config, (event) => print(eventLine(event)))
);
const replay = config.replay ? await startReplay() : undefined;
const offer = offerOf(
  config.catalogue,
  replay === undefined ? config.vendors : replayVendors(
    replay.url,
    config.catalogue.vendors,
  ),
);
const timers = gatewayTimers();
const client = upstreamClient(config, timers);
const now = () => Date.now();
const log = config.logRequests ? jsonLog(print, now) : () => {};
// Loaded where somebody collects spans, so that it costs nothing elsewhere.
const spans = config.traces
  ? await import("./gateway/call_span.ts")
  : undefined;
const gateway = createGateway({
  config,
  accounts,
  desk: openDesk(admin, config.adminToken, now),
  offer,
  client,
  timers,
  now,
  random: Math.random,
  ...(spans === undefined ? {} : { startSpan: spans.spanStarter() }),
  log,
});

const onListen = (
  { hostname, port }: { hostname: string; port: number },
): void => {
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  show(banner({
    config,
    baseUrl: `http://${host}:${port}`,
    ...(freshKey === undefined ? {} : { freshKey }),
    forgetful,
    models: offer.models.map((model) => model.id),
  }));
};

/** How long callers have to hear that they were broken off. */
const LAST_WORDS_MS = 2_000;

let stopping = false;
async function stop(): Promise<void> {
  // A terminal sends Ctrl-C to the task runner and to this process: the second one is no wish to be quicker.
  if (stopping) return;
  stopping = true;
  gateway.drain();
  const timers: ReturnType<typeof setTimeout>[] = [];
  const givenUp = new Promise<void>((resolve) => {
    timers.push(
      setTimeout(() => gateway.breakOffAll(), config.drainMs),
      // A caller that does not even read that it was broken off.
      setTimeout(resolve, config.drainMs + LAST_WORDS_MS),
    );
  });
  await Promise.race([server.shutdown(), givenUp]);
  for (const timer of timers) clearTimeout(timer);
  await accounts.close();
  // Not waited for: on some versions of Deno a connection that was broken off never reports its end.
  void client.close();
  await replay?.close();
  Deno.exit(0);
}

// Before it listens: who has read the address may already send a signal.
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.addSignalListener(signal, stop);
}
const server = Deno.serve(
  { ...config.listen, onListen },
  (request) => dispatch(gateway, request),
);
