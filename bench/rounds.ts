/**
 * The rounds: every scenario on every target, close together in time and in another order each time, so that what else the machine
 * does meets all of them alike. A figure is held against the raw pipe's of the same round.
 *
 * @module
 */
import { type Instruments, measure, type Sample } from "./measure.ts";
import {
  chosenScenarios,
  type ExchangeKind,
  type Scenario,
} from "./scenarios.ts";
import { isPassThrough, type Target } from "./targets/target.ts";

/** A target that runs, with its name. */
export interface Contestant {
  readonly name: string;
  readonly target: Target;
}

/** What was found for a scenario on a target. */
export interface Cell {
  readonly scenario: Scenario;
  /** The target's name. */
  readonly target: string;
  /** One for each round in which it was measured. */
  readonly samples: Sample[];
  /** The processor time over the raw pipe's in the same round, where both are known. */
  readonly ratios: number[];
}

/** How long it goes on. */
export interface RoundsOptions {
  /** Rounds that count; one more, the first, warms everything up. */
  readonly rounds: number;
  /** Rounds in which the paced streams, which take long, are measured. */
  readonly pacedRounds: number;
  /** Of a measurement that is not paced. */
  readonly ms: number;
  /** Told what is being done. */
  readonly progress: (text: string) => void;
}

/** Measures. The raw pipe is measured in each group, whichever scenarios were chosen. */
export async function runRounds(
  instruments: Instruments,
  contestants: readonly Contestant[],
  pipe: Contestant,
  scenarios: readonly Scenario[],
  options: RoundsOptions,
): Promise<readonly Cell[]> {
  const groups = groupsOf(scenarios, contestants, pipe);
  for (let round = 0; round <= options.rounds; round++) {
    const isWarmUp = round === 0;
    for (const { kind, cells } of groups) {
      const isPaced = kind.plan.perSecond > 0;
      if (isPaced && round > options.pacedRounds) continue;
      if (isPaced && isWarmUp) continue;
      options.progress(
        `${
          isWarmUp ? "warm-up" : `round ${round} of ${options.rounds}`
        }: ${kind.name}`,
      );
      const measured = new Map<Cell, Sample>();
      for (const { cell, run } of rotated(cells, round)) {
        measured.set(cell, await run(instruments, options.ms));
      }
      if (isWarmUp) continue;
      const pipeCell = [...measured.keys()].find(({ target }) =>
        target === pipe.name
      );
      const base = pipeCell && measured.get(pipeCell)?.cpuMicros;
      for (const [cell, sample] of measured) {
        cell.samples.push(sample);
        if (base !== undefined && sample.cpuMicros !== undefined) {
          cell.ratios.push(sample.cpuMicros / base);
        }
      }
    }
  }
  return groups.flatMap(({ cells }) => cells.map(({ cell }) => cell));
}

interface Group {
  readonly kind: ExchangeKind;
  readonly cells: readonly {
    readonly cell: Cell;
    run(instruments: Instruments, ms: number): Promise<Sample>;
  }[];
}

/** The scenarios of one kind from one caller's dialect: what they share is the raw pipe's figure. */
function groupsOf(
  scenarios: readonly Scenario[],
  contestants: readonly Contestant[],
  pipe: Contestant,
): readonly Group[] {
  const groups = new Map<string, Group & { cells: Group["cells"][number][] }>();
  const add = (scenario: Scenario, { name, target }: Contestant): void => {
    const address = target.address(scenario.direction);
    if (address === undefined) return;
    const { kind, direction } = scenario;
    const id = `${kind.name} ${direction.caller}`;
    const group = groups.get(id) ?? { kind, cells: [] };
    groups.set(id, group);
    const isThere = group.cells.some(({ cell }) =>
      cell.target === name && cell.scenario.name === scenario.name
    );
    if (isThere) return;
    group.cells.push({
      cell: { scenario, target: name, samples: [], ratios: [] },
      run: ({ load, clock }, ms) =>
        measure({ load, clock }, target, address, scenario, ms),
    });
  };
  for (const scenario of scenarios) {
    const { kind, direction: { caller } } = scenario;
    const base = chosenScenarios([kind.name]).find(({ direction }) =>
      direction.caller === caller && isPassThrough(direction)
    );
    if (base !== undefined) add(base, pipe);
    for (const contestant of contestants) add(scenario, contestant);
  }
  return [...groups.values()];
}

function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const start = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
