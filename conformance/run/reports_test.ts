import assert from "node:assert/strict";
import type { Check } from "../suite/check.ts";
import { fact } from "../suite/finding.ts";
import type { Result, Verdict } from "./judge.ts";
import { htmlReport } from "./report_html.ts";
import { junitReport, type RunReport } from "./reports.ts";

function result(verdict: Verdict): Result {
  const check: Check = {
    id: `models.${verdict}`,
    rule: { source: "here", text: "</script> ]]> & \u0001" },
    level: "convention",
    mode: "both",
    reads: ["x"],
    judge: () => [],
    mutants: [],
  };
  const findings = [fact(verdict === "pass", "a", "<b>", '"c"')];
  return { check, verdict, findings };
}

const REPORT: RunReport = {
  target: "http://x",
  mode: "live",
  startedAt: "2026-01-01T00:00:00Z",
  seconds: 1,
  requests: 1,
  exitCode: 1,
  results: (["pass", "fail", "error", "unclear", "not-run"] as const).map(
    result,
  ),
  explanations: new Map([["models.fail", "</script> ]]> \u0001"]]),
};

Deno.test("junitReport() tells failures as failures and faults of the suite as errors", () => {
  const xml = junitReport(REPORT);
  assert.match(
    xml,
    /<testsuite name="models" tests="5" failures="1" errors="1" skipped="2">/,
  );
  assert.match(xml, /name="models\.fail"><failure type="convention"/);
  assert.match(xml, /name="models\.error"><error /);
  assert.match(xml, /name="models\.pass"\/>/);
  assert.ok(!xml.includes("\u0001") && !xml.includes("]]>"));
});

Deno.test("htmlReport() is one file in which nothing of the target is markup", () => {
  const html = htmlReport(REPORT);
  assert.ok(!html.includes("</script>") && !/src=|href=/.test(html));
});
