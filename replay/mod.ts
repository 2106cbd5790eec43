/**
 * The replay server: an HTTP/1.1 server that answers like a model vendor, in all three dialects. A
 * request with a marker (`marker.ts`) is answered with the fixture that it names, any other with a
 * default reply; every exchange is logged.
 */
import { createServer, type Server, type Socket } from "node:net";
import { answerCall } from "./answer.ts";
import { type ParsedRequest, parseRequest } from "./parse_request.ts";
import { Connection, type ConnectionHost } from "./server/connection.ts";
import { Gates } from "./server/gates.ts";
import { ReplayLog } from "./server/replay_log.ts";
import type { ReplayRequest, Script, ScriptSource } from "./script.ts";

export type { Ending, ReplayLogEntry } from "./server/replay_log.ts";
export type {
  End,
  Framing,
  ReplayRequest,
  Script,
  ScriptSource,
  ScriptStep,
} from "./script.ts";
export { bytes, jsonScript, streamScript, wholeScript } from "./script.ts";
export type { Marker } from "./marker.ts";
export { answer, answerCall, replyScript } from "./answer.ts";
export type { NeutralBlock, NeutralReply } from "./vendors/neutral_reply.ts";
export { ReplayLog };

interface ReplayOptions {
  /**
   * Name or address to listen on, by default 127.0.0.1; 0.0.0.0 accepts connections from other
   * hosts.
   */
  readonly hostname?: string;
  /** Port; 0, the default, takes a free one. */
  readonly port?: number;
  /** Requests to keep in the log, by default 1000. */
  readonly keepEntries?: number;
  /** Larger request bodies are refused with 413; by default 64 MiB. */
  readonly maxBodyBytes?: number;
}

export interface ReplayServer extends AsyncDisposable {
  /**
   * Base URL for clients on this host, such as `http://127.0.0.1:PORT`, without a trailing slash.
   */
  readonly url: string;
  /** The port it listens on. */
  readonly port: number;
  /** The requests, and how each exchange ended. */
  readonly requestLog: ReplayLog;
  /** Registers the script for a marker name; it takes precedence over a fixture of that name. */
  script(name: string, source: ScriptSource): void;
  /** Opens a gate for all scripts that wait at it, now or later. */
  openGate(name: string): void;
  /** Resolves when a script reaches the gate, or has reached it before. */
  gateReached(name: string): Promise<void>;
  /** Stops listening and closes all connections; resolves when they are closed. */
  close(): Promise<void>;
}

/** Most markers with a nonce whose arrivals are counted; the least recent is forgotten first. */
const MAX_COUNTED_MARKERS = 1000;

/**
 * Starts a replay server.
 * @throws {Error} when the port is in use, or cannot be bound for another reason
 */
export async function startReplay(
  options: ReplayOptions = {},
): Promise<ReplayServer> {
  const requestLog = new ReplayLog(options.keepEntries ?? 1000);
  const gates = new Gates();
  const scripts = new Map<string, ScriptSource>();
  const attempts = new Map<string, number>();
  const connections = new Set<Connection>();
  let lastConnection = 0;
  let lastRequest = 0;

  const countAttempt = (call: ParsedRequest): ParsedRequest => {
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

  const choose = (call: ParsedRequest): Script => {
    const source = scripts.get(call.marker?.name ?? "");
    if (source === undefined) return answerCall(call);
    return typeof source === "function" ? source(call.request) : source;
  };

  const hostOf = (connection: number): ConnectionHost => ({
    gates,
    maxBodyBytes: options.maxBodyBytes ?? 64 * 1024 * 1024,
    beginExchange: (request: ReplayRequest) => {
      const call = countAttempt(parseRequest(request));
      const script = numbered(choose(call), ++lastRequest);
      const open = requestLog.begin({
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
  const close = async (): Promise<void> => {
    server.close();
    for (const connection of connections) connection.close();
    requestLog.close();
    await settled(closed);
  };
  return {
    url: `http://${reachable(hostname)}:${port}`,
    port,
    requestLog,
    script: (name, source) => {
      scripts.set(name, source);
    },
    openGate: (name) => gates.open(name),
    gateReached: (name) => gates.reached(name),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Gives the reply a unique request id, as vendors do: in its headers, and in the body of an error.
 */
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

/**
 * Replaces the request id; the length stays the same, because a content-length may already be set.
 */
function numberedBytes(piece: Uint8Array, digits: string): Uint8Array {
  const text = new TextDecoder().decode(piece);
  const own = text.replace(
    /("request_id":"req_\w*?)\d{6}"/,
    (_, before) => `${before}${digits}"`,
  );
  return own === text ? piece : new TextEncoder().encode(own);
}

/** The URL host at which clients on this host reach a server that listens on `hostname`. */
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
          new Error("Cannot read the port: the server has no address"),
        );}
    });
  });
}

/**
 * Longest wait for the `close` event: Deno 2.5 does not emit it when the last connection ended
 * before `close()`.
 */
const CLOSE_GRACE_MS = 200;

async function settled(closed: Promise<void>): Promise<void> {
  const { promise: grace, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, CLOSE_GRACE_MS);
  await Promise.race([closed, grace]);
  clearTimeout(timer);
}
