/**
 * The suite as a library: the checks, one run with its report, and the proof that each check can
 * fail. `cli.ts` is the program.
 * @module
 */
export { CHECKS } from "./areas/checks.ts";
export { SCENARIOS } from "./areas/scenarios.ts";
export { EXIT, run } from "./run/run.ts";
export { type Screen, standardScreen } from "./reports/screen.ts";
export { readSettings, type Settings, UsageError } from "./run/settings.ts";
export { runSelftest, type SelftestOutcome } from "./run/selftest.ts";
export type { Check, Level, Mode, Rule } from "./suite/check.ts";
export type { Finding } from "./suite/finding.ts";
export type { Scenario } from "./suite/scenario.ts";
