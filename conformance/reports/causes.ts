/**
 * Causes before symptoms: many failures may begin with the same exchange. Each of those is named
 * once, with what it explains.
 */
import { outcome } from "../suite/evidence.ts";
import type { Result } from "../run/judge.ts";

/** An exchange is named when so many failures begin with it. */
const MIN_FAILURES = 3;
const MAX_CAUSES = 5;
const MAX_CHARS = 120;

/** The lines about the exchanges with which most failures begin; undefined when there are none. */
export function causesText(results: readonly Result[]): string | undefined {
  const failed = results.filter(({ verdict }) => verdict === "fail");
  const begins = new Map<string, { failures: number; shows: string }>();
  for (const { findings } of failed) {
    const bad = findings.find(({ verdict }) => verdict === "fail")?.exchange;
    if (bad === undefined) continue;
    const name = `${bad.scenario}/${bad.label}`;
    const seen = begins.get(name);
    if (seen !== undefined) seen.failures++;
    else begins.set(name, { failures: 1, shows: outcome(bad) });
  }
  const causes = [...begins].filter(([, { failures }]) =>
    failures >= MIN_FAILURES
  ).toSorted(([, a], [, b]) => b.failures - a.failures).slice(0, MAX_CAUSES);
  if (causes.length === 0) return undefined;
  const explained = causes.reduce((sum, [, one]) => sum + one.failures, 0);
  return [
    `${explained} of ${failed.length} failures begin with ${
      causes.length === 1 ? "one exchange" : `${causes.length} exchanges`
    }:`,
    ...causes.map(([name, { failures, shows }]) =>
      `  ${failures} with ${name}: ${shows.slice(0, MAX_CHARS)}`
    ),
  ].join("\n");
}
