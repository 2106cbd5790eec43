/**
 * Runs checks against the reference gateway and against each mutant that a check names: once with
 * the replay upstream, and once live, as against a deployment whose upstream the suite does not
 * control.
 */
import { SCENARIOS } from "../areas/scenarios.ts";
import { CHECKS } from "../areas/checks.ts";
import { UPSTREAM_KEY } from "../reference_gateway/call_upstream.ts";
import {
  KEEP_ALIVE_MS,
  startReferenceGateway,
} from "../reference_gateway/gateway.ts";
import type { Hooks } from "../reference_gateway/hooks.ts";
import { Redaction } from "../evidence/redaction.ts";
import { type ReplayServer, startReplay } from "@model-gateway/replay";
import { Budget } from "../suite/budget.ts";
import {
  type Check,
  judgedIn,
  type Mutant,
  mutantsOf,
} from "../suite/check.ts";
import type { Scenario } from "../suite/scenario.ts";
import type { TargetProfile } from "../suite/route.ts";
import { discover } from "./discover.ts";
import { judge, type Result } from "./judge.ts";
import { play } from "./play.ts";

/** One check against one mutant. */
export interface Kill {
  /** The check's id. */
  readonly check: string;
  /** The mutant's name. */
  readonly mutant: string;
  /** True when the check failed, as it must. */
  readonly killed: boolean;
  /** The check's first failing finding, or why there is none. */
  readonly reason: string;
}

/** The result of one kind of run. */
export interface Proof {
  /** The checks on the reference gateway. */
  readonly reference: readonly Result[];
  /** Every pair of check and mutant that was run. */
  readonly kills: readonly Kill[];
  /** Duration. */
  readonly seconds: number;
}

/** The result of the self-test. */
export interface SelftestOutcome {
  /**
   * True when, with the replay upstream, all checks pass on the reference gateway and no mutant
   * survives, and when, live, no check fails on the reference gateway and each is failed by a
   * mutant.
   */
  readonly proved: boolean;
  /** With the replay upstream. */
  readonly replay: Proof;
  /** Live, where the faults of some mutants cannot be observed. */
  readonly live: Proof;
  /** Ids of checks that are judged live but that no mutant fails there. */
  readonly unproved: readonly string[];
  /** Names of mutants that do not exist, and mutants that no check names. */
  readonly strays: readonly string[];
  /** Duration in all. */
  readonly seconds: number;
}

const KEY = "sk-selftest-7f3a9c51d2e84b60";
const OTHER_KEY = "sk-selftest-other-2b8e61f07d9a";

/** Time limit of a request to a mutant, which may leave a request hanging. */
const MUTANT_TIMEOUT_MS = 4000;
/**
 * Time limit of a request to the reference gateway, which leaves none hanging; on a busy machine a
 * stream split at every byte is slow.
 */
const GOLDEN_TIMEOUT_MS = 60_000;
const MUTANTS_AT_A_TIME = 6;
const SCENARIOS_AT_A_TIME = 6;

/** Proves the checks. */
export async function runSelftest(
  checks: readonly Check[],
): Promise<SelftestOutcome> {
  const startMs = performance.now();
  const upstream = await startReplay({ keepEntries: 5000 });
  try {
    const replay = await prove(upstream, "replay", checks);
    const live = await prove(upstream, "live", checks);
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
        ) && unproved.length === 0 && strays.length === 0,
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
): Promise<Proof> {
  const startMs = performance.now();
  const judged = checks.filter((check) => judgedIn(check, mode));
  if (judged.length === 0) {
    return { reference: [], kills: [], seconds: 0 };
  }
  const { results: reference, profile } = await runOn(
    upstream,
    mode,
    {},
    judged,
  );
  const wanted = new Map<string, Check[]>();
  for (const check of judged) {
    for (const name of Object.keys(check.faults)) {
      wanted.set(name, [...wanted.get(name) ?? [], check]);
    }
  }
  const kills: Kill[] = [];
  const queue = mutantsOf(CHECKS).filter(({ name }) => wanted.has(name));
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const named = wanted.get(next.name) ?? [];
      kills.push(...await attack(upstream, mode, next, named, profile));
    }
  };
  await Promise.all(Array.from({ length: MUTANTS_AT_A_TIME }, work));
  return { reference, kills, seconds: (performance.now() - startMs) / 1000 };
}

async function attack(
  upstream: ReplayServer,
  mode: "live" | "replay",
  { name, hooks }: Mutant,
  checks: readonly Check[],
  profile: TargetProfile,
): Promise<Kill[]> {
  const { results } = await runOn(upstream, mode, hooks, checks, profile);
  return results.map(({ check, verdict, findings, why }) => {
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

async function runOn(
  upstream: ReplayServer,
  mode: "live" | "replay",
  hooks: Hooks,
  checks: readonly Check[],
  known?: TargetProfile,
): Promise<{ results: readonly Result[]; profile: TargetProfile }> {
  const gateway = await startReferenceGateway({
    key: KEY,
    otherKey: OTHER_KEY,
    upstreamUrl: upstream.url,
    hooks,
  });
  try {
    const redaction = new Redaction();
    redaction.hide(KEY);
    redaction.hide(OTHER_KEY, "+");
    redaction.hide(UPSTREAM_KEY);
    const stage = {
      mode,
      baseUrl: gateway.url,
      key: KEY,
      otherKey: OTHER_KEY,
      keepAliveMs: KEEP_ALIVE_MS,
      ...(mode === "replay" ? { replay: upstream } : {}),
      redaction,
      budget: new Budget({}),
      timeoutMs: known === undefined ? GOLDEN_TIMEOUT_MS : MUTANT_TIMEOUT_MS,
      seed: 1,
    } as const;
    const profile = known ?? await discover(stage);
    const { records } = await play(
      scenariosFor(checks, mode),
      { ...stage, profile },
      SCENARIOS_AT_A_TIME,
    );
    const results = checks.map((check) => judge(check, mode, records));
    return { results, profile };
  } finally {
    await gateway.close();
  }
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
