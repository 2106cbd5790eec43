/** A check: a sentence, the scenarios with its evidence, and one pure function that judges it. */
import type { Evidence } from "./evidence.ts";
import type { Finding } from "./finding.ts";
import type { Feature } from "./route.ts";

/**
 * How binding a check is: documented in the specification, a convention that the formats' own
 * clients need, or a contract of this gateway only.
 */
export type Level = "documented" | "convention" | "contract";

/** Where a check can be judged: against any deployment, only with the replay upstream, or both. */
export type Mode = "live" | "replay" | "both";

/** The rule that a check judges, in the words of its source. */
export type Rule =
  /** A sentence or a table row of the specification, verbatim. */
  | { readonly section: string; readonly text: string }
  /** A rule from elsewhere, with its source or reason. */
  | { readonly source: string; readonly text: string };

/** One rule, and how it is judged. */
export interface Check {
  /** Stable: never reused, never renumbered. Its first word is its area. */
  readonly id: string;
  /** The rule that it judges. */
  readonly rule: Rule;
  /** How binding it is. */
  readonly level: Level;
  /** Where it can be judged. */
  readonly mode: Mode;
  /** The scenarios whose exchanges it reads; `everything` reads all exchanges of the run. */
  readonly reads: readonly string[] | "everything";
  /** A feature beyond the base specification; the check is left out where the target lacks it. */
  readonly needs?: Feature;
  /** For `everything`: the scenarios that the self-test plays to prove the check. */
  readonly provedBy?: readonly string[];
  /** Judges the evidence. A check that returns no finding is a mistake of the suite. */
  readonly judge: (evidence: Evidence) => readonly Finding[];
  /**
   * True when only a model's skill decides a live run: there the check passes or is unclear, and no
   * mutant can fail it.
   */
  readonly isSkillLive?: boolean;
  /** Names of the mutants that must make it fail. */
  readonly mutants: readonly string[];
}

/** A check whose shared members may be absent: those in `Shared`, and the level. */
type Abridged<Shared> =
  & Pick<Check, "id" | "rule" | "judge" | "mutants">
  & Omit<Pick<Check, "mode" | "reads">, keyof Shared>
  & Partial<Check>;

/**
 * Completes checks with the members that they share. A check without a level is `documented` when
 * it quotes the specification, otherwise a `convention`.
 */
export function checksWith<
  Shared extends Partial<Pick<Check, "mode" | "reads" | "needs">>,
>(shared: Shared, checks: readonly Abridged<Shared>[]): readonly Check[] {
  return checks.map((check) => ({
    level: "section" in check.rule ? "documented" : "convention",
    ...shared,
    ...check,
  } as Check));
}

/** The area of a check: the first word of its id. */
export function areaOf(check: Check): string {
  return check.id.split(".")[0] ?? "";
}

/** True when a check is judged in that kind of run. */
export function judgedIn(check: Check, mode: "live" | "replay"): boolean {
  return check.mode === "both" || check.mode === mode;
}
