/** The failures on the screen: the first in full, the rest in a line each. */
import type { Screen } from "./screen.ts";
import type { Result } from "../run/judge.ts";

/** Failures that the screen shows in full; the file of the run has all of them. */
export const SHOWN_IN_FULL = 10;

/** Longest line of a failure that is not shown in full. */
const MAX_LINE = 200;

/**
 * The texts to print, one for each result without a pass. `explanations` has the full text of a
 * check by its id, `expected` the ids of checks that are known to fail.
 */
export function failureTexts(
  results: readonly Result[],
  explanations: ReadonlyMap<string, string>,
  expected: ReadonlySet<string>,
  verdict: Screen["verdict"],
): string[] {
  const bad = results.filter(({ check }) => explanations.has(check.id));
  return bad.map((result, at) => {
    const { id, level } = result.check;
    const known = expected.has(id) ? " (expected)" : "";
    const head = `${verdict(result.verdict)}  ${id}  ${level}${known}`;
    return at < SHOWN_IN_FULL
      ? `\n${head}\n${explanations.get(id)}`
      : `${at === SHOWN_IN_FULL ? "\n" : ""}${head}  ${briefOf(result)}`;
  });
}

/** What was expected and what came, in one line. */
function briefOf({ findings, why = "" }: Result): string {
  const bad = findings.find(({ verdict }) => verdict !== "pass");
  const text = bad === undefined
    ? why
    : `${bad.fact}: expected ${bad.expected}, was ${bad.actual}`;
  return text.replaceAll(/\s+/g, " ").slice(0, MAX_LINE);
}
