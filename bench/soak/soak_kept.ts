/**
 * Memory that a finished call keeps, by kind: rounds of calls of one kind, each followed by forced
 * collections; reports the slope over the rounds.
 */
import {
  FAULTS,
  runClient,
  type SoakTally,
  type SoakTarget,
} from "./soak_clients.ts";
import type { KeptBytes } from "./soak_program.ts";
import type { Figures } from "../report/part_result.ts";
import { median } from "../report/statistics.ts";
import { tableLines } from "../report/table.ts";

/** Limits on the memory that a call keeps on average; judged from this number of calls on. */
const MAX_HEAP_BYTES = 256;
const MAX_RESIDENT_BYTES = 1024;
const MIN_CALLS_JUDGED = 20_000;

/** Rounds of calls of a kind; memory is measured after each. */
const ROUNDS = 3;
/** Rounds before the slope begins, in which code is compiled and buffers reach their size. */
const WARM_ROUNDS = 1;
const LANES = 48;

/** Kinds of calls. */
export const KEPT_KINDS: readonly string[] = ["good", ...FAULTS];

/** What is needed to measure. */
interface KeptSoak {
  /** Whom to call. */
  readonly address: SoakTarget;
  /** Which of {@linkcode KEPT_KINDS}. */
  readonly kinds: readonly string[];
  /** How long calls of all of them are made. */
  readonly seconds: number;
  /** Waits until nothing is under way, and measures. */
  measure(): Promise<KeptBytes>;
  /** Counts the calls by their outcomes. */
  readonly tally: SoakTally;
}

/** Makes the calls; returns a table, its figures and the findings. */
export async function keptByKind(
  { address, kinds, seconds, measure, tally }: KeptSoak,
): Promise<{
  readonly lines: readonly string[];
  readonly figures: readonly Figures[];
  readonly findings: string[];
}> {
  const roundMs = seconds * 1000 / kinds.length / ROUNDS;
  const rows: string[][] = [];
  const figures: Figures[] = [];
  const findings: string[] = [];
  for (const kind of kinds) {
    const points: (KeptBytes & { readonly calls: number })[] = [];
    const before = tally.calls;
    for (let round = 0; round < ROUNDS; round++) {
      const endMs = performance.now() + roundMs;
      {
        // Connections that are open would count as kept.
        using client = Deno.createHttpClient({ poolMaxIdlePerHost: LANES });
        const one = { ...address, client };
        const isOver = (): boolean => performance.now() > endMs;
        await Promise.all(
          Array.from(
            { length: LANES },
            () => runClient(one, tally, isOver, () => kind),
          ),
        );
      }
      address.upstream.closeIdle();
      points.push({ ...await measure(), calls: tally.calls - before });
    }
    const heap = slope(points, "heap");
    const resident = slope(points, "resident");
    const calls = (points.at(-1)?.calls ?? 0) -
      (points[WARM_ROUNDS - 1]?.calls ?? 0);
    figures.push({ kind, calls, heapBytes: heap, residentBytes: resident });
    rows.push([kind, String(calls), heap.toFixed(0), resident.toFixed(0)]);
    if (
      calls >= MIN_CALLS_JUDGED &&
      (heap > MAX_HEAP_BYTES || resident > MAX_RESIDENT_BYTES)
    ) {
      findings.push(
        `${kind}: a call keeps ${heap.toFixed(0)} bytes of heap, ${
          resident.toFixed(0)
        } of resident memory`,
      );
    }
  }
  const head = ["what was done", "calls", "heap B a call", "resident B a call"];
  return { lines: tableLines([head, ...rows]), figures, findings };
}

/** Bytes a call: the median of the slopes between any two points. */
function slope(
  points: readonly (KeptBytes & { readonly calls: number })[],
  what: keyof KeptBytes,
): number {
  const warm = points.slice(WARM_ROUNDS - 1);
  return median(
    warm.flatMap((from, at) =>
      warm.slice(at + 1).map((to) =>
        (to[what] - from[what]) / Math.max(1, to.calls - from.calls)
      )
    ),
  );
}
