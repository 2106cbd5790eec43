/**
 * Sets a value deep inside a JSON text that people wrote: everything else keeps its bytes.
 */
import {
  type TopLevel,
  topLevelOf,
} from "../../translate/bytes/json_splice.ts";

/**
 * The text with the value at a path of keys, indented as the text is. Objects that are absent on
 * the way are added.
 *
 * @param text a JSON object; each value on the way is an object or absent
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const text = '{\n  "a": { "b": 1 }\n}\n';
 * assert.equal(setField(text, ["a", "b"], 2), '{\n  "a": { "b": 2 }\n}\n');
 * ```
 */
export function setField(
  text: string,
  path: readonly string[],
  value: unknown,
): string {
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  return withField(text, path, value, { unit, level: 1 });
}

interface Indent {
  readonly unit: string;
  /** Depth of the fields of the object at hand. */
  readonly level: number;
}

function withField(
  text: string,
  [key = "", ...rest]: readonly string[],
  value: unknown,
  indent: Indent,
): string {
  const top = spansOf(text);
  // A parser takes the last of several fields with one key.
  const field = top.fields.findLast((one) => one.key === key);
  const deeper = { ...indent, level: indent.level + 1 };
  if (field === undefined) {
    const nested = rest.reduceRight<unknown>(
      (inner, name) => ({ [name]: inner }),
      value,
    );
    const last = top.fields.at(-1);
    const at = last?.valueEnd ?? top.closing;
    const line = `\n${indent.unit.repeat(indent.level)}`;
    return text.slice(0, at) + (last === undefined ? "" : ",") +
      `${line}${JSON.stringify(key)}: ${written(nested, indent)}` +
      (last === undefined ? `\n${indent.unit.repeat(indent.level - 1)}` : "") +
      text.slice(at);
  }
  const own = text.slice(field.valueStart, field.valueEnd);
  return text.slice(0, field.valueStart) +
    (rest.length === 0
      ? written(value, indent)
      : withField(own, rest, value, deeper)) +
    text.slice(field.valueEnd);
}

/** Positions in the text: those of `topLevelOf` are of bytes. */
function spansOf(text: string): TopLevel {
  const bytes = new TextEncoder().encode(text);
  const top = topLevelOf(bytes, text);
  if (bytes.length === text.length) return top;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const position = (at: number): number =>
    decoder.decode(bytes.subarray(0, at)).length;
  return {
    ...top,
    closing: position(top.closing),
    fields: top.fields.map(({ key, keyStart, valueStart, valueEnd }) => ({
      key,
      keyStart: position(keyStart),
      valueStart: position(valueStart),
      valueEnd: position(valueEnd),
    })),
  };
}

function written(value: unknown, { unit, level }: Indent): string {
  return JSON.stringify(value, null, unit)
    .replaceAll("\n", `\n${unit.repeat(level)}`);
}
