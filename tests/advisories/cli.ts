/**
 * `deno task advisories`: looks up known vulnerabilities of the locked packages at the registry
 * (`NPM_CONFIG_REGISTRY`, else npm's) and writes `advisories.json`. Exit codes: 0, 1 where one has
 * no reason or the list is not in step with `deno.lock`, 3 where the registry does not answer.
 */
import {
  type AdvisoryList,
  faultsOf,
  inStep,
  lockedPackages,
  NoAnswerError,
  renewed,
} from "./advisory_list.ts";

const LIST = new URL("../../advisories.json", import.meta.url);
const LOCK = new URL("../../deno.lock", import.meta.url);
const registry = Deno.env.get("NPM_CONFIG_REGISTRY") ??
  "https://registry.npmjs.org/";
// deno-lint-ignore no-console
const print = console.info;

const locked = lockedPackages(await Deno.readTextFile(LOCK));
// Written by this program.
let list = JSON.parse(await Deno.readTextFile(LIST)) as AdvisoryList;
let hasAnswer = true;
try {
  const day = new Date().toISOString().slice(0, 10);
  list = await renewed(list, locked, registry, day);
} catch (error) {
  if (!(error instanceof NoAnswerError)) throw error;
  hasAnswer = false;
  list = inStep(list, locked);
  print(
    `NOT LOOKED UP: the registry ${new URL(registry).host} ${error.message}`,
  );
}
await Deno.writeTextFile(LIST, `${JSON.stringify(list, null, 2)}\n`);
const never = Object.values(list.packages).filter((day) => day === null).length;
print(
  `${locked.length} packages, ${never} of them never looked up; ${list.advisories.length} known vulnerabilities`,
);
const faults = faultsOf(list, locked);
for (const fault of faults) print(`  ${fault}`);
Deno.exit(faults.length > 0 ? 1 : hasAnswer ? 0 : 3);
