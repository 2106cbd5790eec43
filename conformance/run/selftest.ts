/**
 * Runs checks against the reference gateway and against each mutant that a check names: once with
 * the replay upstream, and once live, as against a deployment whose upstream the suite does not
 * control.
 */
import { SCENARIOS } from "../areas/scenarios.ts";
import { CHECKS } from "../areas/checks.ts";
import type { Hooks } from "../reference_gateway/hooks.ts";
import { type ReplayServer, startReplay } from "@model-gateway/replay";
import {
  type Check,
  judgedIn,
  type Mutant,
  mutantsOf,
} from "../suite/check.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";
import type { Scenario } from "../suite/scenario.ts";
import type { Routed, TargetProfile } from "../suite/route.ts";
import { judge, type Result } from "./judge.ts";
import { KillWatch } from "./kill_watch.ts";
import { playOnReference, type ReferenceRun } from "./on_reference.ts";
import { unnoticed } from "./spoil_replies.ts";
import { changesOnlyReplies, rewriteRecord } from "./rewrite_record.ts";

export interface Kill {
  readonly check: string;
  readonly mutant: string;
  /** True when the check failed, as it must. */
  readonly killed: boolean;
  /** The check's first failing finding, or why there is none. */
  readonly reason: string;
}

/** The result of one kind of run. */
export interface Proof {
  readonly reference: readonly Result[];
  /** Every pair of check and mutant that was run. */
  readonly kills: readonly Kill[];
  /** Generic faults of replies that no check notices; sought where all checks run. */
  readonly unnoticed: readonly string[];
  readonly seconds: number;
}

export interface SelftestOutcome {
  /**
   * True when, with the replay upstream, all checks pass on the reference gateway and no mutant
   * survives, a check notices every generic fault, and when, live, no check fails on the reference
   * gateway and each is failed by a mutant.
   */
  readonly proved: boolean;
  readonly replay: Proof;
  /** Live, where the faults of some mutants cannot be observed. */
  readonly live: Proof;
  /** Ids of checks that are judged live but that no mutant fails there. */
  readonly unproved: readonly string[];
  /** Names of mutants that do not exist, and mutants that no check names. */
  readonly strays: readonly string[];
  readonly seconds: number;
}

const MUTANTS_AT_A_TIME = 6;

/**
 * Proves the checks.
 *
 * @param livePairs `every` runs all pairs of check and mutant live; `until-proved` leaves out the
 *   pairs of a check that a mutant has already failed live, which cannot change `proved`
 */
export async function runSelftest(
  checks: readonly Check[],
  livePairs: "every" | "until-proved" = "every",
): Promise<SelftestOutcome> {
  const startMs = performance.now();
  const upstream = await startReplay({ keepEntries: 5000 });
  try {
    const replay = await prove(upstream, "replay", checks, "every");
    const live = await prove(upstream, "live", checks, livePairs);
    const unproved = live.reference.map(({ check }) => check)
      .filter(({ id, isSkillLive = false }) =>
        !isSkillLive &&
        !live.kills.some(({ check, killed }) => killed && check === id)
      ).map(({ id }) => id);
    const strays = straysOf(checks);
    return {
      proved: replay.reference.every(({ verdict }) => verdict === "pass") &&
        replay.kills.every(({ killed }) => killed) &&
        live.reference.every(({ verdict }) =>
          verdict === "pass" || verdict === "unclear"
        ) && unproved.length === 0 && strays.length === 0 &&
        replay.unnoticed.length === 0,
      replay,
      live,
      unproved,
      strays,
      seconds: (performance.now() - startMs) / 1000,
    };
  } finally {
    await upstream.close();
  }
}

/** Runs the checks of one kind of run against the reference gateway and against their mutants. */
async function prove(
  upstream: ReplayServer,
  mode: "live" | "replay",
  checks: readonly Check[],
  pairs: "every" | "until-proved",
): Promise<Proof> {
  const startMs = performance.now();
  const judged = checks.filter((check) => judgedIn(check, mode));
  if (judged.length === 0) {
    return { reference: [], kills: [], unnoticed: [], seconds: 0 };
  }
  const golden = await runOn(upstream, mode, {}, judged);
  // In a live run an endpoint has one route anyway.
  const few = mode === "live"
    ? undefined
    : await runOn(upstream, mode, {}, judged, narrow(golden.profile));
  const wanted = new Map<string, Check[]>();
  for (const check of judged) {
    for (const name of Object.keys(check.faults)) {
      wanted.set(name, [...wanted.get(name) ?? [], check]);
    }
  }
  const kills: Kill[] = [];
  const provedChecks = new Set<string>();
  const order = pairs === "every" ? isSlow : isJudgedOnRecords;
  const queue = mutantsOf(CHECKS).filter(({ name }) => wanted.has(name))
    .toSorted((a, b) => Number(order(b)) - Number(order(a)));
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const named = (wanted.get(next.name) ?? []).filter((check) =>
        pairs === "every" || !provedChecks.has(check.id)
      );
      if (named.length === 0) continue;
      const own = await attack(upstream, mode, next, named, golden, few);
      kills.push(...own);
      for (const { check, killed } of own) if (killed) provedChecks.add(check);
    }
  };
  await Promise.all(Array.from({ length: MUTANTS_AT_A_TIME }, work));
  const unseen = mode === "replay" && checks.length === CHECKS.length
    ? unnoticed(golden.records, judged, golden.redaction)
    : [];
  const seconds = (performance.now() - startMs) / 1000;
  return { reference: golden.results, kills, unnoticed: unseen, seconds };
}

/**
 * True for a mutant whose requests may wait for a time limit; these run first, so that none ends
 * late.
 */
function isSlow({ hooks }: Mutant): boolean {
  return hooks.writer !== undefined || hooks.upstreamBytes !== undefined;
}

/** True for a mutant that may need no request; these run first where they can spare the others. */
function isJudgedOnRecords({ hooks }: Mutant): boolean {
  return changesOnlyReplies(hooks);
}

/**
 * Runs a mutant. One that changes only replies is judged on the reference gateway's record, as its
 * hooks rewrite it; where that does not show the fault, and for every other mutant, the requests
 * are made. Both begin with one route of each endpoint, for the checks that the reference gateway
 * passes there (`few`), and go on with all routes for the checks that did not fail.
 */
async function attack(
  upstream: ReplayServer,
  mode: "live" | "replay",
  { name, hooks }: Mutant,
  checks: readonly Check[],
  golden: Run,
  few: Run | undefined,
): Promise<Kill[]> {
  const shown: Result[] = [];
  const left = (): Check[] =>
    checks.filter((check) => shown.every((result) => result.check !== check));
  const passing = new Set(
    few?.results.filter(({ verdict }) => verdict === "pass").map((
      { check },
    ) => check),
  );
  const onFew = checks.filter((check) => passing.has(check));
  if (few !== undefined) {
    shown.push(...failuresIn(judgeRewritten(mode, hooks, onFew, few)));
  }
  shown.push(...failuresIn(judgeRewritten(mode, hooks, left(), golden)));
  const soon = left().filter((check) => passing.has(check));
  if (few !== undefined && soon.length > 0) {
    const results = await runMutant(upstream, mode, hooks, soon, few);
    shown.push(...failuresIn(results));
  }
  const late = left();
  const results = late.length === 0
    ? []
    : await runMutant(upstream, mode, hooks, late, golden);
  return [...shown, ...results].map(({ check, verdict, findings, why }) => {
    const bad = findings.find((finding) => finding.verdict === "fail");
    return {
      check: check.id,
      mutant: name,
      killed: verdict === "fail",
      reason: bad === undefined
        ? why ?? verdict
        : `${bad.fact}: expected ${bad.expected}, was ${bad.actual}`,
    };
  });
}

function failuresIn(results: readonly Result[]): Result[] {
  return results.filter(({ verdict }) => verdict === "fail");
}

function narrow(profile: TargetProfile): TargetProfile {
  const first = (name: Routed) => ({ [name]: profile[name].slice(0, 1) });
  return {
    ...profile,
    ...first("messages"),
    ...first("chat"),
    ...first("responses"),
    ...first("generate_content"),
    ...first("embeddings"),
  };
}

/** The results of the checks whose records the mutant's hooks can rewrite. */
function judgeRewritten(
  mode: "live" | "replay",
  hooks: Hooks,
  checks: readonly Check[],
  { records, redaction }: Run,
): Result[] {
  if (!changesOnlyReplies(hooks)) return [];
  const rewritten = new Map<string, ScenarioRecord | undefined>();
  return checks.flatMap((check) => {
    const own = new Map<string, ScenarioRecord>();
    for (const { name } of scenariosFor([check], mode)) {
      const record = records.get(name);
      if (record === undefined) return [];
      if (!rewritten.has(name)) {
        rewritten.set(name, rewriteRecord(record, hooks, redaction));
      }
      const changed = rewritten.get(name);
      if (changed === undefined) return [];
      own.set(name, changed);
    }
    const isUnchanged = [...own].every(([name, record]) =>
      record === records.get(name)
    );
    return isUnchanged ? [] : [judge(check, mode, own)];
  });
}

/** The records and results of one gateway. */
interface Run extends ReferenceRun {
  readonly results: readonly Result[];
}

async function runOn(
  upstream: ReplayServer,
  mode: "live" | "replay",
  hooks: Hooks,
  checks: readonly Check[],
  known?: TargetProfile,
): Promise<Run> {
  const scenarios = scenariosFor(checks, mode);
  const run = await playOnReference(upstream, mode, hooks, scenarios, known);
  const results = checks.map((check) => judge(check, mode, run.records));
  return { ...run, results };
}

/** The results of the checks on a mutant, which is asked until all of them have failed. */
async function runMutant(
  upstream: ReplayServer,
  mode: "live" | "replay",
  hooks: Hooks,
  checks: readonly Check[],
  { profile, records: expected }: Run,
): Promise<Result[]> {
  const scenarios = scenariosFor(checks, mode);
  const watch = new KillWatch(
    mode,
    checks,
    new Map(
      scenarios.flatMap(({ name }) => {
        const record = expected.get(name);
        return record === undefined ? [] : [[name, record] as const];
      }),
    ),
  );
  const { records } = await playOnReference(
    upstream,
    mode,
    hooks,
    scenarios,
    profile,
    watch,
  );
  return checks.map((check) =>
    watch.failureOf(check) ?? judge(check, mode, records)
  );
}

/** The scenarios that checks read, in the order of the registry. */
function scenariosFor(
  checks: readonly Check[],
  mode: "live" | "replay",
): Scenario[] {
  const names = new Set(
    checks.flatMap(({ reads, provedBy = [] }) =>
      reads === "everything" ? provedBy : reads
    ),
  );
  return SCENARIOS.filter((scenario) =>
    names.has(scenario.name) &&
    (scenario.mode === "both" || scenario.mode === mode)
  );
}

function straysOf(checks: readonly Check[]): string[] {
  const known = new Set(mutantsOf(CHECKS).map(({ name }) => name));
  const named = new Set(checks.flatMap(({ faults }) => Object.keys(faults)));
  return [
    ...[...named].filter((name) => !known.has(name)).map((name) =>
      `no mutant has the name ${name}`
    ),
    ...checks.filter(({ faults }) => Object.keys(faults).length === 0).map((
      { id },
    ) => `no mutant proves ${id}`),
  ];
}
