/** The line about scenarios that were played again, because something came late the first time. */
import { namesOf, type ScenarioRecord, unanswered } from "../suite/evidence.ts";

/** Undefined where nothing was played again with a better result. */
export function repeatedText(
  first: readonly ScenarioRecord[],
): string | undefined {
  if (first.length === 0) return undefined;
  const silent = unanswered(first);
  const what = silent.length === 0
    ? "something came late"
    : `${silent.length} requests were not answered in time: ${namesOf(silent)}`;
  return `Flaky: ${first.length} scenarios were played again, alone, and went well then. The first time ${what}. They are judged by the second time.`;
}
