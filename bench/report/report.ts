/**
 * Formats the result of a run as text tables.
 */
import { EXCHANGE_KINDS, nameWithoutKind } from "../measure/scenarios.ts";
import type { MemoryRow } from "../measure/memory.ts";
import type { RunResult } from "./results.ts";
import { IDLE, type SteadyRow } from "../measure/steady.ts";
import type { Goal, Row } from "./summary.ts";
import type { Spread } from "./statistics.ts";
import { figure, tableLines } from "./table.ts";

/** The whole report. */
export function reportLines(result: RunResult): readonly string[] {
  const { machine, versions } = result;
  return [
    `${
      result.date.slice(0, 10)
    }, ${machine.cores} cores, ${machine.processor}, load before ${machine.loadBefore}`,
    Object.entries(versions).map(([name, version]) => `${name} ${version}`)
      .join(", "),
    `${result.rounds} rounds (${result.pacedRounds} of paced streams) of ${result.ms} ms${
      result.tls === true ? ", upstream over TLS" : ""
    }; figures are medians [lowest–highest round]`,
    ...cellLines(result.rows),
    ...memoryLines(result.memory),
    ...steadyLines(result.steady ?? []),
    ...startLines(result),
    ...(result.skipped.length === 0 ? [] : [""]),
    ...result.skipped.map(({ what, why }) =>
      `${what}: SKIPPED, because ${why}`
    ),
    ...verdictLines(result),
  ];
}

/** One table for each kind of exchange. */
export function cellLines(all: readonly Row[]): readonly string[] {
  return EXCHANGE_KINDS.flatMap(({ name, about, measures }) => {
    const rows = all.filter(({ scenario }) => scenario.endsWith(`/${name}`));
    if (rows.length === 0) return [];
    return [
      "",
      `${name}: ${about}`,
      ...(measures === "cpu" ? cpuTable(rows) : addedTable(rows)),
    ];
  });
}

function cpuTable(rows: readonly Row[]): readonly string[] {
  const unit = rows[0]?.unit ?? "request";
  return tableLines([
    [
      "",
      "",
      `CPU µs/${unit}`,
      "over pipe",
      "range",
      "at most",
      "",
      "of Portkey",
      "at most",
      "",
      `${unit}s/s`,
    ],
    ...rows.map((row) => [
      nameWithoutKind(row.scenario),
      row.target,
      figure(row.cpuMicros?.median),
      figure(row.cpuRatio?.median),
      rangeText(row.cpuRatio),
      ...goalCells(row.goals, "raw pipe"),
      figure(row.cpuOfPortkey),
      ...goalCells(row.goals, "Portkey"),
      row.perSecond.toFixed(0),
      ...remarks(row),
    ]),
  ]);
}

function addedTable(rows: readonly Row[]): readonly string[] {
  return tableLines([
    ["", "", "added p50 ms", "range", "at most", "", "added p99 ms", "range"],
    ...rows.map((row) => [
      nameWithoutKind(row.scenario),
      row.target,
      figure(row.addedMs?.p50.median),
      rangeText(row.addedMs?.p50),
      ...goalCells(row.goals, "delay"),
      figure(row.addedMs?.p99.median),
      rangeText(row.addedMs?.p99),
      ...remarks(row),
    ]),
  ]);
}

/** The table of memory per open stream; empty without rows. */
export function memoryLines(memory: readonly MemoryRow[]): readonly string[] {
  if (memory.length === 0) return [];
  const kib = (bytes: number): string => (bytes / 1024).toFixed(1);
  return [
    "",
    "memory: 1,000 streams held open, one event a second",
    ...tableLines([
      ["", "idle MiB", "KiB/stream", "later", "at most", ""],
      ...memory.map((row) => [
        row.target,
        (row.idleBytes / 2 ** 20).toFixed(0),
        kib(row.perStreamBytes),
        kib(row.perStreamLaterBytes),
        ...(row.goals === undefined
          ? ["", ""]
          : row.goals.flatMap(({ atMost, reached }) => [
            kib(atMost),
            verdict(reached),
          ])),
        ...(row.faults > 0 ? [`WRONG: ${row.problems[0]}`] : []),
      ]),
    ]),
  ];
}

/** The table of a steady rate of calls; empty without rows. */
function steadyLines(rows: readonly SteadyRow[]): readonly string[] {
  if (rows.length === 0) return [];
  const mib = (bytes: number | undefined): string =>
    bytes === undefined ? "" : (bytes / 2 ** 20).toFixed(0);
  return [
    "",
    "steady: 500 calls a second, the upstream answers after 50 ms",
    ...tableLines([
      [
        "",
        "calls/s",
        "CPU µs/call",
        "added p50 ms",
        "at most",
        "",
        "added p99 ms",
        "at most",
        "",
        "longest block ms",
        "at most",
        "",
        "over 10 ms",
        "MiB at first",
        "at last",
      ],
      ...rows.map((row) => [
        row.target,
        row.target === IDLE ? "" : row.perSecond.toFixed(0),
        row.cpuMicros === undefined ? "" : figure(row.cpuMicros.median),
        row.addedMs === undefined ? "" : figure(row.addedMs.p50.median),
        ...goalCells(row.goals, "added p50"),
        row.addedMs === undefined ? "" : figure(row.addedMs.p99.median),
        ...goalCells(row.goals, "added p99"),
        row.blockMs === undefined ? "" : figure(row.blockMs.high),
        ...goalCells(row.goals, "block"),
        row.longBlocks === undefined ? "" : String(row.longBlocks),
        mib(row.residentBytes[0]),
        mib(row.residentBytes.at(-1)),
        ...(row.faults > 0 ? [`WRONG: ${row.problems[0]}`] : []),
      ]),
    ]),
  ];
}

function startLines({ starts }: RunResult): readonly string[] {
  if (starts.length === 0) return [];
  return [
    "",
    "start: from the process's start to its readiness, warm cache",
    ...tableLines([
      ["", "ms", "range", "at most", ""],
      ...starts.map((row) => [
        row.target,
        row.readyMs.median.toFixed(0),
        `[${row.readyMs.low.toFixed(0)}–${row.readyMs.high.toFixed(0)}]`,
        ...goalCells(row.goals, "start"),
      ]),
    ]),
  ];
}

function verdictLines(result: RunResult): readonly string[] {
  const { rows, memory, steady = [], starts } = result;
  const goals = [...rows, ...memory, ...steady, ...starts].flatMap((row) =>
    row.goals ?? []
  );
  const faults = [...rows, ...memory, ...steady].reduce(
    (sum, row) => sum + row.faults,
    0,
  );
  return [
    "",
    ...(goals.length === 0 ? [] : [
      `${
        goals.filter(({ reached }) => reached).length
      } of ${goals.length} goals are reached`,
    ]),
    faults === 0
      ? "every reply was correct: no event was lost"
      : `${faults} replies were WRONG`,
  ];
}

function goalCells(
  goals: readonly Goal[] | undefined,
  of: string,
): readonly [string, string] {
  const goal = goals?.find((one) => one.of === of);
  return goal === undefined
    ? ["", ""]
    : [figure(goal.atMost), verdict(goal.reached)];
}

function verdict(reached: boolean): string {
  return reached ? "ok" : "OVER";
}

function rangeText(spread: Spread | undefined): string {
  return spread === undefined
    ? ""
    : `[${figure(spread.low)}–${figure(spread.high)}]`;
}

function remarks({ faults, problems, overlooked }: Row): readonly string[] {
  if (faults > 0) return [`${faults} WRONG: ${problems[0]}`];
  return overlooked.length === 0 ? [] : [`(${overlooked.join(", ")})`];
}
