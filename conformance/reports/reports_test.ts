import assert from "node:assert/strict";
import type { Check } from "../suite/check.ts";
import { fact } from "../suite/finding.ts";
import type { Result, Verdict } from "../run/judge.ts";
import { htmlReport } from "./report_html.ts";
import { endpointOf } from "./summary.ts";
import { jsonReport, junitReport, type RunReport } from "./reports.ts";

function result(verdict: Verdict): Result {
  const check: Check = {
    id: `models.${verdict}`,
    rule: { source: "here", text: "</script> ]]> & \u0001" },
    level: "convention",
    mode: "both",
    reads: ["x"],
    judge: () => [],
    faults: {},
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

Deno.test("endpointOf() names the endpoint of every format, and none for areas of several", () => {
  const endpointsOf = (...areas: readonly string[]) =>
    areas.map((area) => {
      const one = result("pass");
      return endpointOf({ ...one, check: { ...one.check, id: `${area}.x` } });
    });
  assert.deepEqual(
    endpointsOf("chat_stream", "responses", "embeddings", "auth"),
    [
      "POST /v1/chat/completions",
      "POST /v1/responses",
      "POST /v1/embeddings",
      "several operations",
    ],
  );
});

Deno.test("junitReport() reports failed checks as failures and mistakes of the suite as errors", () => {
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

/**
 * The names of elements in order, `/x` for ends; fails on input that a strict XML parser refuses.
 */
function tagsOf(xml: string): string[] {
  const open: string[] = [];
  const seen: string[] = [];
  const body = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, "");
  assert.notEqual(body, xml);
  for (const [piece] of body.matchAll(/<[^>]*>|[^<]+/g)) {
    assert.doesNotMatch(
      piece.replaceAll(/&(?:amp|lt|gt|quot);/g, ""),
      /&/,
      `stray & in ${piece}`,
    );
    if (!piece.startsWith("<")) continue;
    const [, end, name, single] =
      /^<(\/?)([a-z]+)(?: [a-z]+="[^"<]*")*(\/?)>$/.exec(piece) ?? [];
    assert.ok(name !== undefined, `not an XML tag: ${piece}`);
    seen.push(`${end}${name}`);
    if (end === "/") assert.equal(open.pop(), name);
    else if (single !== "/") open.push(name);
  }
  assert.deepEqual(open, []);
  return seen;
}

Deno.test("junitReport() is well-formed XML with one failure, one error and two skipped", () => {
  const tags = tagsOf(junitReport(REPORT));
  const count = (name: string): number =>
    tags.filter((tag) => tag === name).length;
  assert.deepEqual(
    ["testsuites", "testsuite", "testcase", "failure", "error", "skipped"].map(
      count,
    ),
    [1, 1, 5, 1, 1, 2],
  );
});

Deno.test("jsonReport() names every check with its verdict", () => {
  const { checks, exit_code } = JSON.parse(jsonReport(REPORT));
  assert.equal(exit_code, 1);
  assert.deepEqual(
    checks.map(({ verdict }: { verdict: string }) => verdict),
    ["pass", "fail", "error", "unclear", "not-run"],
  );
});

Deno.test("htmlReport() is one file in which no text of the target is markup", () => {
  const html = htmlReport(REPORT);
  assert.ok(!/<\/?script|src=|href=|url\(|@import/.test(html));
});
