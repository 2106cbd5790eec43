/** A check: a sentence, the scenarios with its evidence, and one pure function that judges it. */
import type { Hooks } from "../reference_gateway/hooks.ts";
import type { Exchange } from "../evidence/exchange.ts";
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
  /**
   * True where a request without an answer is a fault that it judges; elsewhere such a request is
   * no evidence.
   */
  readonly judgesSilence?: boolean;
  /** The faults that must make it fail. */
  readonly faults: Faults;
}

/**
 * Faults of a gateway by name: each is a change of the reference gateway, or `SHARED` when another
 * check of the area describes that change.
 */
export type Faults = Readonly<Record<string, Hooks | typeof SHARED>>;

/** The near misses of a matcher, as faults, by what is wrong with them. */
export type Misses = Readonly<Record<string, Hooks>>;

const SHARED = "shared";

/** Faults that other checks of the area describe. */
export function sharedFaults(...names: readonly string[]): Faults {
  return Object.fromEntries(names.map((name) => [name, SHARED]));
}

export function pick(faults: Faults, ...names: readonly string[]): Faults {
  return Object.fromEntries(
    names.map((name) => [name, faults[name] ?? SHARED]),
  );
}

/** A planted fault: the reference gateway with one change. */
export interface Mutant {
  readonly name: string;
  readonly hooks: Hooks;
}

/**
 * The faults of checks, each once.
 * @throws when two faults have one name
 */
export function mutantsOf(checks: readonly Check[]): readonly Mutant[] {
  const found = new Map<string, Hooks>();
  for (const { id, faults } of checks) {
    for (const [name, hooks] of Object.entries(faults)) {
      if (hooks === SHARED) continue;
      if ((found.get(name) ?? hooks) !== hooks) {
        throw new Error(`${id} describes a second fault named ${name}`);
      }
      found.set(name, hooks);
    }
  }
  return [...found].map(([name, hooks]) => ({ name, hooks }));
}

interface Common {
  /** The section of the specification that the rules are quoted from. */
  readonly section: string;
  readonly mode: Mode;
  readonly reads: Check["reads"];
  readonly needs: Feature;
  /** The exchanges, or what is read from them, that `each` judges. */
  readonly of: (e: Evidence) => readonly unknown[];
  /** Instead of `of`: all exchanges of that label. */
  readonly matching: string;
  /** Instead of `of`: the exchanges of that label, all answered with JSON. */
  readonly replies: string;
  /** Instead of `of`: the exchanges of that label, all answered with a stream. */
  readonly streams: string;
}

/** The items of the list that `of` returns. */
type Subject<Shared> = Shared extends
  { of: (e: Evidence) => readonly (infer Item)[] } ? Item : Exchange;

/** A check whose common members may be absent, and how its list writes it. */
type Abridged<Shared> =
  & Pick<Check, "id">
  & Partial<
    Pick<
      Check,
      "faults" | "judgesSilence" | "level" | "provedBy" | "isSkillLive"
    >
  >
  & Omit<Pick<Common, "mode" | "reads">, keyof Shared>
  & Partial<Common>
  & {
    /** The words of the rule: a quote, unless `source` is given. */
    readonly rule: Rule | string;
    /** Where a rule that is not in the specification comes from. */
    readonly source?: string;
    /** Near misses: faults whose names begin with the check's id. */
    readonly misses?: Misses;
  }
  & (
    | Pick<Check, "judge">
    | {
      /** Judges one item of `of`. */
      readonly each: (
        x: Subject<Shared>,
        e: Evidence,
      ) => Finding | readonly Finding[];
    }
  );

/**
 * Completes checks with the members that they share. A check without a level is `documented` when
 * it quotes the specification, otherwise a `convention`.
 */
export function checksWith<Shared extends Partial<Common>>(
  shared: Shared,
  checks: readonly (Abridged<Shared> | Check)[],
): readonly Check[] {
  return checks.map((check) => completed({ ...shared, ...check } as Complete));
}

/** A check with the members of its list. */
type Complete =
  & Abridged<object>
  & Partial<Common>
  & Pick<Common, "mode" | "reads">;

function completed(check: Complete): Check {
  const {
    section = "",
    source,
    rule: words,
    level,
    misses = {},
    faults = {},
    ...all
  } = check;
  const rule = typeof words !== "string"
    ? words
    : source === undefined
    ? { section, text: words }
    : { source, text: words };
  return {
    ...all,
    faults: { ...nearMisses(check.id, misses), ...faults },
    rule,
    level: level ?? ("section" in rule ? "documented" : "convention"),
    judge: "judge" in check
      ? check.judge
      : (e) =>
        judgedOf(check, e).flatMap((x) =>
          [check.each(x as Exchange, e)].flat().map((finding) => ({
            ...isExchange(x) ? { exchange: x } : {},
            ...finding,
          }))
        ),
  };
}

/** The faults of near misses, named after the check. */
export function nearMisses(id: string, misses: Misses): Faults {
  return Object.fromEntries(
    Object.entries(misses).map(([name, hooks]) => [`${id}:${name}`, hooks]),
  );
}

/** The items that `each` judges; a check's own label takes precedence over the list's `of`. */
function judgedOf(
  { of = () => [], matching, replies, streams }: Partial<Common>,
  e: Evidence,
): readonly unknown[] {
  if (matching !== undefined) return e.matching(matching);
  if (replies !== undefined) return e.replies(replies);
  return streams === undefined ? of(e) : e.streams(streams);
}

function isExchange(x: unknown): x is Exchange {
  return typeof x === "object" && x !== null && "label" in x;
}

/** All findings of these judges. */
export const allOf =
  (...judges: readonly Check["judge"][]): Check["judge"] => (e) =>
    judges.flatMap((judge) => judge(e));

/** The area of a check: the first word of its id. */
export function areaOf(check: Check): string {
  return check.id.split(".")[0] ?? "";
}

/** True when a check is judged in that kind of run. */
export function judgedIn(check: Check, mode: "live" | "replay"): boolean {
  return check.mode === "both" || check.mode === mode;
}
