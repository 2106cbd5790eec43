/**
 * The replay server: an HTTP/1.1 server that plays a model vendor's side in all three dialects. It answers by fixture when
 * the request carries a marker (`replay/marker.ts`) and improvises otherwise; every exchange goes into its journal.
 */
import { createServer, type Server, type Socket } from "node:net";
import { answerCall } from "./replay/answer.ts";
import { type Call, readCall } from "./replay/call.ts";
import { Connection, type ConnectionHost } from "./replay/connection.ts";
import { Gates } from "./replay/gates.ts";
import { Journal } from "./replay/journal.ts";
import type { ReplayRequest, Script, ScriptSource } from "./replay/script.ts";

export type { Ending, JournalEntry } from "./replay/journal.ts";
export type {
  End,
  Framing,
  ReplayRequest,
  Script,
  ScriptSource,
  Step,
} from "./replay/script.ts";
export {
  bytes,
  jsonScript,
  streamScript,
  wholeScript,
} from "./replay/script.ts";
export type { Marker } from "./replay/marker.ts";
export { answer } from "./replay/answer.ts";
export { Journal };

/** How to start; every field may be left out. */
export interface ReplayOptions {
  /** Name or address to listen on, by default 127.0.0.1; 0.0.0.0 lets other hosts in. */
  readonly hostname?: string;
  /** Port; 0, the default, takes a free one. */
  readonly port?: number;
  /** Journal entries to keep, by default 1000. */
  readonly keepEntries?: number;
  /** Larger request bodies are refused with 413; by default 64 MiB. */
  readonly maxBodyBytes?: number;
}

/** A running replay server. */
export interface ReplayServer {
  /** The address for callers on this host, such as `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string;
  /** The port it listens on. */
  readonly port: number;
  /** What arrived, and how each exchange ended. */
  readonly journal: Journal;
  /** Registers the script for a marker name; it wins over a fixture of that name. */
  script(name: string, source: ScriptSource): void;
  /** Opens a gate for every script that waits at it, now and later. */
  openGate(name: string): void;
  /** Settles once a script waits at the gate, or passed it. */
  gateReached(name: string): Promise<void>;
  /** Ends all connections and stops listening; settles when nothing is left open. */
  close(): Promise<void>;
}

/** Markers with a nonce whose arrivals are still counted. */
const MAX_COUNTED_MARKERS = 1000;

/**
 * Starts a replay server.
 * @throws when the port cannot be listened on
 */
export async function startReplay(
  options: ReplayOptions = {},
): Promise<ReplayServer> {
  const journal = new Journal(options.keepEntries ?? 1000);
  const gates = new Gates();
  const scripts = new Map<string, ScriptSource>();
  const attempts = new Map<string, number>();
  const connections = new Set<Connection>();
  let lastConnection = 0;
  let lastRequest = 0;

  const countAttempt = (call: Call): Call => {
    const { marker, request } = call;
    if (marker?.nonce === undefined) return call;
    const attempt = (attempts.get(marker.text) ?? 0) + 1;
    attempts.delete(marker.text);
    attempts.set(marker.text, attempt);
    const [oldest] = attempts.keys();
    if (attempts.size > MAX_COUNTED_MARKERS && oldest !== undefined) {
      attempts.delete(oldest);
    }
    return { ...call, request: { ...request, attempt } };
  };

  const choose = (call: Call): Script => {
    const source = scripts.get(call.marker?.name ?? "");
    if (source === undefined) return answerCall(call);
    return typeof source === "function" ? source(call.request) : source;
  };

  const hostOf = (connection: number): ConnectionHost => ({
    gates,
    maxBodyBytes: options.maxBodyBytes ?? 64 * 1024 * 1024,
    begin: (request: ReplayRequest) => {
      const call = countAttempt(readCall(request));
      const script = numbered(choose(call), ++lastRequest);
      const open = journal.begin({
        request: call.request,
        json: call.json,
        marker: call.marker,
        connection,
        status: script.status,
      });
      return { script, open };
    },
  });

  const server = createServer((socket: Socket) => {
    const connection = new Connection(socket, hostOf(++lastConnection));
    connections.add(connection);
    socket.on("close", () => connections.delete(connection));
  });
  const hostname = (options.hostname ?? "127.0.0.1").replace(
    /^\[(.*)\]$/,
    "$1",
  );
  const port = await listen(server, options.port ?? 0, hostname);
  const closed = new Promise<void>((resolve) =>
    server.on("close", () => resolve())
  );
  return {
    url: `http://${reachable(hostname)}:${port}`,
    port,
    journal,
    script: (name, source) => {
      scripts.set(name, source);
    },
    openGate: (name) => gates.open(name),
    gateReached: (name) => gates.reached(name),
    close: async () => {
      server.close();
      for (const connection of connections) connection.close();
      journal.close();
      await settled(closed);
    },
  };
}

/** The script with a request id of its own, as vendors give one to each reply; a refusal repeats it in its body. */
function numbered(script: Script, request: number): Script {
  const digits = String(request).padStart(6, "0");
  const headers = Object.entries(script.headers).map(([name, value]) => [
    name,
    /^(x-)?request-id$/.test(name) ? value.replace(/\d{6}$/, digits) : value,
  ]);
  const steps = script.status === 200
    ? script.steps
    : script.steps.map((step) =>
      step.step === "bytes"
        ? { ...step, bytes: numberedBytes(step.bytes, digits) }
        : step
    );
  return { ...script, headers: Object.fromEntries(headers), steps };
}

/** As many bytes as before, so that their length may have been told. */
function numberedBytes(piece: Uint8Array, digits: string): Uint8Array {
  const text = new TextDecoder().decode(piece);
  const own = text.replace(
    /("request_id":"req_\w*?)\d{6}"/,
    (_, before) => `${before}${digits}"`,
  );
  return own === text ? piece : new TextEncoder().encode(own);
}

/** The host by which this host reaches a server that listens there, as URLs write it. */
function reachable(hostname: string): string {
  const host = { "0.0.0.0": "127.0.0.1", "::": "::1" }[hostname] ?? hostname;
  return host.includes(":") ? `[${host}]` : host;
}

function listen(
  server: Server,
  port: number,
  hostname: string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      server.off("error", reject);
      const address = server.address();
      if (typeof address === "object" && address !== null) {
        resolve(address.port);
      } else {reject(
          new Error("Cannot tell the port: the server has no address"),
        );}
    });
  });
}

/** Deno 2.5 does not tell that a server is closed when its last connection ended before; then this is waited for. */
const CLOSE_GRACE_MS = 200;

async function settled(closed: Promise<void>): Promise<void> {
  const { promise: grace, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, CLOSE_GRACE_MS);
  await Promise.race([closed, grace]);
  clearTimeout(timer);
}
