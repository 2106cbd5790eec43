/**
 * A target is a server that accepts the clients' dialects and calls the mock upstream. Each kind of
 * target has a file of its own in this folder.
 */
import type { UpstreamDialect } from "../mock/mock_bodies.ts";
import type { CallerDialect } from "../load/reply_judge.ts";

/** The dialects on both sides of a target. */
export interface Direction {
  /** Dialect of the client. */
  readonly caller: CallerDialect;
  /** Dialect of the upstream. */
  readonly upstream: UpstreamDialect;
}

/** Where and how to send a target's requests. */
export interface Address {
  /** Host name or IP address. */
  readonly host: string;
  /** TCP port. */
  readonly port: number;
  /** Path and query. */
  readonly path: string;
  /** Additional headers, such as the key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Model id in the request. */
  readonly model: string;
}

/** A running target. Disposing of it stops it. */
export interface Target extends AsyncDisposable {
  /** Id of its process; absent when it is unknown. */
  readonly pid?: number;
  /** Time from its start until it was ready; absent when the benchmark did not start it. */
  readonly readyMs?: number;
  /** Where its `loop_probe.ts` answers; absent: it has none. */
  readonly probeUrl?: string;
  /**
   * True: its replies have known faults, which are reported but do not fail the run while the text
   * is complete.
   */
  readonly lenient?: boolean;
  /** Where to send the requests of a direction; undefined when the target does not support it. */
  address(direction: Direction): Address | undefined;
}

export interface TargetKind {
  /** Name in the tables. */
  readonly name: string;
  /** Description, with the version where it matters. */
  readonly about: string;
  /**
   * Prepares everything that its starts share.
   *
   * @throws {Skipped} when it cannot be measured on this machine
   */
  prepare(upstream: Upstream): Promise<Site>;
}

/** An installed target: its packages, its store with keys. Disposing of it deletes them. */
export interface Site extends AsyncDisposable {
  /** Starts the target. */
  start(options?: StartOptions): Promise<Target>;
}

/** How to start a target. */
export interface StartOptions {
  /**
   * Whether to measure how long its event loop is blocked (`cpu`: also by processor time), if it
   * can.
   */
  readonly probed?: boolean | "cpu";
}

/** The site of a target whose starts share nothing. */
export function siteFor(
  start: (options?: StartOptions) => Promise<Target>,
): Promise<Site> {
  return Promise.resolve({
    start,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

/** The running mock upstream. */
export interface Upstream {
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Process id. */
  readonly pid: number;
  /** File of the authority that signed its certificate; absent: it does not use TLS. */
  readonly authority?: string;
}

/** The address of the mock upstream for programs that call it, without a path. */
export function upstreamUrl({ port, authority }: Upstream): string {
  return authority === undefined
    ? `http://127.0.0.1:${port}`
    : `https://localhost:${port}`;
}

/** The variables that make Deno programs trust the mock upstream's certificate. */
export function trusting(
  { authority }: Upstream,
): Readonly<Record<string, string>> {
  return authority === undefined ? {} : { DENO_CERT: authority };
}

/** Thrown when a target cannot be measured on this machine; the message explains why. */
export class Skipped extends Error {}

/**
 * Path of the endpoint of each client dialect, the same in every gateway; `{model}` and `{method}`
 * are filled for each scenario.
 */
export const CALLER_PATHS: Readonly<Record<CallerDialect, string>> = {
  messages: "/v1/messages",
  chat_completions: "/v1/chat/completions",
  generate_content: "/v1beta/models/{model}:{method}",
  responses: "/v1/responses",
};

/** Whether a direction needs no translation. */
export function isPassThrough({ caller, upstream }: Direction): boolean {
  return caller === upstream;
}

/** The address of a proxy that does not translate; undefined for a direction with translation. */
export function passThroughAddress(
  port: number,
  direction: Direction,
): Address | undefined {
  return isPassThrough(direction)
    ? {
      host: "127.0.0.1",
      port,
      path: CALLER_PATHS[direction.caller],
      headers: {},
      model: "mock-model",
    }
    : undefined;
}
