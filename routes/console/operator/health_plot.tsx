/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The errors of each hour by cause, or the time to the first token.
 *
 * @module
 */
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type { CallHealth } from "../../../gateway/accounts/repositories/call_health.ts";
import type { JSX } from "../jsx.d.ts";
import { outcomeText, secondsText } from "../parts/call_ending.tsx";
import { callsLink } from "../parts/figure_links.ts";
import { countText } from "../parts/money.tsx";
import { BarPlot } from "../parts/plot.tsx";
import { CAUSES } from "./health.tsx";

const HOUR_MS = 60 * 60 * 1000;
const BASE = "/console/operator";

/** What the plot shows, with its name. */
export const HEALTH_MEASURES = {
  errors: "Errors",
  first_token: "First token",
} as const;

/** One of {@linkcode HEALTH_MEASURES}. */
export type HealthMeasure = keyof typeof HEALTH_MEASURES;

/** A bar for each hour before `untilMs`, which is the end of one. */
export async function healthPlot(
  admin: Pick<Admin, "callHealths">,
  measure: HealthMeasure,
  untilMs: number,
  hours: number,
): Promise<JSX.Element> {
  const fromMs = untilMs - hours * HOUR_MS;
  const spans = await admin.callHealths(fromMs, untilMs, HOUR_MS);
  const minute = (ms: number): string =>
    new Date(ms).toISOString().slice(0, 16);
  return (
    <BarPlot
      name={`${HEALTH_MEASURES[measure]} by hour`}
      series={measure === "errors"
        ? CAUSES.map(outcomeText)
        : ["p50", "up to p95"]}
      valueText={measure === "errors" ? countText : (ms) => secondsText(ms)}
      bars={Array.from({ length: hours }, (_, at) => {
        const ms = fromMs + at * HOUR_MS;
        const [from, to] = [minute(ms), minute(ms + HOUR_MS)];
        const health = spans.get(ms);
        return {
          label: from.slice(11),
          href: callsLink(BASE, { from, to }),
          title: `${from.replace("T", " ")}: ${titleOf(measure, health)}`,
          values: valuesOf(measure, health),
        };
      })}
    />
  );
}

function valuesOf(
  measure: HealthMeasure,
  health: CallHealth | undefined,
): readonly number[] {
  if (measure === "errors") {
    return CAUSES.map((one) => health?.outcomes[one] ?? 0);
  }
  const { p50 = 0, p95 = 0 } = health?.firstTokenMs ?? {};
  return [p50, p95 - p50];
}

function titleOf(
  measure: HealthMeasure,
  health: CallHealth | undefined,
): string {
  if (health === undefined) return "no calls";
  if (measure === "first_token") {
    const { firstTokenMs } = health;
    return firstTokenMs === undefined
      ? "no tokens"
      : `p50 ${secondsText(firstTokenMs.p50)}, p95 ${
        secondsText(firstTokenMs.p95)
      }`;
  }
  const causes = CAUSES.flatMap((one) => {
    const count = health.outcomes[one] ?? 0;
    return count === 0 ? [] : [`${outcomeText(one)} ${countText(count)}`];
  });
  return `${causes.length === 0 ? "no errors" : causes.join(", ")}, of ${
    countText(health.calls)
  } calls`;
}
