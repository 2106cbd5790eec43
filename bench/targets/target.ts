/**
 * What is measured: something that listens, is asked in the callers' dialects and calls the mock upstream. Each kind has a file of
 * its own in this folder.
 *
 * @module
 */
import type { UpstreamDialect } from "../mock_replies.ts";
import type { CallerDialect } from "../reply_judge.ts";

/** From which dialect to which. */
export interface Direction {
  /** What the caller speaks. */
  readonly caller: CallerDialect;
  /** What the upstream speaks. */
  readonly upstream: UpstreamDialect;
}

/** How a target is asked. */
export interface Address {
  /** Name or address. */
  readonly host: string;
  /** Where it listens. */
  readonly port: number;
  /** With its query. */
  readonly path: string;
  /** The key and whatever else it wants. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the request names as its model. */
  readonly model: string;
}

/** A target that runs. Disposing of it stops it. */
export interface Target extends AsyncDisposable {
  /** Of its process; absent: it has none, or none that can be looked at. */
  readonly pid?: number;
  /** From its start until it was ready, in milliseconds; absent: it was not started here. */
  readonly readyMs?: number;
  /** True: its replies are known to have faults, which are told but do not fail the run as long as no event is lost. */
  readonly lenient?: boolean;
  /** How it is asked in a direction; undefined: it does not know this one. */
  address(direction: Direction): Address | undefined;
}

/** A kind of target. */
export interface TargetKind {
  /** As the tables call it. */
  readonly name: string;
  /** What it is, with its version where that matters. */
  readonly about: string;
  /**
   * Gets everything ready for starts.
   *
   * @throws {Skipped} where it cannot be had here
   */
  prepare(upstream: Upstream): Promise<Site>;
}

/** What starts of a target share: what is installed, a store with its keys. Disposing of it deletes it. */
export interface Site extends AsyncDisposable {
  /** Starts one. */
  start(): Promise<Target>;
}

/** For targets whose starts share nothing. */
export function siteFor(start: () => Promise<Target>): Promise<Site> {
  return Promise.resolve({
    start,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

/** The mock upstream, as targets see it. */
export interface Upstream {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Of its process. */
  readonly pid: number;
}

/** A target that cannot be measured here. The message says why. */
export class Skipped extends Error {}

/** The path of an endpoint, as every gateway has it. */
export const CALLER_PATHS: Readonly<Record<CallerDialect, string>> = {
  messages: "/v1/messages",
  chat_completions: "/v1/chat/completions",
};

/** Whether nothing is to be translated. */
export function isPassThrough({ caller, upstream }: Direction): boolean {
  return caller === upstream;
}

/** The address of a proxy that hands everything through: it knows the directions without translation. */
export function handedThrough(
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
