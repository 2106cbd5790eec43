/** Plays scenarios: some at a time, those that must be alone after the others, each against the caps. */
import type { Header } from "../evidence/exchange.ts";
import type { Redaction } from "../evidence/redaction.ts";
import type { ReplayServer } from "../replay.ts";
import { type Budget, CapReached } from "../suite/budget.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";
import { Lab } from "../suite/lab.ts";
import { ALL_WAITS_MS, type Patience, RateLimited } from "../suite/patience.ts";
import type { Scenario, TargetProfile } from "../suite/scenario.ts";

/** The target and what is needed to talk to it. */
export interface Stage {
  /** How the target is judged. */
  readonly mode: "live" | "replay";
  /** Base address without a slash at the end. */
  readonly baseUrl: string;
  /** The valid key. */
  readonly key: string;
  /** Headers that every request carries, as given on the command line. */
  readonly headers?: readonly Header[];
  /** What is known of the target. */
  readonly profile: TargetProfile;
  /** The replay upstream; absent in a live run. */
  readonly replay?: ReplayServer;
  /** What hides keys. */
  readonly redaction: Redaction;
  /** The caps. */
  readonly budget: Budget;
  /** What waits where a live target limits the rate. */
  readonly patience?: Patience;
  /** A request may last so long. */
  readonly timeoutMs: number;
  /** Makes nonces differ between runs. */
  readonly seed: number;
}

/** What playing gave. */
export interface Played {
  /** The records by scenario. */
  readonly records: ReadonlyMap<string, ScenarioRecord>;
  /** Scenarios that a cap or a limit of the target's rate stopped, with the reason. */
  readonly capped: ReadonlyMap<string, string>;
}

/** A scenario may last as long as so many requests that run into their time limit. */
const DEADLINE = 8;

/** Rejects when the promise does not settle in time: a scenario that hangs is a finding, not a run that hangs. */
async function withDeadline(
  promise: Promise<void>,
  ms: number,
): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`it was not through after ${ms / 1000} s`)),
    ms,
  );
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Plays the scenarios in their order, `width` at a time. */
export async function play(
  scenarios: readonly Scenario[],
  stage: Stage,
  width: number,
  onDone: (scenario: Scenario) => void = () => {},
): Promise<Played> {
  const records = new Map<string, ScenarioRecord>();
  const capped = new Map<string, string>();
  const playOne = async (scenario: Scenario): Promise<void> => {
    const lab = new Lab({ ...stage, scenario: scenario.name });
    let stopped: string | undefined;
    try {
      const waits = stage.patience === undefined ? 0 : ALL_WAITS_MS;
      await withDeadline(
        scenario.play(lab),
        DEADLINE * stage.timeoutMs + waits,
      );
    } catch (error) {
      if (error instanceof CapReached || error instanceof RateLimited) {
        capped.set(scenario.name, error.message);
      }
      stopped = error instanceof Error ? error.message : String(error);
    }
    records.set(scenario.name, lab.finish(stopped));
    onDone(scenario);
  };
  const together = scenarios.filter(({ alone }) => alone !== true);
  const queue = [...together];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await playOne(next);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  for (const scenario of scenarios) {
    if (scenario.alone === true) await playOne(scenario);
  }
  return { records, capped };
}
