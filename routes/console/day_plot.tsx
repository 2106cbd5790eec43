/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * Cost by day, stacked by model, key or account.
 *
 * @module
 */
import type { JSX } from "./jsx.d.ts";
import type { Admin } from "../../gateway/accounts/repositories/admin.ts";
import type {
  UsageGroup,
  UsageQuery,
} from "../../gateway/accounts/repositories/usage_query.ts";
import type { UsageLine } from "../../gateway/accounts/repositories/usage_report.ts";
import type { AccountScope } from "../../gateway/admin/account_scope.ts";
import { callsLink } from "./figure_links.ts";
import { keyNames } from "./key_names.ts";
import { moneyText, scaleText } from "./money.tsx";
import { BarPlot, MAX_SERIES } from "./plot.tsx";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Bars of a day's cost, stacked by model, key or account. */
export async function dayPlot(
  admin: Admin,
  query: UsageQuery,
  { by, scope, base, lines }: {
    /** What the page groups by; models where the plot has no series of it. */
    readonly by: UsageGroup;
    readonly scope: Partial<AccountScope>;
    readonly base: string;
    /** All lines of the query grouped by `by`; absent: the plot finds the dearest ones itself. */
    readonly lines?: readonly UsageLine[];
  },
): Promise<JSX.Element> {
  const group = by === "key" || by === "account" ? by : "model";
  const { series: shown, hasOthers, days: sums } = await admin.dailyCost({
    ...query,
    group,
    limit: MAX_SERIES - 1,
    ...(lines === undefined || group !== by
      ? {}
      : { dearest: dearestOf(lines, group) }),
  });
  const names = group === "key"
    ? await keyNames(admin, scope, shown)
    : new Map<string, string>();
  const none = Array<number>(shown.length + (hasOthers ? 1 : 0)).fill(0);
  const days = new Map<string, readonly number[]>();
  for (const day of daysBetween(query.fromDay ?? "", query.toDay ?? "")) {
    days.set(day, sums.get(day) ?? none);
  }
  return (
    <BarPlot
      name="Cost by day in dollars"
      series={[
        ...shown.map((name) => names.get(name) ?? name),
        ...(hasOthers ? ["others"] : []),
      ]}
      valueText={scaleText}
      bars={[...days].map(([day, values]) => {
        const sum = values.reduce((a, b) => a + b, 0);
        return {
          label: day.slice(5),
          title: `${day}: ${moneyText(sum, 4)}`,
          href: callsLink(base, {
            from: day,
            to: day,
            ...(query.accountId === undefined || base === "/console"
              ? {}
              : { account: query.accountId }),
            ...(query.keyId === undefined ? {} : { key: query.keyId }),
            ...(query.model === undefined ? {} : { model: query.model }),
            ...(query.user === undefined ? {} : { user: query.user }),
          }),
          values,
        };
      })}
    />
  );
}

function dearestOf(
  lines: readonly UsageLine[],
  group: "model" | "key" | "account",
): readonly string[] {
  return lines.toSorted((a, b) => b.microUsd - a.microUsd).map((line) =>
    (group === "key"
      ? line.keyId
      : group === "account"
      ? line.accountId
      : line.model) ?? ""
  );
}

const MAX_DAYS = 366;

function* daysBetween(from: string, to: string): Generator<string> {
  const lastMs = Date.parse(to);
  let count = 0;
  for (let ms = Date.parse(from); ms <= lastMs; ms += DAY_MS) {
    if (++count > MAX_DAYS) return;
    yield new Date(ms).toISOString().slice(0, 10);
  }
}
