/** Plays scenarios, several at a time, within the caps; those that must run alone come last. */
import { withDeadline } from "./with_deadline.ts";
import { CapReached } from "../suite/budget.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";
import { Session, type Stage } from "../suite/session.ts";
import { ALL_WAITS_MS, RateLimited } from "../suite/rate_limit.ts";
import type { Scenario } from "../suite/scenario.ts";
import type { TargetProfile } from "../suite/route.ts";

/** The target, with what is known of it. */
export interface PlayOptions extends Stage {
  readonly profile: TargetProfile;
}

interface Played {
  readonly records: ReadonlyMap<string, ScenarioRecord>;
  /** Scenarios that a cap or the target's rate limit stopped, with the reason. */
  readonly capped: ReadonlyMap<string, string>;
}

/** Time limit of a scenario without a reply, as a multiple of a request's time limit. */
const DEADLINE = 8;

/** Plays the scenarios in order, `width` at a time. */
export async function play(
  scenarios: readonly Scenario[],
  stage: PlayOptions,
  width: number,
  onDone: (scenario: Scenario) => void = () => {},
): Promise<Played> {
  const records = new Map<string, ScenarioRecord>();
  const capped = new Map<string, string>();
  const playOne = async (scenario: Scenario): Promise<void> => {
    const session = new Session({ ...stage, scenario: scenario.name });
    let stopped: string | undefined;
    try {
      const waits = stage.patience === undefined ? 0 : ALL_WAITS_MS;
      await withDeadline(
        scenario.play(session),
        DEADLINE * stage.timeoutMs + waits,
        () => session.answered,
      );
    } catch (error) {
      if (error instanceof CapReached || error instanceof RateLimited) {
        capped.set(scenario.name, error.message);
      }
      stopped = error instanceof Error ? error.message : String(error);
    }
    records.set(scenario.name, session.finish(stopped));
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
