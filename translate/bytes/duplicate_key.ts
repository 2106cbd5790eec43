/**
 * Finds a key that occurs twice in an object of a JSON text: `JSON.parse` keeps the last of them
 * without a word, and other parsers the first.
 */
import { parseJson } from "./json.ts";
import { stringEnd } from "./string_end.ts";

/** An object or array that is being read. */
interface Level {
  /** Keys so far; undefined: an array, or an object whose keys do not matter. */
  readonly keys: Set<string> | undefined;
  readonly isArray: boolean;
  /** Whether it is, or is inside, a value whose keys do not matter. */
  readonly isFree: boolean;
  /** The key of the value that is read, in an object. */
  key: string;
  /** The index of the value that is read, in an array. */
  index: number;
  /** Whether the next string is a key. */
  expectsKey: boolean;
}

const NOTHING: ReadonlySet<string> = new Set();

/**
 * The path of the first repeated key; undefined if there is none. The text must be valid JSON.
 *
 * @param freeForm keys whose values are not searched, nor anything inside them
 */
export function duplicateKey(
  json: string,
  freeForm: ReadonlySet<string> = NOTHING,
): string | undefined {
  const levels: Level[] = [];
  let level: Level | undefined;
  for (let i = 0; i < json.length; i++) {
    switch (json[i]) {
      case "{":
      case "[": {
        const isArray = json[i] === "[";
        const isFree: boolean = level !== undefined &&
          (level.isFree || (!isArray && freeForm.has(level.key)));
        level = {
          keys: isArray || isFree ? undefined : new Set(),
          isArray,
          isFree,
          key: "",
          index: 0,
          expectsKey: !isArray,
        };
        levels.push(level);
        break;
      }
      case "}":
      case "]":
        levels.pop();
        level = levels.at(-1);
        break;
      case ",":
        if (level === undefined) break;
        level.index++;
        level.expectsKey = !level.isArray;
        break;
      case '"': {
        const end = stringEnd(json, i);
        if (level?.expectsKey === true) {
          level.expectsKey = false;
          level.key = String(parseJson(json.slice(i, end)));
          if (level.keys?.has(level.key) === true) return pathOf(levels);
          level.keys?.add(level.key);
        }
        i = end - 1;
      }
    }
  }
  return undefined;
}

function pathOf(levels: readonly Level[]): string {
  let path = "";
  for (const { isArray, index, key } of levels) {
    path += isArray ? `[${index}]` : path === "" ? key : `.${key}`;
  }
  return path;
}

/**
 * The number of keys of all objects in a value that was parsed from JSON, of at most `MAX_LEVELS`
 * levels. A text with more keys than that has a duplicate.
 */
export function keysIn(value: object): number {
  let keys = 0;
  if (Array.isArray(value)) {
    for (const entry of value) {
      if (typeof entry === "object" && entry !== null) keys += keysIn(entry);
    }
    return keys;
  }
  for (const key in value) {
    keys++;
    const inner: unknown = (value as Record<string, unknown>)[key];
    if (typeof inner === "object" && inner !== null) keys += keysIn(inner);
    // A number that keeps its text (see `exact_json.ts`).
    else if (key === "rawJSON" && Object.isFrozen(value)) return 0;
  }
  return keys;
}
