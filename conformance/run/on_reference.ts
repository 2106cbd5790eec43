/** Plays scenarios against the reference gateway, with the hooks of a mutant. */
import { Redaction } from "../evidence/redaction.ts";
import type { ReplayServer } from "@model-gateway/replay";
import { UPSTREAM_KEY } from "../reference_gateway/call_upstream.ts";
import {
  KEEP_ALIVE_MS,
  startReferenceGateway,
} from "../reference_gateway/gateway.ts";
import type { Hooks } from "../reference_gateway/hooks.ts";
import { Budget } from "../suite/budget.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";
import type { TargetProfile } from "../suite/route.ts";
import type { Scenario } from "../suite/scenario.ts";
import type { Watch } from "../suite/session.ts";
import { discover } from "./discover.ts";
import { play } from "./play.ts";

const KEY = "sk-selftest-7f3a9c51d2e84b60";
const OTHER_KEY = "sk-selftest-other-2b8e61f07d9a";

/** Time limit of a request to a mutant, which may leave a request hanging. */
const MUTANT_TIMEOUT_MS = 4000;
/**
 * Time limit of a request to the reference gateway, which leaves none hanging; on a busy machine a
 * stream split at every byte is slow.
 */
const GOLDEN_TIMEOUT_MS = 60_000;
const SCENARIOS_AT_A_TIME = 6;

export interface ReferenceRun {
  readonly profile: TargetProfile;
  readonly records: ReadonlyMap<string, ScenarioRecord>;
  /** Masks the keys of the run. */
  readonly redaction: Redaction;
}

/**
 * Plays the scenarios; `known` is the profile of an earlier run, which a mutant has, and `watch`
 * may end the run.
 */
export async function playOnReference(
  upstream: ReplayServer,
  mode: "live" | "replay",
  hooks: Hooks,
  scenarios: readonly Scenario[],
  known?: TargetProfile,
  watch?: Watch,
): Promise<ReferenceRun> {
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
    redaction.hide(UPSTREAM_KEY, "^");
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
      ...(watch === undefined ? {} : { watch }),
    } as const;
    const profile = known ?? await discover(stage);
    const { records } = await play(
      scenarios,
      { ...stage, profile, playsOnce: known !== undefined },
      SCENARIOS_AT_A_TIME,
    );
    return { profile, records, redaction };
  } finally {
    await gateway.close();
  }
}
