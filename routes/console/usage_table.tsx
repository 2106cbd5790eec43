/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The figures of a usage report, each a link to what it adds up.
 *
 * @module
 */
import type { JSX } from "./jsx.d.ts";
import type {
  UsageLine,
  UsageReport,
} from "../../gateway/accounts/repositories/usage_report.ts";
import { DataTable, Foreign } from "./data_table.tsx";
import { countText, decimalsOf, Money } from "./money.tsx";

/** What a usage page groups by. */
export type UsageBy = "day" | "model" | "key" | "user" | "account";

/** Lines with their sum. */
export function UsageTable(
  { report, by, names, base, chosen }: {
    readonly report: UsageReport;
    readonly by: UsageBy;
    readonly names: ReadonlyMap<string, string>;
    readonly base: string;
    readonly chosen: { readonly from: string; readonly to: string };
  },
): JSX.Element {
  const { data, totals } = report;
  const decimals = decimalsOf([totals.microUsd]);
  const rows = by === "day"
    ? data.toReversed()
    : data.toSorted((a, b) => b.microUsd - a.microUsd);
  const heading = {
    day: "Day",
    model: "Model",
    key: "Key",
    user: "End user",
    account: "Account",
  };
  const linkOf = (line: UsageLine): JSX.Element => {
    const search = new URLSearchParams({ from: chosen.from, to: chosen.to });
    switch (by) {
      case "day":
        return (
          <a
            href={`${base}/usage?from=${line.day}&to=${line.day}&by=model`}
          >
            {line.day ?? ""}
          </a>
        );
      case "model":
        search.set("model", line.model ?? "");
        return (
          <a href={`${base}/usage?${search}`}>
            <Foreign text={line.model ?? ""} />
          </a>
        );
      case "key":
        search.set("key", line.keyId ?? "");
        return (
          <a href={`${base}/usage?${search}`}>
            <Foreign text={names.get(line.keyId ?? "") ?? line.keyId ?? ""} />
          </a>
        );
      case "account":
        return (
          <a
            href={`${base}/accounts/${
              encodeURIComponent(line.accountId ?? "")
            }`}
          >
            <Foreign text={line.accountId ?? ""} />
          </a>
        );
      case "user":
        return line.user === "" || line.user === undefined
          ? <span class="soft">none given</span>
          : <Foreign text={line.user} />;
    }
  };
  return (
    <>
      <DataTable
        name={`Usage by ${by}`}
        rows={rows}
        columns={[
          { name: heading[by], cell: linkOf, sum: "Sum" },
          {
            name: "Calls",
            number: true,
            cell: (line) => countText(line.requests),
            sum: countText(totals.requests),
          },
          {
            name: "Input",
            number: true,
            cell: (line) => countText(line.inputTokens),
            sum: countText(totals.inputTokens),
          },
          {
            name: "Cache read",
            number: true,
            cell: (line) => countText(line.cacheReadTokens),
            sum: countText(totals.cacheReadTokens),
          },
          {
            name: "Cache write",
            number: true,
            cell: (line) => countText(line.cacheWriteTokens),
            sum: countText(totals.cacheWriteTokens),
          },
          {
            name: "Output",
            number: true,
            cell: (line) => countText(line.outputTokens),
            sum: countText(totals.outputTokens),
          },
          {
            name: "Estimated calls",
            number: true,
            cell: (line) => countText(line.estimatedRequests),
            sum: countText(totals.estimatedRequests),
          },
          {
            name: "Cost",
            number: true,
            cell: (line) => (
              <Money
                microUsd={line.microUsd}
                decimals={decimals}
                estimated={(line.estimatedMicroUsd ?? 0) > 0}
              />
            ),
            sum: <Money microUsd={totals.microUsd} decimals={decimals} />,
          },
        ]}
      />
      {report.next === undefined ? null : (
        <p class="soft">
          The first {countText(data.length)}{" "}
          lines; the sum is that of all of them. The CSV has every line.
        </p>
      )}
    </>
  );
}
