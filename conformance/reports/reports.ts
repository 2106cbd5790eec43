/** Report files: JSON contains every finding that does not pass, JUnit is for CI systems. HTML is in `report_html.ts`. */
import { areaOf } from "../suite/check.ts";
import type { Finding } from "../suite/finding.ts";
import type { Result } from "../run/judge.ts";
import { endpointOf } from "./summary.ts";

/** A finished run, as the reports show it. */
export interface RunReport {
  readonly target: string;
  /** How it was judged. */
  readonly mode: "live" | "replay";
  /** Moment of the start, RFC 3339. */
  readonly startedAt: string;
  readonly seconds: number;
  readonly requests: number;
  readonly exitCode: number;
  readonly results: readonly Result[];
  /** The explanation of each check that did not pass, by id. */
  readonly explanations: ReadonlyMap<string, string>;
}

/** Version of the JSON report. */
const SCHEMA = 2;

export function jsonReport(report: RunReport): string {
  return JSON.stringify(
    {
      schema: SCHEMA,
      target: report.target,
      mode: report.mode,
      started_at: report.startedAt,
      seconds: report.seconds,
      requests: report.requests,
      exit_code: report.exitCode,
      checks: report.results.map((result) => ({
        id: result.check.id,
        verdict: result.verdict,
        level: result.check.level,
        endpoint: endpointOf(result),
        rule: result.check.rule,
        why: result.why,
        passed: result.findings.filter(passes).length,
        findings: result.findings.filter((finding) => !passes(finding)).map((
          { exchange, ...finding },
        ) => ({
          ...finding,
          exchange: exchange === undefined
            ? undefined
            : `${exchange.scenario}/${exchange.label}`,
        })),
      })),
    },
    undefined,
    2,
  ) + "\n";
}

function passes({ verdict }: Finding): boolean {
  return verdict === "pass";
}

/**
 * The JUnit report: a failed check is a failure, a mistake of the suite is an error, other checks
 * without a verdict are skipped.
 */
export function junitReport(report: RunReport): string {
  const groups = Map.groupBy(report.results, ({ check }) => areaOf(check));
  const suites = [...groups].map(([area, results]) => {
    const count = (verdict: Result["verdict"]): number =>
      results.filter((result) => result.verdict === verdict).length;
    const skipped = count("unclear") + count("not-run");
    return `  <testsuite name="${
      escapeXml(area)
    }" tests="${results.length}" failures="${count("fail")}" errors="${
      count("error")
    }" skipped="${skipped}">\n${
      results.map((result) => testCase(result, report)).join("")
    }  </testsuite>\n`;
  });
  const of = (verdict: Result["verdict"]): number =>
    report.results.filter((result) => result.verdict === verdict).length;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="conformance" tests="${report.results.length}" failures="${
    of("fail")
  }" errors="${of("error")}" time="${report.seconds.toFixed(1)}">\n${
    suites.join("")
  }</testsuites>\n`;
}

function testCase(result: Result, report: RunReport): string {
  const { check, verdict, why } = result;
  const open = `    <testcase classname="${
    escapeXml(endpointOf(result))
  }" name="${escapeXml(check.id)}"`;
  if (verdict === "pass") return `${open}/>\n`;
  const text = escapeXml(report.explanations.get(check.id) ?? "");
  const bad = result.findings.find((finding) => finding.verdict !== "pass");
  const message = escapeXml(
    bad === undefined
      ? why ?? verdict
      : `${bad.fact}: expected ${bad.expected}, was ${bad.actual}`,
  );
  const inner = {
    fail:
      `<failure type="${check.level}" message="${message}">${text}</failure>`,
    error: `<error message="${message}">${text}</error>`,
    unclear: `<skipped message="${message}"/>`,
    "not-run": `<skipped message="${message}"/>`,
  }[verdict];
  return `${open}>${inner}</testcase>\n`;
}

/** The text escaped for XML and HTML; characters that XML forbids become U+FFFD. */
export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;").replaceAll('"', "&quot;")
    .replaceAll(
      // deno-lint-ignore no-control-regex
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g,
      "\ufffd",
    );
}
