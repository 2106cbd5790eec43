/**
 * Cost, tokens or charges by day or hour, stacked by model, key or account.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { JSX } from "../jsx.d.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type {
  Measure,
  Step,
} from "../../../gateway/accounts/reports/usage_series.ts";
import type {
  UsageGroup,
  UsageQuery,
} from "../../../gateway/accounts/reports/usage_query.ts";
import type { UsageLine } from "../../../gateway/accounts/reports/usage_report.ts";
import { rangeMs } from "../../../gateway/accounts/reports/days.ts";
import type { AccountScope } from "../../../gateway/admin/account_scope.ts";
import { callsLink, ledgerLink } from "../parts/figure_links.ts";
import { cutText } from "../parts/data_table.tsx";
import { keyNames } from "../parts/key_names.ts";
import { countText, moneyText, scaleText } from "../parts/money.tsx";
import { BarPlot, MAX_SERIES } from "../parts/plot.tsx";

const DAY_MS = 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;
/** Longer ranges have a bar a day. */
const HOURLY_DAYS = 3;
/** Older hours are no longer kept. */
const HOURS_KEPT_DAYS = 34;

/** What a plot can show, with its name. */
export const MEASURES: Readonly<Record<Measure, string>> = {
  cost: "Cost",
  tokens: "Tokens",
  charges: "Charges",
};

/** What a bar covers: an hour of a short range whose hours are kept, else a day. */
export function stepOf(
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
  nowMs: number,
  keptDays: number = HOURS_KEPT_DAYS,
): Step {
  return untilMs - fromMs <= HOURLY_DAYS * DAY_MS &&
      fromMs > nowMs - keptDays * DAY_MS
    ? "hour"
    : "day";
}

/** Bars of days, or of hours where the range is short, stacked by model, key or account. */
export async function usagePlot(
  admin: Admin,
  query: UsageQuery & { readonly fromDay: string; readonly toDay: string },
  { by, scope, base, lines, measure = "cost", nowMs }: {
    /** What the page groups by; models where the plot has no series of it. */
    readonly by: UsageGroup;
    readonly scope: Partial<AccountScope>;
    readonly base: string;
    /** All lines of the query grouped by `by`; absent: the plot finds those with most itself. */
    readonly lines?: readonly UsageLine[];
    /** Absent: cost. */
    readonly measure?: Measure;
    readonly nowMs: number;
  },
): Promise<JSX.Element> {
  const group = by === "key" || by === "account" ? by : "model";
  const { fromMs, untilMs } = rangeMs(query.fromDay, query.toDay);
  const step = query.user === undefined
    ? stepOf({ fromMs, untilMs }, nowMs)
    : "day";
  const { series: shown, hasOthers, sums } = await admin.usageSeries({
    ...query,
    group,
    measure,
    step,
    limit: MAX_SERIES - 1,
    ...(lines === undefined || group !== by || measure !== "cost"
      ? {}
      : { dearest: dearestOf(lines, group) }),
  });
  const names = group === "key"
    ? await keyNames(admin, scope, shown)
    : new Map<string, string>();
  const series = [
    ...shown.map((name) => names.get(name) ?? name),
    ...(hasOthers ? ["others"] : []),
  ];
  const none = Array<number>(series.length).fill(0);
  const isMoney = measure === "cost";
  const text = (value: number): string =>
    isMoney ? moneyText(value, 4) : countText(value);
  const link = scope.keyId === undefined ? ledgerLink : callsLink;
  const { accountId, keyId, model, user } = query;
  return (
    <BarPlot
      name={`${MEASURES[measure]} by ${step}${isMoney ? " in dollars" : ""}`}
      series={series}
      valueText={isMoney ? scaleText : countText}
      bars={[...timesOf(fromMs, Math.min(untilMs, nowMs), step)].map(
        (time) => {
          const values = sums.get(time) ?? none;
          const hour = (ms: number): string =>
            new Date(ms).toISOString().slice(0, 16);
          return {
            label: step === "day" ? time.slice(5) : time.slice(11),
            title: titleOf(time.replace("T", " "), series, values, text),
            href: link(base, {
              from: time,
              to: step === "day"
                ? time
                : hour(Date.parse(`${time}Z`) + HOUR_MS),
              ...(accountId === undefined || base === "/console"
                ? {}
                : { account: accountId }),
              ...compact({ key: keyId, model, user }),
            }),
            values,
          };
        },
      )}
    />
  );
}

/** `2026-11-22: $3.0000; vendora-opus-4-8 $2.0000, vendorb-5 $1.0000`. */
function titleOf(
  time: string,
  series: readonly string[],
  values: readonly number[],
  text: (value: number) => string,
): string {
  const parts = series.flatMap((name, at) => {
    const value = values[at] ?? 0;
    return value === 0 ? [] : [`${cutText(name)} ${text(value)}`];
  });
  const sum = `${time}: ${text(values.reduce((a, b) => a + b, 0))}`;
  return parts.length === 0 ? sum : `${sum}; ${parts.join(", ")}`;
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

const MAX_BARS = 366;

function* timesOf(
  fromMs: number,
  untilMs: number,
  step: Step,
): Generator<string> {
  let count = 0;
  const width = step === "day" ? DAY_MS : HOUR_MS;
  for (let ms = fromMs; ms < untilMs; ms += width) {
    if (++count > MAX_BARS) return;
    yield new Date(ms).toISOString().slice(0, step === "day" ? 10 : 16);
  }
}
