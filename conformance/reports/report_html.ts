/** The HTML report: one file that loads nothing and runs nothing. */
import { areaOf } from "../suite/check.ts";
import type { Result, Verdict } from "../run/judge.ts";
import { STYLE } from "./report_style.ts";
import { escapeXml, type RunReport } from "./reports.ts";
import { cellsOf, countOf, endpointOf, LEVELS } from "./summary.ts";

/** Verdicts in the order of importance, with the labels of their counts. */
const WORDS: Readonly<Record<Verdict, string>> = {
  error: "errors of the suite",
  fail: "failed",
  "not-run": "not run",
  unclear: "unclear",
  pass: "passed",
};

const ORDER: readonly Verdict[] = [
  "error",
  "fail",
  "not-run",
  "unclear",
  "pass",
];

export function htmlReport(report: RunReport): string {
  const { results, target, mode, startedAt, requests, seconds } = report;
  const conformant = report.exitCode === 0;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${
    conformant ? "Conformant" : "Not conformant"
  }: ${escapeXml(target)}</title><style>${STYLE}</style></head><body>
<h1 class="${conformant ? "pass" : "fail"}">${headingOf(report.exitCode)}</h1>
<p class="about"><code>${escapeXml(target)}</code> · judged ${
    mode === "live" ? "live" : "with the replay upstream"
  } · ${
    escapeXml(startedAt.slice(0, 16).replace("T", " "))
  } UTC · ${requests} requests in ${seconds.toFixed(1)} s</p>
${tiles(results)}
<h2>By operation and level</h2>
${table(results)}
${groups(report)}
</body></html>
`;
}

function headingOf(exitCode: number): string {
  const words: Readonly<Record<number, string>> = {
    0: "Conformant",
    1: "Not conformant",
    4: "The suite is at fault",
    5: "Partly judged",
  };
  return words[exitCode] ?? "Not judged";
}

function tiles(results: readonly Result[]): string {
  const shown = ORDER.toReversed().filter((verdict) =>
    countOf(results, verdict) > 0 || verdict === "pass" || verdict === "fail"
  );
  const items = shown.map((verdict) =>
    `<li><b class="${verdict}">${countOf(results, verdict)}</b>${
      WORDS[verdict]
    }</li>`
  );
  return `<ul class="counts">${items.join("")}</ul>${bar(results)}`;
}

function bar(results: readonly Result[]): string {
  const parts = ORDER.toReversed().map((verdict) =>
    `<i class="${verdict}" style="width:${
      (100 * countOf(results, verdict) / Math.max(results.length, 1)).toFixed(2)
    }%"></i>`
  );
  return `<div class="bar">${parts.join("")}</div>`;
}

function table(results: readonly Result[]): string {
  const rows = cellsOf(results).map(([endpoint, cells]) =>
    `<tr><td>${escapeXml(endpoint)}</td>${
      cells.map((cell) => `<td>${cell}</td>`).join("")
    }</tr>`
  );
  return `<table><thead><tr><th>passed of judged</th>${
    LEVELS.map((level) => `<th>${level}</th>`).join("")
  }</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

/** Checks that did not pass come first, expanded; those that passed follow, by area. */
function groups(report: RunReport): string {
  const rank = ({ verdict }: Result): number => ORDER.indexOf(verdict);
  const bad = report.results.filter(({ verdict }) => verdict !== "pass")
    .toSorted((left, right) => rank(left) - rank(right));
  const passed = Map.groupBy(
    report.results.filter(({ verdict }) => verdict === "pass"),
    ({ check }) => areaOf(check),
  );
  const items = (results: readonly Result[]): string =>
    results.map((result) => item(result, report)).join("\n");
  return [
    ...(bad.length === 0 ? [] : [`<h2>What did not pass</h2>\n${items(bad)}`]),
    ...[...passed].map(([area, results]) =>
      `<h2>Passed: ${escapeXml(area)}, ${results.length}</h2>\n${
        items(results)
      }`
    ),
  ].join("\n");
}

function item(result: Result, { explanations }: RunReport): string {
  const { check, verdict } = result;
  const { rule } = check;
  const source = "section" in rule
    ? `specification, ${rule.section}`
    : rule.source;
  const detail = explanations.get(check.id);
  const open = verdict === "fail" || verdict === "error" ? " open" : "";
  return `<details class="${verdict}"${open}><summary><b class="${verdict}">${verdict}</b><code>${
    escapeXml(check.id)
  }</code><small>${check.level} · ${
    escapeXml(endpointOf(result))
  }</small></summary><blockquote>${escapeXml(rule.text)}<br><small>${
    escapeXml(source)
  }</small></blockquote>${
    detail === undefined ? "" : `<pre>${escapeXml(withoutRule(detail))}</pre>`
  }</details>`;
}

/** The explanation without the rule and its source, which the report shows already. */
function withoutRule(detail: string): string {
  const lines = detail.split("\n");
  const from = lines.findIndex((line) => /^ {2}\(.*\)$/.test(line));
  return lines.slice(from + 1).map((line) => line.replace(/^ {2}/, ""))
    .join("\n");
}
