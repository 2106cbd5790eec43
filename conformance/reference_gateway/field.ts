/** Rules about one field of a reply, which bring with them the faults that put a wrong value there. */
import type { Exchange } from "../evidence/exchange.ts";
import { sameJson } from "../evidence/json_path.ts";
import type { Json, JsonObject } from "@model-gateway/replay/json";
import type { Faults } from "../suite/check.ts";
import { type Finding, satisfies } from "../suite/finding.ts";
import type { Hooks } from "./hooks.ts";

/** A wrong value of a field, or how it follows from the reply; undefined removes the field. */
export type Wrong =
  | Json
  | undefined
  | ((body: JsonObject) => Json | undefined);

/** Puts a value at a path of replies. */
type Put = (path: string, value: Wrong) => Hooks;

/** The value itself. */
export function valueOf(wrong: Wrong, body: JsonObject): Json | undefined {
  return typeof wrong === "function" ? wrong(body) : wrong;
}

/** What is right at a path, and how it is described. */
export interface Right {
  readonly expected: string;
  readonly test: (value: Json | undefined) => boolean;
}

/** Exactly this value. */
export function literal(value: Json): Right {
  return {
    expected: JSON.stringify(value),
    test: (found) => sameJson(found, value),
  };
}

/** A string with more than this prefix. */
export function prefixed(prefix: string): Right {
  return {
    expected: `a string with the prefix ${prefix}`,
    test: (value) =>
      typeof value === "string" && value.startsWith(prefix) && value !== prefix,
  };
}

/** One word, without blanks and line ends. */
export const IS_WORD: Right = {
  expected: "one word",
  test: (value) => typeof value === "string" && /^[\w.:-]+$/.test(value),
};

/** A string that is not empty. */
export function words(expected: string): Right {
  return {
    expected,
    test: (value) => typeof value === "string" && value !== "",
  };
}

/** One of these strings. */
export function oneOf(values: readonly string[]): Right {
  return {
    expected: `one of ${values.join(", ")}`,
    test: (value) => typeof value === "string" && values.includes(value),
  };
}

/** The builder of rules about fields, for replies in which `put` puts a value. */
export function fieldRules(
  put: Put,
): (
  path: string,
  right: Right,
  wrong: Readonly<Record<string, Wrong>>,
  more?: Faults,
) => { each: (x: Exchange) => Finding; faults: Faults } {
  return (path, { expected, test }, wrong, more = {}) => ({
    each: (x) => satisfies(x, path, expected, test),
    faults: {
      ...Object.fromEntries(
        Object.entries(wrong).map(([name, value]) => [name, put(path, value)]),
      ),
      ...more,
    },
  });
}
