/**
 * A bounded sample of the calls under way: every account has its oldest and its newest calls in it,
 * so that neither a call that hangs nor one that has just begun is missed.
 */
import type { Sample, UnderWay } from "./live_call.ts";

/** A call under way, not described yet. */
export interface UnderWaySource {
  readonly accountId: string;
  describe(nowMs: number): UnderWay;
}

/** Most calls in the sample of a process. */
const MAX_UNDER_WAY = 100;
/** Accounts whose left-out calls are counted one by one. */
const MAX_COUNTED = 200;

/** Describes up to `max` of the calls; `calls` are in the order of their beginning. */
export function underWaySample(
  calls: Iterable<UnderWaySource>,
  nowMs: number,
): Sample<UnderWay> {
  const groups = new Map<string, UnderWaySource[]>();
  let total = 0;
  for (const call of calls) {
    total++;
    const group = groups.get(call.accountId);
    if (group === undefined) groups.set(call.accountId, [call]);
    else group.push(call);
  }
  const chosen = total <= MAX_UNDER_WAY
    ? [...groups.values()].flat()
    : choose([...groups.values()], MAX_UNDER_WAY);
  const left: Record<string, number> = {};
  if (total > chosen.length) {
    for (const { accountId } of chosen) {
      groups.get(accountId)?.pop();
    }
    const rest = [...groups].filter(([, { length }]) => length > 0);
    for (const [accountId, { length }] of rest.slice(0, MAX_COUNTED)) {
      left[accountId] = length;
    }
  }
  return {
    total,
    left,
    data: chosen.map((call) => call.describe(nowMs))
      .toSorted((a, b) => a.arrivedMs - b.arrivedMs),
  };
}

/** Takes one call of each account in turn: its oldest, its newest, its second oldest, … */
function choose(
  groups: readonly (readonly UnderWaySource[])[],
  max: number,
): readonly UnderWaySource[] {
  const chosen: UnderWaySource[] = [];
  for (let round = 0; chosen.length < max; round++) {
    const before = chosen.length;
    for (const group of groups) {
      if (round >= group.length || chosen.length >= max) continue;
      const half = Math.floor(round / 2);
      const call = group[round % 2 === 0 ? half : group.length - 1 - half];
      if (call !== undefined) chosen.push(call);
    }
    if (chosen.length === before) break;
  }
  return chosen;
}
