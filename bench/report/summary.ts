/**
 * Summarises the rounds: one row for each scenario on each target, with the goals of this project's
 * gateway.
 */
import { compact } from "../../replay/compact.ts";
import { MAX_EVENT_DELAY_MS, maxCpuRatio, maxPortkeyRatio } from "./goals.ts";
import type { Cell, SamplePair } from "../measure/rounds.ts";
import { median, type Spread, spreadOf } from "./statistics.ts";

/** A row of the result. An absent figure could not be measured. */
export interface Row {
  /** Name of the scenario, such as `messages-to-chat/whole-small`; `tls/…` over TLS. */
  readonly scenario: string;
  /** Name of the target. */
  readonly target: string;
  /** Unit of the processor time and of the rate. */
  readonly unit: "request" | "event";
  /** Processor time of the target's process per unit, in microseconds. */
  readonly cpuMicros?: Spread;
  /** Ratio of `cpuMicros` to the raw pipe's in the same round. */
  readonly cpuRatio?: Spread;
  /** Ratio of the median to Portkey's; this project's gateway only. */
  readonly cpuOfPortkey?: number;
  /** Units per second of real time, median over the rounds. */
  readonly perSecond: number;
  /** Time from a request to the end of its reply, medians over the rounds. */
  readonly waitMs: { readonly p50: number; readonly p99: number };
  /** Wait, or delay of an event, minus the direct connection's in the same round. */
  readonly addedMs?: { readonly p50: Spread; readonly p99: Spread };
  /** Goals of this project's gateway; absent when there are none. */
  readonly goals?: readonly Goal[];
  /** Number of wrong replies. */
  readonly faults: number;
  /** The first distinct problems, at most three. */
  readonly problems: readonly string[];
  /** Distinct problems of replies with complete text, on lenient targets. */
  readonly overlooked: readonly string[];
}

/** An upper limit for a figure, and whether it is reached. */
export interface Goal {
  /** "raw pipe", "Portkey", "delay", "per stream", "start", "added p50", "added p99" or "block". */
  readonly of: string;
  /** The measured value. */
  readonly is: number;
  /** The upper limit. */
  readonly atMost: number;
  /** Whether the value is within the limit. */
  readonly reached: boolean;
}

/** Whether a target is this project's gateway. */
export function isOwnGateway(target: string): boolean {
  return /^gateway( |$)/.test(target);
}

/** The rows of all measured cells. */
export function summarise(cells: readonly Cell[]): readonly Row[] {
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
  const cpuOfPortkey = isOwnGateway(target) && portkey !== undefined &&
      cpuMicros !== undefined
    ? cpuMicros.median / portkey
    : undefined;
  const addedMs = addedOf(cell);
  const figures = {
    ...compact({ cpuRatio, cpuOfPortkey, addedMs }),
  };
  const goals = isOwnGateway(target) ? goalsOf(cell, figures) : [];
  return {
    scenario: scenario.name,
    target,
    unit: scenario.kind.unit,
    ...compact({ cpuMicros }),
    ...figures,
    perSecond: median(pairs.map(({ sample }) => sample.perSecond)),
    waitMs: {
      p50: median(results.map(({ waits }) => waits.p50)),
      p99: median(results.map(({ waits }) => waits.p99)),
    },
    ...(goals.length === 0 ? {} : { goals }),
    faults: results.reduce((sum, { faults }) => sum + faults, 0),
    problems: distinct(results.flatMap((result) => result.problems)).slice(
      0,
      3,
    ),
    overlooked: distinct(
      results.flatMap((result) => result.overlooked),
    ),
  };
}

function cpuOf(pairs: readonly SamplePair[]): Spread | undefined {
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
  const most = maxCpuRatio(scenario);
  const mostOfPortkey = maxPortkeyRatio(scenario);
  return [
    ...(cpuRatio === undefined || most === undefined
      ? []
      : [goal("raw pipe", cpuRatio.median, most)]),
    ...(cpuOfPortkey === undefined || mostOfPortkey === undefined
      ? []
      : [goal("Portkey", cpuOfPortkey, mostOfPortkey)]),
    ...(addedMs === undefined || scenario.kind.measures !== "delay"
      ? []
      : [goal("delay", addedMs.p50.median, MAX_EVENT_DELAY_MS)]),
  ];
}

/** Compares a figure with its upper limit. */
export function goal(of: string, is: number, atMost: number): Goal {
  return { of, is, atMost, reached: is <= atMost };
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
