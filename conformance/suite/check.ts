/** What a check is: a sentence, where its evidence comes from, and one pure function that judges it. */
import type { Evidence } from "./evidence.ts";
import type { Finding } from "./finding.ts";

/** How binding a check is: what the specification says, what the formats' own clients need, what only this gateway promises. */
export type Level = "documented" | "convention" | "contract";

/** Where a check can be judged: against any deployment, only with the replay upstream, or both. */
export type Mode = "live" | "replay" | "both";

/** The rule that a check judges, in the words of its source. */
export type Rule =
  /** A sentence, or a row of a table, of the specification: verbatim. */
  | { readonly section: string; readonly text: string }
  /** A rule from elsewhere, and where it is written. */
  | { readonly source: string; readonly text: string };

/** A check. */
export interface Check {
  /** Stable: never used again, never renumbered. Its first word is its area. */
  readonly id: string;
  /** The rule that it judges. */
  readonly rule: Rule;
  /** How binding it is. */
  readonly level: Level;
  /** Where it can be judged. */
  readonly mode: Mode;
  /** The scenarios whose exchanges it reads; `everything` reads all that the run recorded. */
  readonly reads: readonly string[] | "everything";
  /** For `everything`: the scenarios that the self-test plays to prove it. */
  readonly provedBy?: readonly string[];
  /** Judges the evidence. No finding at all is the suite's own fault. */
  readonly judge: (evidence: Evidence) => readonly Finding[];
  /** The mutants that must make it fail. */
  readonly mutants: readonly string[];
}

/** The area of a check: the first word of its id. */
export function areaOf(check: Check): string {
  return check.id.split(".")[0] ?? "";
}

/** True when a check is judged in a run of that kind. */
export function judgedIn(check: Check, mode: "live" | "replay"): boolean {
  return check.mode === "both" || check.mode === mode;
}
