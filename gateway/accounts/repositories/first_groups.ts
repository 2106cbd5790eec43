/**
 * Sums up numbers by group, and keeps only the first groups after a cursor: a report over
 * millions of end users needs memory for one page.
 *
 * @module
 */

/** The values of a group's fields, in the order of the grouping. */
export type GroupKey = readonly (string | number)[];

export interface GroupSums {
  readonly key: GroupKey;
  readonly sums: number[];
}

/** Collects groups. */
export interface FirstGroups {
  /** Adds numbers to a group. */
  add(key: GroupKey, sums: readonly number[]): void;
  /** A group that at least as many precede as were wanted: those above it are of no use. */
  bound(): GroupKey | undefined;
  /** The first groups in ascending order, at most as many as were wanted. */
  sorted(): readonly GroupSums[];
}

/** Collects the first `count` groups after `after`. */
export function firstGroups(count: number, after?: GroupKey): FirstGroups {
  const groups = new Map<string, GroupSums>();
  /** Groups above it are not among the first. */
  let bound: GroupKey | undefined;
  const sorted = (): readonly GroupSums[] =>
    [...groups.values()].sort((a, b) => compare(a.key, b.key)).slice(0, count);
  return {
    add(key, sums) {
      if (after !== undefined && compare(key, after) <= 0) return;
      if (bound !== undefined && compare(key, bound) > 0) return;
      const place = key.join("\0");
      const group = groups.get(place);
      if (group !== undefined) {
        for (let at = 0; at < sums.length; at++) {
          group.sums[at] = (group.sums[at] ?? 0) + (sums[at] ?? 0);
        }
        return;
      }
      groups.set(place, { key, sums: [...sums] });
      if (groups.size < 2 * count + 100) return;
      const first = sorted();
      bound = first.at(-1)?.key;
      groups.clear();
      for (const one of first) groups.set(one.key.join("\0"), one);
    },
    bound: () => bound,
    sorted,
  };
}

function compare(a: GroupKey, b: GroupKey): number {
  for (let at = 0; at < a.length; at++) {
    const one = a[at];
    const other = b[at];
    if (one === undefined || other === undefined || one === other) continue;
    return one < other ? -1 : 1;
  }
  return 0;
}
