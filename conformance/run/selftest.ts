/** Runs checks against the golden gateway and against each mutant that a check names. */
import { SCENARIOS } from "../scenarios/mod.ts";
import { MUTANTS } from "../mutants/mod.ts";
import type { Mutant } from "../mutants/mutant.ts";
import { UPSTREAM_KEY } from "../golden/call_upstream.ts";
import { startGolden } from "../golden/gateway.ts";
import type { Hooks } from "../golden/hooks.ts";
import { Redaction } from "../evidence/redaction.ts";
import { type ReplayServer, startReplay } from "../replay.ts";
import { Budget } from "../suite/budget.ts";
import type { Check } from "../suite/check.ts";
import type { Scenario, TargetProfile } from "../suite/scenario.ts";
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
  /** What the check said first, or why it could not. */
  readonly said: string;
}

/** What the self-test found. */
export interface SelftestOutcome {
  /** True when all checks pass on the golden gateway and no mutant survives. */
  readonly proved: boolean;
  /** The checks on the golden gateway. */
  readonly golden: readonly Result[];
  /** Every named pair. */
  readonly kills: readonly Kill[];
  /** Names that no mutant has, and mutants that no check names. */
  readonly strays: readonly string[];
  /** How long it took. */
  readonly seconds: number;
}

const KEY = "sk-selftest-7f3a9c51d2e84b60";

/** A mutant may leave a request hanging: it is waited for so long. */
const MUTANT_TIMEOUT_MS = 4000;
/** The golden gateway leaves none hanging; on a busy machine a stream cut at every byte takes its time. */
const GOLDEN_TIMEOUT_MS = 60_000;
const MUTANTS_AT_A_TIME = 6;
const SCENARIOS_AT_A_TIME = 6;

/** Proves checks. */
export async function runSelftest(
  checks: readonly Check[],
): Promise<SelftestOutcome> {
  const startMs = performance.now();
  const replay = await startReplay({ keepEntries: 5000 });
  try {
    const provable = checks.filter(({ mode }) => mode !== "live");
    const { results: golden, profile } = await runOn(replay, {}, provable);
    const wanted = new Map<string, Check[]>();
    for (const check of provable) {
      for (const name of check.mutants) {
        wanted.set(name, [...wanted.get(name) ?? [], check]);
      }
    }
    const kills: Kill[] = [];
    const queue = MUTANTS.filter(({ name }) => wanted.has(name));
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        kills.push(
          ...await attack(replay, next, wanted.get(next.name) ?? [], profile),
        );
      }
    };
    await Promise.all(Array.from({ length: MUTANTS_AT_A_TIME }, work));
    const strays = straysOf(checks, wanted);
    return {
      proved: golden.every(({ verdict }) => verdict === "pass") &&
        kills.every(({ killed }) => killed) && strays.length === 0,
      golden,
      kills,
      strays,
      seconds: (performance.now() - startMs) / 1000,
    };
  } finally {
    await replay.close();
  }
}

async function attack(
  replay: ReplayServer,
  { name, hooks }: Mutant,
  checks: readonly Check[],
  profile: TargetProfile,
): Promise<Kill[]> {
  const { results } = await runOn(replay, hooks, checks, profile);
  return results.map(({ check, verdict, findings, why }) => {
    const bad = findings.find((finding) => finding.verdict === "fail");
    return {
      check: check.id,
      mutant: name,
      killed: verdict === "fail",
      said: bad === undefined
        ? why ?? verdict
        : `${bad.fact}: expected ${bad.expected}, was ${bad.actual}`,
    };
  });
}

async function runOn(
  replay: ReplayServer,
  hooks: Hooks,
  checks: readonly Check[],
  known?: TargetProfile,
): Promise<{ results: readonly Result[]; profile: TargetProfile }> {
  const golden = await startGolden({
    key: KEY,
    upstreamUrl: replay.url,
    hooks,
  });
  try {
    const redaction = new Redaction();
    redaction.hide(KEY);
    redaction.hide(UPSTREAM_KEY);
    const stage = {
      mode: "replay",
      baseUrl: golden.url,
      key: KEY,
      replay,
      redaction,
      budget: new Budget({}),
      timeoutMs: known === undefined ? GOLDEN_TIMEOUT_MS : MUTANT_TIMEOUT_MS,
      seed: 1,
    } as const;
    const profile = known ?? await discover(stage);
    const { records } = await play(
      scenariosFor(checks),
      { ...stage, profile },
      SCENARIOS_AT_A_TIME,
    );
    const results = checks.map((check) => judge(check, "replay", records));
    return { results, profile };
  } finally {
    await golden.close();
  }
}

/** The scenarios that checks read, in the order of the registry. */
function scenariosFor(checks: readonly Check[]): Scenario[] {
  const names = new Set(
    checks.flatMap(({ reads, provedBy = [] }) =>
      reads === "everything" ? provedBy : reads
    ),
  );
  return SCENARIOS.filter(({ name }) => names.has(name));
}

function straysOf(
  checks: readonly Check[],
  wanted: ReadonlyMap<string, readonly Check[]>,
): string[] {
  const known = new Set(MUTANTS.map(({ name }) => name));
  return [
    ...[...wanted.keys()].filter((name) => !known.has(name)).map((name) =>
      `no mutant has the name ${name}`
    ),
    ...checks.filter(({ mutants, mode }) =>
      mutants.length === 0 && mode !== "live"
    ).map(({ id }) => `no mutant proves ${id}`),
  ];
}
