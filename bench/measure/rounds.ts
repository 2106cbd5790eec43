/**
 * Measures every scenario on every target in each round, close together in time and in a different
 * order each time, so that other work on the machine affects all of them alike. A figure is
 * compared with that of the raw pipe, or of the direct connection, in the same round.
 */
import { type Instruments, measure, type Sample } from "./measure.ts";
import {
  type ExchangeKind,
  pacedMs,
  type Scenario,
  scenarioOf,
} from "./scenarios.ts";
import type { Site, Target } from "../targets/target.ts";

/** A target that can be started. */
export interface InstalledTarget {
  /** Name in the tables. */
  readonly name: string;
  /** Starts its processes. */
  readonly site: Site;
}

export interface RunningTarget {
  /** Name in the tables. */
  readonly name: string;
  /** The running process. */
  readonly target: Target;
}

/** A sample and its baseline, from the same round. */
export interface SamplePair {
  /** Sample of the target. */
  readonly sample: Sample;
  /** Sample of the raw pipe, or of the direct connection. */
  readonly base: Sample;
}

/** The samples of a scenario on a target. */
export interface Cell {
  /** The measured scenario. */
  readonly scenario: Scenario;
  /** Name of the target. */
  readonly target: string;
  /** One pair for each round in which the scenario was measured. */
  readonly pairs: readonly SamplePair[];
}

/** The targets that call one upstream. */
export interface TargetSet {
  /** Whether they call it over TLS. */
  readonly tls: boolean;
  /** All targets except the direct connection. */
  readonly targets: readonly RunningTarget[];
  /** Baseline of processor times. */
  readonly pipe: RunningTarget;
  /** Baseline of delays. */
  readonly direct: RunningTarget;
}

/** Number and length of the rounds. */
interface RoundsOptions {
  /** Number of rounds, not counting the warm-up before them. */
  readonly rounds: number;
  /** Number of rounds that include paced streams, which take long. */
  readonly pacedRounds: number;
  /** Length of a measurement without paced streams. */
  readonly ms: number;
  /** Length of a warm-up measurement; `ms` if that is longer. */
  readonly warmUpMs: number;
  /** Called at the start of each round. */
  readonly progress: (text: string) => void;
}

/**
 * Measures all scenarios, together with the baseline of each group. `sets` has one set of
 * targets for each kind of upstream: plain, or over TLS.
 */
export async function runRounds(
  instruments: Instruments,
  sets: readonly TargetSet[],
  scenarios: readonly Scenario[],
  options: RoundsOptions,
): Promise<readonly Cell[]> {
  const groups = groupsOf(scenarios, sets);
  for (let round = 0; round <= options.rounds; round++) {
    const isWarmUp = round === 0;
    options.progress(
      isWarmUp ? "warm-up" : `round ${round} of ${options.rounds}`,
    );
    for (const { kind, base, members } of groups) {
      const lengthMs = pacedMs(kind);
      const isLeftOut = isWarmUp
        ? options.warmUpMs < lengthMs
        : lengthMs > 0 && round > options.pacedRounds;
      if (isLeftOut) continue;
      const samples = new Map<Member, Sample>();
      const ms = isWarmUp ? Math.max(options.warmUpMs, options.ms) : options.ms;
      for (const member of orderOf(members, round)) {
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
  readonly pairs: SamplePair[];
  measure(instruments: Instruments, ms: number): Promise<Sample>;
}

/** Scenarios with a common baseline: those of one kind, one request dialect and one upstream. */
interface Group {
  readonly kind: ExchangeKind;
  readonly base: Member;
  readonly members: Member[];
}

function groupsOf(
  scenarios: readonly Scenario[],
  sets: readonly TargetSet[],
): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const scenario of scenarios) {
    const { kind, direction: { caller }, tls } = scenario;
    const set = sets.find((one) => one.tls === tls);
    if (set === undefined) {
      throw new Error(`there are no targets for ${scenario.name}`);
    }
    const { targets, pipe, direct } = set;
    const base = kind.measures === "cpu" ? pipe : direct;
    const id = `${kind.name} ${caller}${tls ? " over TLS" : ""}`;
    let group = groups.get(id);
    if (group === undefined) {
      const own = scenarioOf(kind, { caller, upstream: caller }, tls);
      const member = memberOf(own, base);
      if (member === undefined) {
        throw new Error(`${base.name} does not support ${id}`);
      }
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
    for (const target of targets) {
      if (target === base) continue;
      const member = memberOf(scenario, target);
      if (member !== undefined) group.members.push(member);
    }
  }
  return [...groups.values()];
}

function memberOf(
  scenario: Scenario,
  { name, target }: RunningTarget,
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

/**
 * Each round begins with another target; every second one goes backwards. What a target's processes
 * still do after its measurement costs the next one 10 to 20 % of a gateway's time, so no target
 * may always follow the same other one.
 */
function orderOf<T>(items: readonly T[], round: number): readonly T[] {
  const start = items.length === 0 ? 0 : (round >> 1) % items.length;
  const order = [...items.slice(start), ...items.slice(0, start)];
  return round % 2 === 0 ? order : order.toReversed();
}
