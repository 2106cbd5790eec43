/** Judges checks over records. */
import type { Check } from "../suite/check.ts";
import {
  Evidence,
  isUnanswered,
  namesOf,
  type ScenarioRecord,
  unanswered,
} from "../suite/evidence.ts";
import {
  fact,
  type Finding,
  NotOffered,
  NotTestable,
  skill,
} from "../suite/finding.ts";

export type Verdict =
  /** All facts hold. */
  | "pass"
  /** A fact does not hold, or could not be observed. */
  | "fail"
  /** A fact that only a model's skill decides does not hold. */
  | "unclear"
  /** A mistake of the suite. */
  | "error"
  /**
   * There is no evidence: a cap was reached, the target kept limiting the rate or stopped, or it
   * did not answer what the check reads.
   */
  | "not-run";

/** A check with its verdict. */
export interface Result {
  readonly check: Check;
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
  /** The reason of `error` and `not-run`. */
  readonly why?: string;
}

/** Judges one check. `capped` maps the scenarios that could not be finished to the reason. */
export function judge(
  check: Check,
  mode: "live" | "replay",
  records: ReadonlyMap<string, ScenarioRecord>,
  capped: ReadonlyMap<string, string> = new Map(),
): Result {
  const names = check.reads === "everything"
    ? [...records.keys()]
    : check.reads;
  const unplayed = check.reads === "everything"
    ? undefined
    : names.find((name) => capped.has(name));
  if (unplayed !== undefined) {
    const why = `scenario ${unplayed} did not finish: ${capped.get(unplayed)}`;
    return { check, verdict: "not-run", findings: [], why };
  }
  const own = names.flatMap((name) => records.get(name) ?? []);
  const silent = check.judgesSilence === true ? [] : unanswered(own);
  const notAnswered = (): Result => ({
    check,
    verdict: "not-run",
    findings: [],
    why: `not answered in time: ${namesOf(silent)}`,
  });
  try {
    const all = check.judge(new Evidence(mode, own));
    if (all.length === 0) {
      const why = "the check returned no finding";
      return { check, verdict: "error", findings: all, why };
    }
    // What did not arrive shows nothing; it is one failure, of the check of answers.
    const findings = silent.length === 0
      ? all
      : all.filter(({ verdict, exchange }) =>
        verdict !== "fail" || exchange === undefined || !isUnanswered(exchange)
      );
    return findings.length === 0
      ? notAnswered()
      : { check, verdict: verdictOf(findings), findings };
  } catch (error) {
    if (error instanceof NotOffered) {
      const found = skill(false, "upstreams", "one to judge", error.message);
      return { check, verdict: "unclear", findings: [found] };
    }
    if (error instanceof NotTestable) {
      if (
        silent.length > 0 &&
        (error.exchange === undefined || isUnanswered(error.exchange))
      ) return notAnswered();
      const found = fact(
        false,
        "evidence",
        "the evidence that the check needs",
        `not testable: ${error.message}`,
        error.exchange,
      );
      return { check, verdict: "fail", findings: [found] };
    }
    const why = error instanceof Error
      ? error.stack ?? error.message
      : String(error);
    return { check, verdict: "error", findings: [], why };
  }
}

function verdictOf(findings: readonly Finding[]): Verdict {
  if (findings.some(({ verdict }) => verdict === "fail")) return "fail";
  return findings.every(({ verdict }) => verdict === "unclear")
    ? "unclear"
    : "pass";
}
