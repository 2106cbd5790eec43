/**
 * How calls went: how many, what became of them, and the time to the first token. Each figure is a
 * link to the calls that it counts.
 */
import {
  OUTCOME_GROUPS,
  OUTCOME_NAMES,
  type OutcomeGroup,
} from "../../../gateway/accounts/calls/outcome.ts";
import type { CallHealth } from "../../../gateway/accounts/reports/call_health.ts";
import type { JSX } from "../jsx.d.ts";
import { outcomeText, secondsText } from "./call_ending.tsx";
import { DataTable } from "./data_table.tsx";
import { callsLink, type FigureFilters } from "./figure_links.ts";
import { countText } from "./money.tsx";

/** A span of time, whose calls are counted. */
interface HealthRow {
  readonly name: string;
  readonly filters: FigureFilters;
  readonly health: CallHealth;
}

/** A line for each span. */
export function HealthTable(
  { base, rows }: {
    readonly base: string;
    readonly rows: readonly HealthRow[];
  },
): JSX.Element {
  return (
    <DataTable<HealthRow>
      name="Health"
      rows={rows}
      columns={[
        { name: "Time", cell: ({ name }) => name },
        {
          name: "Calls",
          number: true,
          cell: ({ filters, health: { calls } }) => (
            <a href={callsLink(base, filters)}>{countText(calls)}</a>
          ),
        },
        {
          name: "Errors",
          number: true,
          cell: ({ filters, health }) =>
            health.calls === 0
              ? "–"
              : (
                <a href={callsLink(base, { ...filters, outcome: "failed" })}>
                  {(countOf(health, "failed") / health.calls * 100).toFixed(1)}
                  {" "}
                  %
                </a>
              ),
        },
        {
          name: "By cause",
          wraps: true,
          cell: ({ filters, health: { outcomes } }) =>
            OUTCOME_NAMES.filter((one) =>
              one !== "complete" && (outcomes[one] ?? 0) > 0
            ).map((outcome, at) => (
              <>
                {at === 0 ? "" : ", "}
                {outcomeText(outcome)}{" "}
                <a href={callsLink(base, { ...filters, outcome })}>
                  {countText(outcomes[outcome] ?? 0)}
                </a>
              </>
            )),
        },
        {
          name: "First token p50, p95",
          cell: ({ filters, health }) => (
            <FirstToken health={health} href={callsLink(base, filters)} />
          ),
        },
      ]}
    />
  );
}

/** Both times to the first token: `0.61 s, 1.90 s`; in a column of many on two lines. */
export function FirstToken(
  { health: { firstTokenMs }, href, isNarrow }: {
    readonly health: CallHealth;
    readonly href: string;
    readonly isNarrow?: boolean;
  },
): JSX.Element {
  return firstTokenMs === undefined ? <>–</> : (
    <a href={href}>
      {secondsText(firstTokenMs.p50)},{isNarrow === true ? <br /> : " "}
      {secondsText(firstTokenMs.p95)}
    </a>
  );
}

/** How many calls have an outcome of the group. */
export function countOf(
  { outcomes }: CallHealth,
  group: OutcomeGroup,
): number {
  return OUTCOME_GROUPS[group].reduce(
    (sum, one) => sum + (outcomes[one] ?? 0),
    0,
  );
}
