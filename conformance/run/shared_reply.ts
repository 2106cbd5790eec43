/** Recognises a reply that many failures share, so that a report names the cause once. */
import { outcome } from "../suite/evidence.ts";
import type { Result } from "./judge.ts";

/**
 * A reply gets a line of its own from this many failures on, if they are at least this share of
 * all.
 */
const MIN_FAILURES = 10;
const MIN_PART = 1 / 3;

/** The line about the error reply that many failures show; undefined when there is none. */
export function sharedReplyText(
  results: readonly Result[],
): string | undefined {
  const failed = results.filter(({ verdict }) => verdict === "fail");
  const counts = new Map<string, number>();
  for (const { findings } of failed) {
    const bad = findings.find(({ verdict }) => verdict === "fail")?.exchange;
    if (bad === undefined || bad.head?.status === 200) continue;
    const text = outcome(bad).slice(0, 120);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, left], [, right]) => right - left);
  if (most === undefined) return undefined;
  const [text, count] = most;
  return count >= MIN_FAILURES && count >= failed.length * MIN_PART
    ? `${count} of ${failed.length} failures begin with the same reply: ${text}`
    : undefined;
}
