/**
 * The rounds: every scenario on every target, close together in time and in another order each time, so that what else the machine
 * does meets all of them alike. A figure is held against that of the raw pipe, or of the direct connection, in the same round.
 *
 * @module
 */
import { type Instruments, measure, type Sample } from "./measure.ts";
import { type ExchangeKind, type Scenario, scenarioOf } from "./scenarios.ts";
import type { Site, Target } from "./targets/target.ts";

/** A target that can be started, with its name. */
export interface Entrant {
  /** As the tables call it. */
  readonly name: string;
  /** Where it is started. */
  readonly site: Site;
}

/** A target that runs, with its name. */
export interface Contestant {
  /** As the tables call it. */
  readonly name: string;
  /** The running process. */
  readonly target: Target;
}

/** A sample beside that of the target which it is held against, of the same round. */
export interface Pair {
  /** What is told. */
  readonly sample: Sample;
  /** What it is held against. */
  readonly base: Sample;
}

/** What was found for a scenario on a target. */
export interface Cell {
  /** What was asked. */
  readonly scenario: Scenario;
  /** The target's name. */
  readonly target: string;
  /** One for each round in which it was measured. */
  readonly pairs: readonly Pair[];
}

/** Who takes part. */
export interface Field {
  /** All but the direct connection. */
  readonly contestants: readonly Contestant[];
  /** What processor times are held against. */
  readonly pipe: Contestant;
  /** What delays are held against. */
  readonly direct: Contestant;
}

/** How long it goes on. */
export interface RoundsOptions {
  /** Rounds that count; one more, the first, warms everything up. */
  readonly rounds: number;
  /** Rounds in which paced streams, which take long, are measured. */
  readonly pacedRounds: number;
  /** Of a measurement that is not paced. */
  readonly ms: number;
  /** Told of each round that begins. */
  readonly progress: (text: string) => void;
}

/** As long as it takes until the hot code is compiled. */
const WARM_UP_MS = 1_000;

/** Measures the scenarios, and in each group of them the target that they are held against. */
export async function runRounds(
  instruments: Instruments,
  field: Field,
  scenarios: readonly Scenario[],
  options: RoundsOptions,
): Promise<readonly Cell[]> {
  const groups = groupsOf(scenarios, field);
  for (let round = 0; round <= options.rounds; round++) {
    const isWarmUp = round === 0;
    options.progress(
      isWarmUp ? "warm-up" : `round ${round} of ${options.rounds}`,
    );
    for (const { kind, base, members } of groups) {
      const isPaced = kind.plan.perSecond > 0;
      if (isPaced && (isWarmUp || round > options.pacedRounds)) continue;
      const samples = new Map<Member, Sample>();
      const ms = isWarmUp ? Math.max(WARM_UP_MS, options.ms) : options.ms;
      for (const member of rotated(members, round)) {
        samples.set(member, await member.measure(instruments, ms));
      }
      const baseSample = samples.get(base);
      if (isWarmUp || baseSample === undefined) continue;
      for (const [member, sample] of samples) {
        member.pairs.push({ sample, base: baseSample });
      }
    }
  }
  return groups.flatMap(({ members }) => members);
}

interface Member extends Cell {
  readonly pairs: Pair[];
  measure(instruments: Instruments, ms: number): Promise<Sample>;
}

/** What is held against the same figure: the scenarios of one kind from one caller's dialect. */
interface Group {
  readonly kind: ExchangeKind;
  readonly base: Member;
  readonly members: Member[];
}

function groupsOf(
  scenarios: readonly Scenario[],
  { contestants, pipe, direct }: Field,
): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const scenario of scenarios) {
    const { kind, direction: { caller } } = scenario;
    const base = kind.measures === "cpu" ? pipe : direct;
    const id = `${kind.name} ${caller}`;
    let group = groups.get(id);
    if (group === undefined) {
      const own = scenarioOf(kind, { caller, upstream: caller });
      const member = memberOf(own, base);
      if (member === undefined) throw new Error(`${base.name} knows no ${id}`);
      const without = base === pipe && kind.plan.perSecond === 0
        ? memberOf(own, direct)
        : undefined;
      group = {
        kind,
        base: member,
        members: [...without === undefined ? [] : [without], member],
      };
      groups.set(id, group);
    }
    for (const contestant of contestants) {
      if (contestant === base) continue;
      const member = memberOf(scenario, contestant);
      if (member !== undefined) group.members.push(member);
    }
  }
  return [...groups.values()];
}

function memberOf(
  scenario: Scenario,
  { name, target }: Contestant,
): Member | undefined {
  const address = target.address(scenario.direction);
  return address === undefined ? undefined : {
    scenario,
    target: name,
    pairs: [],
    measure: (instruments, ms) =>
      measure(instruments, target, address, scenario, ms),
  };
}

function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const start = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
