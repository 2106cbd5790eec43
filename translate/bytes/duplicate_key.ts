/**
 * Finds a key that occurs twice in an object of a JSON text: `JSON.parse` keeps the last of them
 * without a word.
 *
 * @module
 */

/** A string, or a character that gives JSON its structure. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** An object or array that is being read. */
interface Level {
  /** Keys so far; undefined: an array. */
  readonly keys: Set<string> | undefined;
  readonly at: string;
  key: string;
  expectsKey: boolean;
}

/** The path of the first repeated key, with dots; undefined if there is none. The text must be valid JSON. */
export function duplicateKey(json: string): string | undefined {
  const levels: Level[] = [];
  for (const [token] of json.matchAll(TOKEN)) {
    const level = levels.at(-1);
    switch (token) {
      case "{":
      case "[":
        levels.push({
          keys: token === "{" ? new Set() : undefined,
          at: level === undefined ? "" : pathOf(level),
          key: "",
          expectsKey: token === "{",
        });
        break;
      case "}":
      case "]":
        levels.pop();
        break;
      case ",":
        if (level?.keys !== undefined) level.expectsKey = true;
        break;
      case ":":
        break;
      default: {
        if (level?.keys === undefined || !level.expectsKey) break;
        level.expectsKey = false;
        level.key = String(JSON.parse(token));
        if (level.keys.has(level.key)) return pathOf(level);
        level.keys.add(level.key);
      }
    }
  }
  return undefined;
}

function pathOf({ at, key }: Level): string {
  return at === "" || key === "" ? at + key : `${at}.${key}`;
}
