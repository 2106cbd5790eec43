/**
 * What the rounds come to: a row for each scenario on each target, with what this project's gateway is to reach.
 *
 * @module
 */
import { MOST_EVENT_DELAY_MS, mostOfPortkey, mostRatio } from "./goals.ts";
import type { Cell, Pair } from "./rounds.ts";
import { median, type Spread, spreadOf } from "./statistics.ts";

/** A row of the result. A figure that is absent could not be measured. */
export interface Row {
  /** `messages-to-chat/whole-small` */
  readonly scenario: string;
  /** As the tables call it. */
  readonly target: string;
  /** What the processor time and the rate are told for. */
  readonly unit: "request" | "event";
  /** Processor time of the target's process. */
  readonly cpuMicros?: Spread;
  /** The same over the raw pipe's in the same round. */
  readonly cpuRatio?: Spread;
  /** The same over Portkey's, medians; this project's gateway only. */
  readonly cpuOfPortkey?: number;
  /** In real time, median. */
  readonly perSecond: number;
  /** From a request to the end of its reply, medians over the rounds. */
  readonly waitMs: { readonly p50: number; readonly p99: number };
  /** Wait, or delay of an event, over the direct connection's in the same round. */
  readonly addedMs?: { readonly p50: Spread; readonly p99: Spread };
  /** What this project's gateway is to reach. */
  readonly goals?: readonly Goal[];
  /** Wrong replies. */
  readonly faults: number;
  /** What was wrong with them, a few. */
  readonly told: readonly string[];
  /** What is wrong with replies whose text is whole, where that is known of the target. */
  readonly overlooked: readonly string[];
}

/** Something to be reached. */
export interface Goal {
  /** The figure, in a few words. */
  readonly of: string;
  /** What was measured. */
  readonly is: number;
  /** The most that it may be. */
  readonly atMost: number;
  /** Whether it is no more. */
  readonly reached: boolean;
}

/** Whether a target is this project's gateway. */
export function isOwn(target: string): boolean {
  return /^gateway( \d+)?$/.test(target);
}

/** Makes the rows. */
export function summarised(cells: readonly Cell[]): readonly Row[] {
  const portkeys = new Map<string, number>();
  for (const { scenario, target, pairs } of cells) {
    const cpu = cpuOf(pairs);
    if (target === "portkey" && cpu !== undefined) {
      portkeys.set(scenario.name, cpu.median);
    }
  }
  return cells.filter(({ pairs }) => pairs.length > 0).map((cell) =>
    rowOf(cell, portkeys.get(cell.scenario.name))
  );
}

function rowOf(cell: Cell, portkey: number | undefined): Row {
  const { scenario, target, pairs } = cell;
  const results = pairs.map(({ sample }) => sample.result);
  const cpuMicros = cpuOf(pairs);
  const cpuRatio = spreadOf(
    pairs.flatMap(({ sample, base }) =>
      sample.cpuMicros === undefined || base.cpuMicros === undefined
        ? []
        : sample.cpuMicros / base.cpuMicros
    ),
  );
  const cpuOfPortkey = isOwn(target) && portkey !== undefined &&
      cpuMicros !== undefined
    ? cpuMicros.median / portkey
    : undefined;
  const addedMs = addedOf(cell);
  const figures = {
    ...(cpuRatio === undefined ? {} : { cpuRatio }),
    ...(cpuOfPortkey === undefined ? {} : { cpuOfPortkey }),
    ...(addedMs === undefined ? {} : { addedMs }),
  };
  const goals = isOwn(target) ? goalsOf(cell, figures) : [];
  return {
    scenario: scenario.name,
    target,
    unit: scenario.kind.unit,
    ...(cpuMicros === undefined ? {} : { cpuMicros }),
    ...figures,
    perSecond: median(pairs.map(({ sample }) => sample.perSecond)),
    waitMs: {
      p50: median(results.map(({ waits }) => waits.p50)),
      p99: median(results.map(({ waits }) => waits.p99)),
    },
    ...(goals.length === 0 ? {} : { goals }),
    faults: results.reduce((sum, { faults }) => sum + faults, 0),
    told: distinct(results.flatMap(({ told }) => told)).slice(0, 3),
    overlooked: distinct(results.flatMap(({ overlooked }) => overlooked)),
  };
}

function cpuOf(pairs: readonly Pair[]): Spread | undefined {
  return spreadOf(pairs.flatMap(({ sample }) => sample.cpuMicros ?? []));
}

function addedOf(
  { scenario: { kind }, pairs }: Cell,
): { readonly p50: Spread; readonly p99: Spread } | undefined {
  if (kind.measures === "cpu") return undefined;
  const times = kind.measures === "delay" ? "delays" : "waits";
  const added = pairs.flatMap(({ sample, base }) => {
    const one = sample.result[times];
    const other = base.result[times];
    return one === undefined || other === undefined
      ? []
      : { p50: one.p50 - other.p50, p99: one.p99 - other.p99 };
  });
  const p50 = spreadOf(added.map((one) => one.p50));
  const p99 = spreadOf(added.map((one) => one.p99));
  return p50 === undefined || p99 === undefined ? undefined : { p50, p99 };
}

function goalsOf(
  { scenario }: Cell,
  { cpuRatio, cpuOfPortkey, addedMs }: Pick<
    Row,
    "cpuRatio" | "cpuOfPortkey" | "addedMs"
  >,
): readonly Goal[] {
  const most = mostRatio(scenario);
  return [
    ...(cpuRatio === undefined || most === undefined
      ? []
      : [goal("raw pipe", cpuRatio.median, most)]),
    ...(cpuOfPortkey === undefined
      ? []
      : [goal("Portkey", cpuOfPortkey, mostOfPortkey(scenario))]),
    ...(addedMs === undefined || scenario.kind.measures !== "delay"
      ? []
      : [goal("delay", addedMs.p50.median, MOST_EVENT_DELAY_MS)]),
  ];
}

/** Holds a figure against the most that it may be. */
export function goal(of: string, is: number, atMost: number): Goal {
  return { of, is, atMost, reached: is <= atMost };
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
