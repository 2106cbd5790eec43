/**
 * Plays scenarios, several at a time, within the caps; those that must run alone come last, and
 * after them, once more and alone, those to which something was not answered in time: a busy
 * machine is no fault of the target.
 */
import { withDeadline } from "./with_deadline.ts";
import { CapReached } from "../suite/budget.ts";
import { type ScenarioRecord, unanswered } from "../suite/evidence.ts";
import { Session, type Stage } from "../suite/session.ts";
import { ALL_WAITS_MS, RateLimited } from "../suite/rate_limit.ts";
import type { Scenario } from "../suite/scenario.ts";
import type { TargetProfile } from "../suite/route.ts";

/** The target, with what is known of it. */
export interface PlayOptions extends Stage {
  readonly profile: TargetProfile;
  /** True for a target whose faults are known: nothing is played again. */
  readonly playsOnce?: boolean;
}

interface Played {
  readonly records: ReadonlyMap<string, ScenarioRecord>;
  /** Scenarios that could not be finished, with the reason: a cap, a rate limit, a dead target. */
  readonly capped: ReadonlyMap<string, string>;
  /** The first records of the scenarios that were played again, and went better. */
  readonly repeated: readonly ScenarioRecord[];
}

/** Time limit of a scenario without a reply, as a multiple of a request's time limit. */
const DEADLINE = 8;
/** How much longer a request may take when its scenario is played again. */
const MORE_TIME = 3;
/** Scenarios that are late again in a row, after which the others are not played again. */
const LATE_AGAIN = 4;
/** Scenarios in a row to which nothing answers, after which the target is asked whether it lives. */
const SILENT = 3;
const GONE = "the target stopped answering";

/** Plays the scenarios in order, `width` at a time. */
export async function play(
  scenarios: readonly Scenario[],
  stage: PlayOptions,
  width: number,
  onDone: (scenario: Scenario) => void = () => {},
): Promise<Played> {
  const run = new Run(stage);
  const queue = scenarios.filter(({ alone }) => alone !== true);
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await run.play(next);
      onDone(next);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  for (const scenario of scenarios) {
    if (scenario.alone !== true) continue;
    await run.play(scenario);
    onDone(scenario);
  }
  return {
    repeated: stage.playsOnce === true ? [] : await run.playAgain(scenarios),
    records: run.records,
    capped: run.capped,
  };
}

/** The scenarios of one run. */
class Run {
  readonly records = new Map<string, ScenarioRecord>();
  readonly capped = new Map<string, string>();
  readonly #stage: PlayOptions;
  /** Scenarios in a row to which nothing answered. */
  #silent = 0;
  #isGone = false;

  constructor(stage: PlayOptions) {
    this.#stage = stage;
  }

  async play(scenario: Scenario): Promise<void> {
    const { name } = scenario;
    if (this.#isGone) {
      this.capped.set(name, GONE);
      this.records.set(name, { scenario: name, exchanges: [], notes: {} });
      return;
    }
    const record = await this.#record(scenario, this.#stage);
    this.records.set(name, record);
    const isSilent = record.exchanges.length > 0 &&
      record.exchanges.every(({ ending }) => ending === "no-reply");
    this.#silent = isSilent ? this.#silent + 1 : 0;
    if (this.#silent >= SILENT) this.#isGone = !await this.#answers();
  }

  /**
   * Plays those once more, one after the other, to which something was not answered in time.
   * Returns the first records of those that went better.
   */
  async playAgain(scenarios: readonly Scenario[]): Promise<ScenarioRecord[]> {
    const repeated: ScenarioRecord[] = [];
    const { timeoutMs } = this.#stage;
    const stage = { ...this.#stage, timeoutMs: timeoutMs * MORE_TIME };
    let lateAgain = 0;
    for (const scenario of scenarios) {
      const { name } = scenario;
      const first = this.records.get(name);
      if (first === undefined || !isLate(first) || this.capped.has(name)) {
        continue;
      }
      const second = await this.#record(scenario, stage);
      if (this.capped.delete(name)) continue;
      if (isLate(second)) {
        if (++lateAgain === LATE_AGAIN) break;
        continue;
      }
      lateAgain = 0;
      this.records.set(name, second);
      repeated.push(first);
    }
    return repeated;
  }

  async #record(
    scenario: Scenario,
    stage: PlayOptions,
  ): Promise<ScenarioRecord> {
    const session = new Session({ ...stage, scenario: scenario.name });
    try {
      const waits = stage.patience === undefined ? 0 : ALL_WAITS_MS;
      await withDeadline(
        scenario.play(session),
        DEADLINE * stage.timeoutMs + waits,
        () => session.answered,
      );
      return session.finish();
    } catch (error) {
      if (error instanceof CapReached || error instanceof RateLimited) {
        this.capped.set(scenario.name, error.message);
      }
      return session.finish(
        error instanceof Error ? error.message : String(error),
      );
    }
  }

  /** Whether the target answers anything at all. */
  async #answers(): Promise<boolean> {
    const session = new Session({ ...this.#stage, scenario: "is-it-there" });
    try {
      const { head } = await session.send({
        label: "models",
        endpoint: "models",
      });
      return head !== undefined;
    } catch {
      return true;
    }
  }
}

function isLate(record: ScenarioRecord): boolean {
  return record.late === true || unanswered([record]).length > 0;
}
