/**
 * An undici agent over Deno connections, for one way out. A connection attempt belongs to the call
 * that waits for it and ends with that call.
 *
 * Imports undici's agent, not all of undici: its `fetch`, web sockets and caches double the time
 * that the import takes.
 */
import type { Dispatcher } from "undici";
// @ts-types="./undici/agent.d.ts"
import Agent from "undici/lib/dispatcher/agent.js";
// @ts-types="./undici/client.d.ts"
import Client from "undici/lib/dispatcher/client.js";
// @ts-types="./undici/pool.d.ts"
import Pool from "undici/lib/dispatcher/pool.js";
import { ConnSocket } from "./conn_socket.ts";
import { type Dial, dialer, type DialOptions } from "./dial.ts";
import { StrayBytes } from "./stray_bytes.ts";
import type { Proxy } from "./proxy.ts";
import { SystemEvents } from "./system_events.ts";
import { destinationOf, DIRECT, type Way } from "./way.ts";

/**
 * Dispatch options with a way to abort the connection attempt. (The handler cannot carry it: undici
 * wraps handlers.)
 */
export interface DialingOptions extends Dispatcher.DispatchOptions {
  /**
   * Called when a connection attempt begins; aborting the controller ends it. Called again if an
   * idle connection turns out to be closed.
   */
  onDialing(attempt: AbortController): void;
}

/** Creates an agent that keeps idle connections for `keepAliveMs`. */
export function dialingAgent(
  keepAliveMs: number,
  options: DialOptions = {},
): Agent {
  const dial = dialer(options);
  const { way = DIRECT } = options;
  const events = new SystemEvents();
  // Outlive the pools: undici drops a pool whose last connection was closed.
  const known = new Map<string, StrayBytes>();
  return new Agent({
    // undici's own time limits are off: their resolution is one second, and their clock outlives
    // the calls.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    pipelining: 1,
    factory: (origin, options) => {
      const strays = known.get(String(origin)) ?? new StrayBytes();
      known.set(String(origin), strays);
      return new Pool(origin, {
        ...options,
        factory: (origin, options) =>
          new DialingClient(
            origin,
            options,
            dial,
            wholeRequests(new URL(origin), way),
            events,
            strays,
          ),
      });
    },
  });
}

type OnDialing = DialingOptions["onDialing"];

/** Carries one call at a time, because `pipelining` is 1. */
class DialingClient extends Client {
  readonly #current: { onDialing?: OnDialing | undefined };
  readonly #origin: URL;
  readonly #proxy: Proxy | undefined;

  constructor(
    origin: URL,
    options: Client.Options,
    dial: Dial,
    proxy: Proxy | undefined,
    events: SystemEvents,
    strays: StrayBytes,
  ) {
    const current: { onDialing?: OnDialing | undefined } = {};
    super(origin, {
      ...options,
      connect: ({ hostname, port, protocol }, done) => {
        const attempt = new AbortController();
        const isTls = protocol === "https:";
        dial({
          hostname,
          port: Number(port || (isTls ? 443 : 80)),
          isTls,
          signal: attempt.signal,
        }).then(
          (conn) => {
            current.onDialing = undefined;
            // undici accepts any duplex, but its types name only its own sockets.
            done(null, new ConnSocket(conn, events, strays) as never);
          },
          (error) => {
            current.onDialing = undefined;
            done(error, null);
          },
        );
        current.onDialing?.(attempt);
      },
    });
    this.#current = current;
    this.#origin = origin;
    this.#proxy = proxy;
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    if ("onDialing" in options) {
      this.#current.onDialing = (options as DialingOptions).onDialing;
    }
    return super.dispatch(
      this.#proxy === undefined
        ? options
        : toProxy(options, this.#proxy, this.#origin),
      handler,
    );
  }
}

/** The proxy of an address without TLS, which takes whole requests instead of opening a tunnel. */
function wholeRequests(origin: URL, way: Way): Proxy | undefined {
  const { destination, isTls } = destinationOf(origin);
  return isTls ? undefined : way.proxyTo(destination, isTls);
}

/** A request as a proxy takes it (RFC 9112, section 3.2.2). */
function toProxy(
  options: Dispatcher.DispatchOptions,
  { authorization }: Proxy,
  origin: URL,
): Dispatcher.DispatchOptions {
  return {
    ...options,
    path: `${origin.origin}${options.path}`,
    headers: {
      ...options.headers as Record<string, string>,
      ...(authorization === undefined
        ? {}
        : { "proxy-authorization": authorization }),
    },
  };
}
