/**
 * `deno task conformance:selftest`: proves the suite. Every check passes on the golden gateway, and every mutant of it is
 * caught by the checks that name it.
 */
import { killMatrix } from "./run/kill_matrix.ts";
import { CHECKS } from "./checks/mod.ts";
import { runSelftest } from "./run/selftest.ts";

if (import.meta.main) {
  const filter = Deno.args.find((arg) => arg.startsWith("--filter="))?.slice(9);
  const checks = filter === undefined
    ? CHECKS
    : CHECKS.filter(({ id }) => id.includes(filter));
  const outcome = await runSelftest(checks);
  // deno-lint-ignore no-console
  console.log(killMatrix(outcome));
  Deno.exit(outcome.proved ? 0 : 1);
}
