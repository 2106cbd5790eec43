/** The HTML report: one file, nothing loaded from elsewhere. */
import { escapeXml, type RunReport } from "./reports.ts";
import { countOf, endpointOf, summaryTable } from "./summary.ts";

const STYLE =
  "body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}" +
  "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f4f4;padding:.7rem;font-size:13px}" +
  "summary{cursor:pointer;padding:.15rem 0}code{font-size:14px}" +
  ".fail,.error{color:#a30000}.pass{color:#0a6b2d}.unclear,.not-run{color:#7a5a00}" +
  "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#242424}.fail,.error{color:#ff8a80}.pass{color:#7bd88f}.unclear,.not-run{color:#e0c060}}";

/** Renders the report. */
export function htmlReport(report: RunReport): string {
  const { results } = report;
  const order = ["error", "fail", "not-run", "unclear", "pass"];
  const sorted = results.toSorted((left, right) =>
    order.indexOf(left.verdict) - order.indexOf(right.verdict)
  );
  const items = sorted.map((result) => {
    const { check, verdict } = result;
    const detail = report.explanations.get(check.id) ??
      `  "${check.rule.text}"`;
    return `<details${
      verdict === "fail" || verdict === "error" ? " open" : ""
    }><summary><b class="${verdict}">${verdict}</b> <code>${
      escapeXml(check.id)
    }</code> ${check.level} · ${escapeXml(endpointOf(result))}</summary><pre>${
      escapeXml(detail)
    }</pre></details>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Conformance of ${
    escapeXml(report.target)
  }</title><style>${STYLE}</style></head><body>
<h1>Conformance</h1>
<p>${escapeXml(report.target)}, ${report.mode}, ${
    escapeXml(report.startedAt)
  }, ${report.requests} requests in ${report.seconds.toFixed(1)} s</p>
<p><b class="pass">${countOf(results, "pass")} passed</b>, <b class="fail">${
    countOf(results, "fail")
  } failed</b>, ${countOf(results, "unclear")} unclear, ${
    countOf(results, "not-run")
  } not run, ${countOf(results, "error")} errors</p>
<pre>${escapeXml(summaryTable(results))}</pre>
${items.join("\n")}
</body></html>
`;
}
