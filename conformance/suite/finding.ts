/** Findings: the judgement of a check on single facts, and functions that create them. */
import { at, brief, sameJson } from "../evidence/json_path.ts";
import type { Exchange, Frame } from "../evidence/exchange.ts";
import type { Json } from "@model-gateway/replay/json";

/** The judgement on one fact. */
export interface Finding {
  /** `unclear`: only a model's skill decided it; it is reported and is not a failure. */
  readonly verdict: "pass" | "fail" | "unclear";
  /** The value that was examined, such as `usage.input_tokens`. */
  readonly fact: string;
  /** Description of the right value. */
  readonly expected: string;
  readonly actual: string;
  /** The exchange; undefined when the finding is about several or none. */
  readonly exchange?: Exchange;
  /** Number of the wrong frame. */
  readonly frame?: number;
}

/**
 * Thrown by a judge whose evidence is missing; becomes a failure whose text begins with "not
 * testable".
 */
export class NotTestable extends Error {
  /** The exchange that should contain the evidence. */
  readonly exchange: Exchange | undefined;
  /** `message` describes what is missing. */
  constructor(message: string, exchange?: Exchange) {
    super(message);
    this.exchange = exchange;
  }
}

/**
 * Thrown by a judge of what only some kinds of upstreams have, where no upstream of the target is
 * of such a kind; the check is then unclear.
 */
export class NotOffered extends Error {}

/**
 * The same items, at least one.
 * @throws {NotOffered} when there is none
 */
export function offered<T>(all: readonly T[], upstream: string): T[] {
  if (all.length === 0) throw new NotOffered(`no upstream ${upstream}`);
  return [...all];
}

/**
 * The findings or replies, at least one: a check that reads only replies of some kind cannot be
 * judged when there is no such reply.
 * @throws {NotTestable} when there is none
 */
export function some<T>(all: readonly T[], what: string): T[] {
  if (all.length === 0) throw new NotTestable(`no reply is ${what}`);
  return [...all];
}

/** A finding that passes or fails. */
export function fact(
  holds: boolean,
  what: string,
  expected: string,
  actual: unknown,
  exchange?: Exchange,
  frame?: Frame | number,
): Finding {
  const number = typeof frame === "object" ? frame.at : frame;
  return {
    verdict: holds ? "pass" : "fail",
    fact: what,
    expected,
    actual: typeof actual === "string" ? actual : brief(actual),
    ...(exchange === undefined ? {} : { exchange }),
    ...(number === undefined ? {} : { frame: number }),
  };
}

/** The same in two steps: the fact as it was found, and what it must be. */
export function factOf(
  what: string,
  actual: unknown,
  exchange?: Exchange,
  frame?: Frame | number,
): { mustBe(expected: string, holds: boolean): Finding } {
  return {
    mustBe: (expected, holds) =>
      fact(holds, what, expected, actual, exchange, frame),
  };
}

/** Finding that a value is this one; undefined: that there is none. */
export function compare(
  what: string,
  actual: unknown,
  expected: Json | undefined,
  exchange?: Exchange,
  frame?: Frame | number,
): Finding {
  return fact(
    sameJson(actual as Json | undefined, expected),
    what,
    typeof expected === "string" ? expected : brief(expected ?? "none"),
    actual ?? "none",
    exchange,
    frame,
  );
}

/** A finding about a fact that only the model's skill decides: it passes or is unclear. */
export function skill(
  holds: boolean,
  what: string,
  expected: string,
  actual: unknown,
  exchange?: Exchange,
): Finding {
  const found = fact(holds, what, expected, actual, exchange);
  return holds ? found : { ...found, verdict: "unclear" };
}

/**
 * How to judge behaviour that a request demands of the model: a real model may fail to comply, the
 * replay upstream complies.
 */
export function demanded(
  { mode }: { readonly mode: "live" | "replay" },
): typeof skill {
  return mode === "live" ? skill : fact;
}

/** Finding that the value at a path of the JSON reply equals `expected`. */
export function equals(
  exchange: Exchange,
  path: string,
  expected: Json,
): Finding {
  const found = at(exchange.json, path);
  return fact(
    sameJson(found, expected),
    path,
    brief(expected),
    found,
    exchange,
  );
}

/** Finding that the value at a path of the JSON reply satisfies the test. */
export function satisfies(
  exchange: Exchange,
  path: string,
  expected: string,
  test: (value: Json | undefined) => boolean,
): Finding {
  const found = at(exchange.json, path);
  return fact(test(found), path, expected, found, exchange);
}

/** The same in two steps. */
export function valueAt(
  exchange: Exchange,
  path: string,
): {
  mustBe(expected: string, test: (value: Json | undefined) => boolean): Finding;
} {
  return {
    mustBe: (expected, test) => satisfies(exchange, path, expected, test),
  };
}

export function statusIs(exchange: Exchange, ...statuses: number[]): Finding {
  const status = exchange.head?.status;
  return fact(
    status !== undefined && statuses.includes(status),
    "status",
    statuses.join(" or "),
    status ?? exchange.problem ?? exchange.ending,
    exchange,
  );
}

/** Finding that the value at a path of a frame's JSON equals `expected`. */
export function frameEquals(
  exchange: Exchange,
  frame: Frame,
  path: string,
  expected: Json,
): Finding {
  const found = at(frame.json, path);
  return fact(
    sameJson(found, expected),
    `frame ${frame.at} ${path}`,
    brief(expected),
    found,
    exchange,
    frame,
  );
}

/** Tests for a whole number of at least `least`. */
export function wholeNumber(
  least: number,
): (value: Json | undefined) => boolean {
  return (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= least;
}
