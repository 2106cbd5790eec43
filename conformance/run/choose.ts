/**
 * Selects the checks that a run judges and the scenarios that it plays for them: filters remove
 * requests, not output.
 */
import { type Check, judgedIn, type Level } from "../suite/check.ts";
import { type Cost, sumOf, usdOf } from "../suite/budget.ts";
import type { Scenario } from "../suite/scenario.ts";
import type { Feature, TargetProfile } from "../suite/route.ts";

export function chooseChecks(
  checks: readonly Check[],
  mode: "live" | "replay",
  levels: ReadonlySet<Level>,
  filters: readonly string[],
): Check[] {
  return matching(checks, filters).filter((check) =>
    judgedIn(check, mode) && levels.has(check.level)
  );
}

/**
 * The checks without those that need a feature which the target lacks, and a line about each such
 * feature. An endpoint that the settings name is judged even if the target lacks it.
 */
export function withoutLacking(
  checks: readonly Check[],
  { lacks }: TargetProfile,
  { endpoints }: { readonly endpoints?: ReadonlySet<Feature> | undefined },
): { readonly checks: readonly Check[]; readonly lines: readonly string[] } {
  const missing = [...lacks].filter(([feature]) =>
    !(endpoints?.has(feature) === true && !MAY_LACK.includes(feature)) &&
    checks.some(({ needs }) => baseOf(needs, lacks) === feature)
  );
  const lines = missing.map(([feature, reply]) => {
    const lost = checks.filter(({ needs }) => baseOf(needs, lacks) === feature);
    return `without   ${feature.replaceAll("-", " ")}: ${
      plural(lost.length, "check")
    } left out (${reply})`;
  });
  const left = new Set(missing.map(([feature]) => feature));
  return {
    checks: checks.filter(({ needs }) =>
      needs === undefined || !left.has(baseOf(needs, lacks) ?? needs)
    ),
    lines,
  };
}

/** Features that a target may lack even where the settings name their endpoint. */
const MAY_LACK: readonly Feature[] = [
  "stored-responses",
  "second-key",
  "signs-of-life",
];

/** The feature that a feature is a part of. */
const PART_OF: Readonly<Partial<Record<Feature, Feature>>> = {
  "second-key": "stored-responses",
  "signs-of-life": "responses",
  "web-socket": "responses",
  "response-counts": "responses",
  "content-counts": "generate-content",
};

/** The widest feature that the target lacks among one and those that it is a part of. */
function baseOf(
  feature: Feature | undefined,
  lacks: TargetProfile["lacks"],
): Feature | undefined {
  if (feature === undefined) return undefined;
  const whole = PART_OF[feature];
  return whole !== undefined && lacks.has(whole) ? whole : feature;
}

/**
 * The checks that match a filter: the one with that id, otherwise all whose id contains it. An
 * empty list of filters selects all.
 */
export function matching(
  checks: readonly Check[],
  filters: readonly string[],
): readonly Check[] {
  if (filters.length === 0) return checks;
  const patterns = filters.map((filter) => {
    const text = filter.split("*").map((part) =>
      part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&")
    ).join(".*");
    const whole = checks.some(({ id }) => id === filter);
    return new RegExp(whole ? `^${text}$` : text);
  });
  return checks.filter(({ id }) =>
    patterns.some((pattern) => pattern.test(id))
  );
}

/**
 * The scenarios that the checks read, cheap ones first. Checks that read everything add no
 * requests, unless only such checks are selected.
 */
export function chooseScenarios(
  checks: readonly Check[],
  scenarios: readonly Scenario[],
  mode: "live" | "replay",
  profile: TargetProfile,
): Scenario[] {
  const named = checks.flatMap(({ reads }) =>
    reads === "everything" ? [] : reads
  );
  const wanted = new Set(
    named.length > 0 ? named : checks.flatMap(({ provedBy }) => provedBy ?? []),
  );
  return scenarios
    .filter((scenario) =>
      wanted.has(scenario.name) &&
      (scenario.mode === "both" || scenario.mode === mode)
    )
    .map((scenario) => ({ scenario, usd: usdOf(scenario.cost(profile)) }))
    .sort((left, right) => left.usd - right.usd)
    .map(({ scenario }) => scenario);
}

export function costOf(
  scenarios: readonly Scenario[],
  profile: TargetProfile,
): Cost {
  return sumOf(scenarios.map((scenario) => scenario.cost(profile)));
}

function plural(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

export function planText(
  checks: readonly Check[],
  scenarios: readonly Scenario[],
  profile: TargetProfile,
  mode: "live" | "replay",
): string {
  const total = costOf(scenarios, profile);
  const cost = mode === "replay"
    ? "nothing is billed: the replay upstream answers"
    : `at most ${total.requests} requests, ${total.outputTokens} output tokens, ${
      usdOf(total).toFixed(2)
    } dollars`;
  const route = ({ name, model }: { name: string; model: string }): string =>
    name === "model" ? model : `${model} (${name})`;
  return [
    `models    message endpoint: ${
      profile.messages.map(route).join(", ") || "none"
    }`,
    `          chat endpoint: ${profile.chat.map(route).join(", ") || "none"}`,
    ...Object.entries({
      "Responses endpoint": profile.responses,
      "generate content": profile.generate_content,
      "embeddings": profile.embeddings,
    }).flatMap(([name, routes]) =>
      routes.length === 0
        ? []
        : [`          ${name}: ${routes.map(route).join(", ")}`]
    ),
    `plan      ${plural(checks.length, "check")} from ${
      plural(scenarios.length, "scenario")
    }: ${cost}`,
  ].join("\n");
}
