/** The proof of the suite: the reference gateway passes, and every named mutant is caught. */
import assert from "node:assert/strict";
import { CHECKS } from "./areas/checks.ts";
import { killMatrix } from "./run/kill_matrix.ts";
import { runSelftest } from "./run/selftest.ts";

Deno.test({
  name:
    "every check passes on the reference gateway and is failed by its mutants",
  // Mutants leave connections open on purpose.
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => {
    const outcome = await runSelftest(CHECKS, "until-proved");
    assert.ok(outcome.proved, killMatrix(outcome));
  },
});
