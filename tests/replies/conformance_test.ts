/** This gateway, judged by the whole conformance suite with the replay upstream. */
import assert from "node:assert/strict";
import { run } from "../../conformance/run/run.ts";
import { readSettings } from "../../conformance/run/settings.ts";

Deno.test({
  name: "this gateway conforms to every rule of the suite",
  // Scenarios leave connections open on purpose.
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => {
    const shown: string[] = [];
    const exitCode = await run(readSettings([], undefined), {
      line: (line) => shown.push(line),
      progress: () => {},
      verdict: (verdict) => verdict,
    });
    assert.equal(exitCode, 0, shown.join("\n"));
  },
});
