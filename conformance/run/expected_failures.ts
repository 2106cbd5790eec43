/**
 * The list of checks that are known to fail. An entry that passes is an error, so that the list
 * stays correct.
 */
import type { Check } from "../suite/check.ts";
import type { Result } from "./judge.ts";
import { UsageError } from "./settings.ts";

/**
 * Reads the list: one id per line, `#` begins a comment.
 * @throws {UsageError} when no check has one of the ids
 */
export function readExpectedFailures(
  text: string,
  checks: readonly Check[],
): ReadonlySet<string> {
  const ids = text.split("\n").map((line) => (line.split("#")[0] ?? "").trim())
    .filter((id) => id !== "");
  for (const id of ids) {
    if (!checks.some((check) => check.id === id)) {
      throw new UsageError(
        `--expected-failures names ${id}, which is not a check`,
      );
    }
  }
  return new Set(ids);
}

/** The entries whose checks passed in this run. */
export function staleEntries(
  expected: ReadonlySet<string>,
  results: readonly Result[],
): string[] {
  return results.filter(({ check, verdict }) =>
    verdict === "pass" && expected.has(check.id)
  ).map(({ check }) => check.id);
}
