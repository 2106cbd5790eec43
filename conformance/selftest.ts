/**
 * `deno task conformance:selftest`: proves the suite. Every check passes on the golden gateway, and every mutant of it is
 * caught by the checks that name it.
 */
import { killMatrix } from "./run/kill_matrix.ts";
import { CHECKS } from "./checks/mod.ts";
import { runSelftest } from "./run/selftest.ts";

if (import.meta.main) {
  const [option, ...more] = Deno.args;
  const filter = option?.startsWith("--filter=") === true
    ? option.slice("--filter=".length)
    : undefined;
  if (more.length > 0 || (option !== undefined && filter === undefined)) {
    refuse("the only option is --filter=PART-OF-AN-ID");
  }
  const checks = filter === undefined
    ? CHECKS
    : CHECKS.filter(({ id }) => id.includes(filter));
  if (checks.length === 0) refuse(`no check has ${filter} in its id`);
  const outcome = await runSelftest(checks);
  // deno-lint-ignore no-console
  console.log(killMatrix(outcome));
  Deno.exit(outcome.proved ? 0 : 1);
}

/** Nothing proved is no proof: what was asked for makes no sense. */
function refuse(why: string): never {
  // deno-lint-ignore no-console
  console.error(why);
  Deno.exit(2);
}
