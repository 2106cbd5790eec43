/**
 * Calls by day or hour: how many, the errors among them by cause, or the time to the first token.
 */
import {
  OUTCOME_GROUPS,
  type OutcomeGroup,
} from "../../../gateway/accounts/calls/outcome.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import {
  type CallHealth,
  type CallHealthQuery,
  NO_CALLS,
} from "../../../gateway/accounts/reports/call_health.ts";
import type { JSX } from "../jsx.d.ts";
import { outcomeText, secondsText } from "../parts/call_ending.tsx";
import { callsLink, type FigureFilters } from "../parts/figure_links.ts";
import { countOf } from "../parts/health_table.tsx";
import { countText } from "../parts/money.tsx";
import { BarPlot } from "../parts/plot.tsx";

const HOUR_MS = 60 * 60 * 1000;
const MAX_BARS = 366;

/** What the plot can show of calls, with its name. */
export const CALL_MEASURES = {
  calls: "Calls",
  errors: "Errors",
  first_token: "First token",
} as const;

export type CallMeasure = keyof typeof CALL_MEASURES;

/** How a plot shows a measure. */
interface Shown {
  readonly series: readonly string[];
  /** The calls that the link of a bar opens; absent: all. */
  readonly outcome?: OutcomeGroup;
  values(health: CallHealth): readonly number[];
  /** A value of the scale in words. */
  text(value: number): string;
  /** After the time of a bar. */
  title(health: CallHealth): string;
}

function countsOf(
  counts:
    readonly (readonly [name: string, of: (health: CallHealth) => number])[],
  sum: (health: CallHealth) => string,
): Pick<Shown, "series" | "values" | "text" | "title"> {
  return {
    series: counts.map(([name]) => name),
    values: (health) => counts.map(([, of]) => of(health)),
    text: countText,
    title: (health) =>
      [
        sum(health),
        counts.flatMap(([name, of]) =>
          of(health) === 0 ? [] : [`${name} ${countText(of(health))}`]
        ).join(", "),
      ].filter((part) => part !== "").join("; "),
  };
}

const SHOWN: Readonly<Record<CallMeasure, Shown>> = {
  calls: countsOf(
    [
      [
        "complete",
        ({ outcomes }) => (outcomes.complete ?? 0) + (outcomes.rescued ?? 0),
      ],
      ["refused", (health) => countOf(health, "refused")],
      ["errors", (health) => countOf(health, "failed")],
      [outcomeText("caller_left"), ({ outcomes }) => outcomes.caller_left ?? 0],
    ],
    ({ calls }) => countText(calls),
  ),
  errors: {
    outcome: "failed",
    ...countsOf(
      OUTCOME_GROUPS.failed.map((one) => [
        outcomeText(one),
        ({ outcomes }) => outcomes[one] ?? 0,
      ]),
      (health) =>
        `${countText(countOf(health, "failed"))} of ${
          countText(health.calls)
        } calls`,
    ),
  },
  first_token: {
    series: ["p50", "up to p95"],
    values: ({ firstTokenMs: { p50, p95 } = { p50: 0, p95: 0 } }) => [
      p50,
      p95 - p50,
    ],
    text: secondsText,
    title: ({ firstTokenMs }) =>
      firstTokenMs === undefined
        ? "no tokens"
        : `p50 ${secondsText(firstTokenMs.p50)}, p95 ${
          secondsText(firstTokenMs.p95)
        }`,
  },
};

/** A bar for each hour or day of the query. `filters` are those of the links, but for the time. */
export async function callPlot(
  admin: Pick<Admin, "callHealths">,
  query: Omit<CallHealthQuery, "by">,
  { measure, base, filters = {}, nowMs = query.toMs }: {
    readonly measure: CallMeasure;
    readonly base: string;
    readonly filters?: Omit<FigureFilters, "from" | "to">;
    /** Later times have no bars. */
    readonly nowMs?: number;
  },
): Promise<JSX.Element> {
  const { step, fromMs } = query;
  const stepMs = step === "hour" ? HOUR_MS : 24 * HOUR_MS;
  const toMs = Math.min(
    query.toMs,
    (Math.floor(nowMs / stepMs) + 1) * stepMs,
  );
  const healths = await admin.callHealths({ ...query, by: "step" });
  const { series, outcome, values, text, title } = SHOWN[measure];
  const timeOf = (ms: number): string =>
    new Date(ms).toISOString().slice(0, step === "hour" ? 16 : 10);
  return (
    <BarPlot
      name={`${CALL_MEASURES[measure]} by ${step}`}
      series={series}
      valueText={text}
      bars={Array.from({
        length: Math.min(MAX_BARS, Math.max(0, (toMs - fromMs) / stepMs)),
      }, (_, at) => {
        const ms = fromMs + at * stepMs;
        const from = timeOf(ms);
        const health = healths.get(String(ms / stepMs)) ?? NO_CALLS;
        return {
          label: step === "hour" ? from.slice(11) : from.slice(5),
          href: callsLink(base, {
            ...filters,
            from,
            // The last day is part of a range, the last minute is not.
            to: step === "hour" ? timeOf(ms + stepMs) : from,
            ...(outcome === undefined ? {} : { outcome }),
          }),
          title: `${from.replace("T", " ")}: ${title(health)}`,
          values: values(health),
        };
      })}
    />
  );
}
