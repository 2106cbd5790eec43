/** What a check says of one fact, and short ways to say it. */
import { at, brief, sameJson } from "../evidence/json_path.ts";
import type { Exchange, Frame } from "../evidence/exchange.ts";
import type { Json } from "../replay/json.ts";

/** One fact, judged. */
export interface Finding {
  /** `unclear`: only a model's skill decided it, so it is reported and does not fail. */
  readonly verdict: "pass" | "fail" | "unclear";
  /** What was looked at, such as `usage.input_tokens`. */
  readonly fact: string;
  /** What should be there. */
  readonly expected: string;
  /** What is there. */
  readonly actual: string;
  /** The exchange; undefined when it is about several or none. */
  readonly exchange?: Exchange;
  /** Number of the frame at fault. */
  readonly frame?: number;
}

/** Thrown by a judge whose evidence is missing; becomes a failure that begins with "not testable". */
export class NotTestable extends Error {
  /** The exchange that should have shown it. */
  readonly exchange: Exchange | undefined;
  /** Says what is missing. */
  constructor(message: string, exchange?: Exchange) {
    super(message);
    this.exchange = exchange;
  }
}

/**
 * The findings, of which there must be one: a check that looks only at replies of some kind cannot be judged when none is.
 * @throws {NotTestable} when there is none
 */
export function some(findings: readonly Finding[], what: string): Finding[] {
  if (findings.length === 0) throw new NotTestable(`no reply is ${what}`);
  return [...findings];
}

/** A fact that holds or not. */
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

/** A fact that only the model's skill decides: it passes or stays unclear. */
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

/** How to judge what a request demands of the model: a live one may fail to do it, one that is played does it. */
export function demanded(
  { mode }: { readonly mode: "live" | "replay" },
): typeof skill {
  return mode === "live" ? skill : fact;
}

/** The value at a path of the JSON reply equals this. */
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

/** The value at a path of the JSON reply satisfies the test. */
export function satisfies(
  exchange: Exchange,
  path: string,
  expected: string,
  test: (value: Json | undefined) => boolean,
): Finding {
  const found = at(exchange.json, path);
  return fact(test(found), path, expected, found, exchange);
}

/** The status is one of these. */
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

/** The JSON value of a frame, by path, equals this. */
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

/** A whole number of at least `least`. */
export function wholeNumber(
  least: number,
): (value: Json | undefined) => boolean {
  return (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= least;
}
