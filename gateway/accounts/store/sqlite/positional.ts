/**
 * Statements with the parameters `$1`, `$2`, … for SQLite: Deno before 2.6 binds numbered ones
 * incorrectly, so each place gets a value of its own.
 */
import type { SqlValue } from "../store.ts";

export interface Positional {
  /** The text with a `?` for each parameter. */
  readonly text: string;
  order(values: readonly SqlValue[]): readonly SqlValue[];
}

export function positional(text: string): Positional {
  const places = [...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n) - 1);
  return {
    text: text.replaceAll(/\$\d+/g, "?"),
    order: places.every((at, i) => at === i)
      ? (values) => values
      : (values) => places.map((at) => values[at] ?? null),
  };
}
