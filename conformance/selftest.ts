/**
 * `deno task conformance:selftest`: proves the suite. Every check passes on the reference gateway,
 * and every mutant is caught by the checks that name it.
 */
import { killMatrix } from "./run/kill_matrix.ts";
import { CHECKS } from "./areas/checks.ts";
import { matching } from "./run/choose.ts";
import { runSelftest } from "./run/selftest.ts";

if (import.meta.main) {
  const filters = Deno.args.flatMap((option) => {
    const [, ids] = /^--filter=(.+)$/.exec(option) ?? [];
    return ids?.split(",") ??
      refuse("the only option is --filter=ID[,ID], which is repeatable");
  });
  const checks = matching(CHECKS, filters);
  if (checks.length === 0) refuse(`no check matches ${filters.join(", ")}`);
  const outcome = await runSelftest(checks);
  // deno-lint-ignore no-console
  console.log(killMatrix(outcome));
  Deno.exit(outcome.proved ? 0 : 1);
}

/** Exits with an error: proving nothing is not a proof. */
function refuse(why: string): never {
  // deno-lint-ignore no-console
  console.error(why);
  Deno.exit(2);
}
