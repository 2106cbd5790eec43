/** Judges checks over records: where a verdict comes from. */
import type { Check } from "../suite/check.ts";
import { Evidence, type ScenarioRecord } from "../suite/evidence.ts";
import { fact, type Finding, NotTestable } from "../suite/finding.ts";

/** What became of a check. */
export type Verdict =
  /** All facts hold. */
  | "pass"
  /** A fact does not hold, or could not be looked at. */
  | "fail"
  /** Only a model's skill decided it, and it did not hold. */
  | "unclear"
  /** The suite's own fault. */
  | "error"
  /** A cap was reached, or the target went on limiting the rate, before its requests were made. */
  | "not-run";

/** A judged check. */
export interface Result {
  /** The check. */
  readonly check: Check;
  /** What became of it. */
  readonly verdict: Verdict;
  /** All findings. */
  readonly findings: readonly Finding[];
  /** For `error` and `not-run`: why. */
  readonly why?: string;
}

/** Judges one check. `capped` names the scenarios that could not be played to their end, and why. */
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
    const why = `scenario ${unplayed} was not through: ${capped.get(unplayed)}`;
    return { check, verdict: "not-run", findings: [], why };
  }
  const own = names.flatMap((name) => records.get(name) ?? []);
  try {
    const findings = check.judge(new Evidence(mode, own));
    if (findings.length === 0) {
      const why = "the check looked at nothing: it gave no finding";
      return { check, verdict: "error", findings, why };
    }
    return { check, verdict: verdictOf(findings), findings };
  } catch (error) {
    if (error instanceof NotTestable) {
      const found = fact(
        false,
        "evidence",
        "what the check needs to be judged",
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
