/**
 * What is right at a path of a reply, and what is nearly right: a rule about a field brings with it
 * the faults that put a near miss there.
 */
import { mapValues } from "@model-gateway/replay/map_values";
import {
  isObject,
  type Json,
  type JsonObject,
} from "@model-gateway/replay/json";
import type { Exchange, Frame } from "../evidence/exchange.ts";
import { at, sameJson } from "../evidence/json_path.ts";
import { fact, type Finding } from "../suite/finding.ts";
import type { Misses } from "../suite/check.ts";
import type { Hooks } from "../reference_gateway/hooks.ts";

/** A wrong value of a field, or how it follows from the reply; undefined removes the field. */
type Wrong =
  | Json
  | undefined
  | ((body: JsonObject) => Json | undefined);

export function valueOf(wrong: Wrong, body: JsonObject): Json | undefined {
  return typeof wrong === "function" ? wrong(body) : wrong;
}

/** What is right at a path, how it is described, and values that are nearly right. */
export interface Right {
  readonly expected: string;
  readonly test: (value: Json | undefined) => boolean;
  /** By what is wrong with the value. */
  readonly misses: Readonly<Record<string, Json | undefined>>;
}

const NONE = { absent: undefined, null: null } as const;

/** A matcher, with the given values that it refuses. */
export function right(
  expected: string,
  test: Right["test"],
  misses: Right["misses"],
): Right {
  const wrong = Object.entries({ ...NONE, ...misses }).filter(([, value]) =>
    !test(value)
  );
  return { expected, test, misses: Object.fromEntries(wrong) };
}

export function literal(value: Json): Right {
  return right(
    JSON.stringify(value),
    (found) => sameJson(found, value),
    typeof value === "string"
      ? {
        "other-case": value.toUpperCase(),
        "cut": value.slice(0, -1),
        "longer": `${value}.chunk`,
        "other": "another",
      }
      : { text: JSON.stringify(value), list: [value] },
  );
}

/** A string with more than this prefix. */
export function prefixed(prefix: string): Right {
  return right(
    `a string with the prefix ${prefix}`,
    (value) =>
      typeof value === "string" && value.startsWith(prefix) && value !== prefix,
    {
      "prefix-only": prefix,
      "other-prefix": "id_0123456789",
      "other-case": `${prefix.toUpperCase()}1`,
      "number": 42,
    },
  );
}

/** One word, without blanks and line ends. */
export const IS_WORD: Right = right(
  "one word",
  (value) => typeof value === "string" && /^[\w.:-]+$/.test(value),
  { "empty": "", "blank-after": "id_1 ", "two-lines": "id_1\nid_2" },
);

export function words(expected: string): Right {
  return right(expected, (value) => typeof value === "string" && value !== "", {
    empty: "",
    number: 1,
  });
}

export function oneOf(values: readonly string[]): Right {
  const [first = ""] = values;
  return right(
    `one of ${values.join(", ")}`,
    (value) => typeof value === "string" && values.includes(value),
    {
      "empty": "",
      "other-case": first.toUpperCase(),
      "cut": first.slice(0, -1),
      "other": "another",
      "list": [first],
    },
  );
}

/** A whole number of at least `least`. */
export function whole(least: number, expected = "an integer"): Right {
  return right(
    expected,
    (value) => Number.isInteger(value) && Number(value) >= least,
    { "text": "12", "fraction": 12.5, "less": least - 1 },
  );
}

/** Bounds of a time in seconds since 1970: 2020 to 2100 or so. Milliseconds are far above. */
const SECONDS = { from: 1_577_836_800, to: 4_102_444_800 } as const;

export const IS_SECONDS: Right = right(
  "whole seconds since 1970",
  (value) =>
    Number.isInteger(value) && Number(value) >= SECONDS.from &&
    Number(value) < SECONDS.to,
  {
    "milliseconds": 1_780_000_000_000,
    "text": "1780000000",
    "zero": 0,
    "fraction": 1_780_000_000.5,
  },
);

/** A list of at least so many objects. */
export function objects(least: number): Right {
  return right(
    "an array of objects",
    (value) =>
      Array.isArray(value) && value.length >= least &&
      value.every((item: Json) => isObject(item)),
    { empty: [], object: {}, words: ["one"] },
  );
}

export const IS_STRING: Right = right(
  "a string",
  (value) => typeof value === "string",
  { number: 1, object: {} },
);

/** The same, or nothing. */
export function optional({ expected, test, misses }: Right): Right {
  return right(
    `${expected}, or absent`,
    (value) => value === undefined || test(value),
    misses,
  );
}

/** Where replies have a field. */
export interface Place {
  /** The objects that have it: the body, or what frames carry. */
  readonly objects: (
    x: Exchange,
  ) => readonly { readonly json: Json | undefined; readonly frame?: Frame }[];
  /** Puts a value at a path of these objects. */
  readonly put: (path: string, value: Wrong) => Hooks;
}

/** A rule about one field of a place: judged in each of its objects, with its near misses. */
export function fieldOf(
  place: Place,
  path: string,
  { expected, test, misses }: Right,
): { each: (x: Exchange) => Finding; misses: Misses } {
  return {
    each: (x) => {
      const objects = place.objects(x);
      const bad = objects.find(({ json }) => !test(at(json, path)));
      const { json, frame } = bad ?? objects[0] ?? { json: undefined };
      const holds = bad === undefined && objects.length > 0;
      return fact(holds, path, expected, at(json, path), x, frame);
    },
    misses: mapValues(misses, (value) => place.put(path, value)),
  };
}

/** Rules about several fields of a place, by path. */
export function fieldsOf(
  place: Place,
  rights: Readonly<Record<string, Right>>,
): { each: (x: Exchange) => Finding[]; misses: Misses } {
  const fields = Object.entries(rights).map(([path, right]) =>
    [path, fieldOf(place, path, right)] as const
  );
  return {
    each: (x) => fields.map(([, { each }]) => each(x)),
    misses: Object.fromEntries(
      fields.flatMap(([path, { misses }]) =>
        Object.entries(misses).map((
          [name, hooks],
        ) => [`${path}-${name}`, hooks])
      ),
    ),
  };
}
