/**
 * Several runs as one table in Markdown, as in the README: one figure a run in each cell.
 */
import type { RunResult } from "./results.ts";
import {
  directionName,
  DIRECTIONS,
  EXCHANGE_KINDS,
  isOverTlsName,
  overTlsName,
} from "../measure/scenarios.ts";
import type { SteadyRow } from "../measure/steady.ts";
import type { Row } from "./summary.ts";
import { figure } from "./table.ts";

const OWN = "gateway";
const PEERS: readonly string[] = ["portkey", "nginx"];

/** The table: processor time over the raw pipe's, then the other figures of the gateway. */
export function reportTable(results: readonly RunResult[]): readonly string[] {
  const names = DIRECTIONS.map(directionName);
  const cpu = EXCHANGE_KINDS.filter(({ measures, onlyWhenNamed }) =>
    measures === "cpu" && onlyWhenNamed !== true
  ).flatMap(({ name }) =>
    [true, false].map((tls) => [
      tls ? `${name}, TLS` : name,
      ...names.map((direction) => {
        const plain = `${direction}/${name}`;
        const scenario = tls ? overTlsName(plain) : plain;
        return cell(
          results,
          ({ rows }) => find(rows, OWN, scenario)?.cpuRatio?.median,
        );
      }),
      ...PEERS.map((peer) =>
        range(
          results.flatMap(({ rows }) =>
            rows.filter(({ target, scenario }) =>
              target === peer && scenario.endsWith(`/${name}`) &&
              isOverTlsName(scenario) === tls
            ).flatMap(({ cpuRatio }) => cpuRatio?.median ?? [])
          ),
        )
      ),
    ])
  ).filter(([, ...figures]) => figures.some((one) => one !== ""));
  const others: readonly (readonly [
    string,
    (result: RunResult) => number | undefined,
  ])[] = [
    [
      "delay per event, median, ms",
      ({ rows }) =>
        find(rows, OWN, "messages/event-delay")?.addedMs?.p50.median,
    ],
    [
      "memory per open stream, KiB",
      ({ memory }) =>
        kib(memory.find(({ target }) => target === OWN)?.perStreamBytes),
    ],
    [
      "the same eight seconds later",
      ({ memory }) =>
        kib(memory.find(({ target }) => target === OWN)?.perStreamLaterBytes),
    ],
    ["added p50 at 500 calls/s, ms", (run) => steady(run)?.addedMs?.p50.median],
    ["added p99 at 500 calls/s, ms", (run) => steady(run)?.addedMs?.p99.median],
    [
      "longest block of the event loop, ms",
      (run) => steady(run)?.blockMs?.high,
    ],
    [
      "start to ready, ms",
      ({ starts }) =>
        starts.find(({ target }) => target === OWN)?.readyMs.median,
    ],
  ];
  return [
    ...markdown([["kind", ...names, "Portkey", "nginx"], ...cpu]),
    "",
    ...markdown([
      ["the gateway", ""],
      ...others.map(([name, value]) => [name, cell(results, value)]),
    ]),
  ];
}

function find(
  rows: readonly Row[],
  target: string,
  scenario: string,
): Row | undefined {
  return rows.find((row) => row.target === target && row.scenario === scenario);
}

function steady(result: RunResult): SteadyRow | undefined {
  return result.steady?.find(({ target }) => target === OWN);
}

function kib(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : bytes / 1024;
}

/** One figure a run; empty if no run has it. */
function cell(
  results: readonly RunResult[],
  value: (result: RunResult) => number | undefined,
): string {
  const values = results.map(value);
  return values.every((one) => one === undefined)
    ? ""
    : values.map(figure).join(", ");
}

function range(values: readonly number[]): string {
  return values.length === 0
    ? ""
    : `${figure(Math.min(...values))}–${figure(Math.max(...values))}`;
}

function markdown(rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const [head = [], ...rest] = rows;
  return [line(head), line(head.map(() => "---")), ...rest.map(line)];
}
