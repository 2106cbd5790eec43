/** Recognises a target that stopped during the run, so that its report begins with the cause. */
import type { ScenarioRecord } from "../suite/evidence.ts";

/** A target is gone when it answers no request of so many scenarios at the end of a run. */
const SILENT_SCENARIOS = 3;

/**
 * The line about a target that stopped during the run, with the last requests that it answered;
 * undefined when it answered to the end. `records` are in the order in which scenarios ended.
 */
export function goneText(
  records: readonly ScenarioRecord[],
): string | undefined {
  const played = records.filter(({ exchanges }) => exchanges.length > 0);
  const isSilent = ({ exchanges }: ScenarioRecord): boolean =>
    exchanges.every(({ head }) => head === undefined);
  const last = played.findLastIndex((record) => !isSilent(record));
  const silent = played.length - 1 - last;
  if (silent < SILENT_SCENARIOS) return undefined;
  const before = played[last];
  return before === undefined
    ? "The target answers no request. Is it still running?"
    : `The target stopped during the run: after scenario ${before.scenario} it answered no request of ${silent} more scenarios. Its log and the first failure with "not answered" show why; all later failures follow from it.`;
}
