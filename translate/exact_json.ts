/**
 * Reading JSON whose numbers must survive: an id of twenty digits in a call's arguments is the caller's data, and a double
 * would round it. Such numbers become objects that `JSON.stringify` writes back digit by digit (ECMAScript's `JSON.rawJSON`).
 *
 * @module
 */
import { isObject, parseJson } from "./json.ts";

/** A number that a double may not hold, where a value may stand. Inside strings it costs a second look and nothing else. */
const LONG_NUMBER = /(?:^|[:,[\s])-?\d{16}/;

/** Like `parseJson`, but whole numbers beyond a double keep their text when they are written again. */
export function exactJson(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return parseJson(text);
  const rawJson: unknown = Reflect.get(JSON, "rawJSON");
  if (typeof rawJson !== "function") return parseJson(text);
  const kept = (...[, value, context]: unknown[]): unknown => {
    const source = isObject(context) ? context["source"] : undefined;
    return Number.isInteger(value) && !Number.isSafeInteger(value) &&
        typeof source === "string"
      ? rawJson(source)
      : value;
  };
  try {
    return JSON.parse(text, kept);
  } catch {
    // Not JSON, or nested too deep for the second look.
    return parseJson(text);
  }
}
