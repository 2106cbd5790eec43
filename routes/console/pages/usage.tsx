/**
 * Usage: what was spent by day, model, key or end user, as a plot and as a table of the same
 * figures. Sums come from the store; nothing is added up from one page.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { JSX } from "../jsx.d.ts";
import { rangeMs } from "../../../gateway/accounts/reports/days.ts";
import type {
  UsageLine,
  UsageTotals,
} from "../../../gateway/accounts/reports/usage_report.ts";
import { CALL_HOURS_DAYS } from "../../../gateway/accounts/rows/call_count_rows.ts";
import {
  type AccountScope,
  scopeOf,
} from "../../../gateway/admin/account_scope.ts";
import { compareUsage } from "../../../gateway/admin/usage_comparison.ts";
import type { AccountVisit, Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { cacheUses } from "../parts/cache_savings.ts";
import {
  CALL_MEASURES,
  type CallMeasure,
  callPlot,
} from "../plots/call_plot.tsx";
import { HealthTable } from "../parts/health_table.tsx";
import { Moment } from "../parts/moment.tsx";
import { healthQuery, stepFor, usageHealth } from "../parts/usage_health.ts";
import { MEASURES, stepOf, usagePlot } from "../plots/usage_plot.tsx";
import {
  callsLink,
  type FigureFilters,
  ledgerLink,
  usageLink,
} from "../parts/figure_links.ts";
import { keyNames } from "../parts/key_names.ts";
import {
  fileQuery,
  filteredPage,
  PERIOD,
  suggestedFilters,
} from "../forms/filters.tsx";
import { sortingOf } from "../parts/sorting.ts";
import { countText, Money } from "../parts/money.tsx";
import { Comparison } from "../parts/usage_comparison.tsx";
import {
  hasEstimate,
  isWholeTable,
  MAX_LINES,
  orderedLines,
  readOrder,
  shownLines,
  USAGE_ORDERS,
  type UsageBy,
  UsageTable,
} from "../parts/usage_table.tsx";
import {
  choicesOf,
  chosenOf,
  daysOf,
  inDays,
  MAX_GROUPS,
  rangesOf,
  requireOneAccount,
  usageQueryOf,
} from "../parts/usage_choice.ts";
import { StatCard } from "../parts/stat_card.tsx";
import { accountPageRoute } from "../http/page_route.ts";
import { usageCsv } from "./usage_csv.ts";

/** Usage pages, and their figures as a file. */
export const USAGE_PAGES: readonly AccountPageRoute[] = [
  accountPageRoute("look", "GET", "/console/usage", ownPage, {
    query: usageParameters(false),
    again: ownPage,
  }),
  accountPageRoute(
    "look",
    "GET",
    "/console/usage.csv",
    (context, visit: AccountVisit) => usageCsv(context, scopeOf(visit.holder)),
    { query: usageParameters(false) },
  ),
];

/** The parameters of the page; its file takes them too. */
export function usageParameters(hasAccounts: boolean): readonly string[] {
  return [
    ...(hasAccounts ? ["account"] : []),
    ...["from", "to", "by", "model", "key", "user", "show", "at", "sort"],
  ];
}

function ownPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  return usagePage(context, visit, scopeOf(visit.holder), "/console");
}

/** What the plot can show: sums of charges, and counts of calls. */
const SHOWN = { ...MEASURES, ...CALL_MEASURES } as const;
type Shown = keyof typeof SHOWN;
// The object has exactly these keys.
const SHOWN_NAMES = Object.keys(SHOWN) as readonly Shown[];

function isOfCalls(shown: Shown): shown is CallMeasure {
  return shown in CALL_MEASURES;
}

const BY_NAMES: Readonly<Record<UsageBy, string>> = {
  day: "By day",
  account: "By account",
  model: "By model",
  key: "By key",
  user: "By end user",
};

/** A page of usage; without an account in `scope` that of all accounts. */
export async function usagePage(
  context: RouteContext,
  visit: Visit,
  scope: Partial<AccountScope>,
  base: string,
): Promise<HttpReply> {
  const { admin, models: { models } } = context.gateway;
  const { query } = context;
  return await filteredPage(
    context,
    visit,
    {
      title: "Usage",
      about: "Days and sums are in UTC, as the books and the day's limit are.",
      nav: `${base}/usage`,
      actions: (
        <a class="button" href={`${base}/usage.csv${fileQuery(context)}`}>
          CSV
        </a>
      ),
      scope,
      filters: [
        ...suggestedFilters(scope),
        { of: "text", name: "user", title: "End user" },
        ...PERIOD,
      ],
      defaults: daysOf(context.gateway.now()),
    },
    async () => {
      const { by, filters } = chosenOf(context, scope);
      const atId = query.get("at") ?? "";
      const at = models.find(({ id }) => id === atId);
      if (atId !== "" && at === undefined) {
        throw invalidField("at", "is no model of this gateway");
      }
      const measure = measureOf(query.get("show") || "cost");
      const usage = usageQueryOf(filters, scope);
      requireOneAccount(by, usage);
      const hasHours = by !== "user" && usage.user === undefined;
      const hasLedger = visit.session.kind !== "key";
      const sorting = sortingOf(
        context,
        USAGE_ORDERS,
        by === "day" ? "-group" : "-cost",
      );
      const nowMs = context.gateway.now();
      const plotOf = (lines?: readonly UsageLine[]): Promise<JSX.Element> =>
        isOfCalls(measure)
          ? callPlot(
            admin,
            healthQuery(
              usage,
              stepFor(usage) === "hour" ? "hour" : stepOf(
                rangeMs(filters.from, filters.to),
                nowMs,
                CALL_HOURS_DAYS - 1,
              ),
            ),
            { measure, base, filters, nowMs },
          )
          : usagePlot(admin, usage, {
            measure,
            nowMs,
            by,
            scope,
            base,
            ...compact({ lines }),
          });
      // A plot of models beside a report by something else needs none of its lines.
      const isApart = by === "day" || by === "user";
      const [report, apart] = await Promise.all([
        admin.usage({
          ...usage,
          by: [by],
          // Of very many end users only those that the table has.
          limit: by === "user" ? MAX_LINES : MAX_GROUPS,
          ...(by === "day" ? {} : { order: readOrder(sorting) }),
        }),
        isApart ? plotOf() : undefined,
      ]);
      const charged = shownLines(report, by);
      const [caches, health, plot] = await Promise.all([
        by === "model" || by === "key"
          ? cacheUses(admin, usage, {
            by,
            report,
            shown: charged,
            priceOf(model) {
              const known = models.find(({ id }) => id === model);
              return known === undefined || known.unpriced === true
                ? undefined
                : known.price;
            },
          })
          : undefined,
        hasHours
          ? usageHealth(admin, usage, {
            by,
            lines: report.data,
            shown: charged,
            models,
            nowMs,
          })
          : undefined,
        apart ?? plotOf(report.next === undefined ? report.data : undefined),
      ]);
      const rows = orderedLines(
        [...charged, ...health?.others ?? []],
        sorting,
        { health, caches, isWhole: isWholeTable(report, by) },
      );
      const names = by === "key"
        ? await keyNames(admin, scope, rows.map(({ keyId = "" }) => keyId))
        : new Map<string, string>();
      const { totals } = report;
      const shown = { base, filters, by, measure };
      return (
        <>
          <RangeLinks {...shown} nowMs={nowMs} hasHours={hasHours} />
          <GroupLinks {...shown} scope={scope} accountId={usage.accountId} />
          {report.figuresFromDay === undefined ? null : (
            <p class="note warn">
              Figures from {report.figuresFromDay}{" "}
              on: earlier days are not summed up yet, or no longer kept.
            </p>
          )}
          <Totals {...shown} totals={totals} hasLedger={hasLedger} />
          {health === undefined
            ? (
              <p class="note">
                Calls, errors and first token are not counted by end user:
                without one they are here.
              </p>
            )
            : health.all.calls === 0
            ? null
            : (
              <section class="card">
                <h2>Health</h2>
                <HealthTable
                  base={base}
                  rows={[{ name: "These days", filters, health: health.all }]}
                />
              </section>
            )}
          {health?.lacksBeforeMs === undefined ? null : (
            <p class="note warn">
              Calls, errors and first token are counted from{" "}
              <Moment atMs={health.lacksBeforeMs} />{" "}
              on: those of earlier calls are not known, or no longer kept.
            </p>
          )}
          {totals.requests === 0 && (health?.all.calls ?? 0) === 0
            ? (
              <section class="card">
                <p>
                  No calls in these days that match. {base === "/console"
                    ? (
                      <>
                        <a href="/console/connect">Connect</a>{" "}
                        has the lines for a first one.
                      </>
                    )
                    : <a href={`${base}/usage`}>Show all</a>}
                </p>
              </section>
            )
            : (
              <>
                <section class="card">
                  <div class="head">
                    <h2>{SHOWN[measure]}</h2>
                    <MeasureLinks
                      {...shown}
                      hasHealth={health !== undefined}
                      hasLedger={hasLedger}
                    />
                  </div>
                  {plot}
                </section>
                <section class="card">
                  <UsageTable
                    report={report}
                    rows={rows}
                    health={health}
                    by={by}
                    sorting={sorting}
                    names={names}
                    base={base}
                    filters={filters}
                    hasLedger={hasLedger}
                    caches={caches}
                  />
                </section>
                <Comparison
                  base={base}
                  filters={filters}
                  by={by}
                  models={models}
                  result={at === undefined
                    ? undefined
                    : await compareUsage(admin, usage, at)}
                />
              </>
            )}
        </>
      );
    },
  );
}

function measureOf(name: string): Shown {
  const measure = SHOWN_NAMES.find((one) => one === name);
  if (measure === undefined) {
    throw invalidField("show", `must be ${SHOWN_NAMES.join(", ")}`);
  }
  return measure;
}

/** What the page shows now; links change one of it. */
interface ShownNow {
  readonly base: string;
  readonly filters: FigureFilters;
  readonly by: UsageBy;
  readonly measure: Shown;
}

function RangeLinks(
  { base, filters, by, measure, nowMs, hasHours }: ShownNow & {
    readonly nowMs: number;
    readonly hasHours: boolean;
  },
): JSX.Element {
  return (
    <p class="acts">
      {rangesOf(nowMs, hasHours).map(([name, from, to]) => (
        <a
          href={`${
            usageLink(base, { ...filters, from, to }, by)
          }&show=${measure}`}
          aria-current={from === filters.from && to === filters.to
            ? "true"
            : undefined}
        >
          {name}
        </a>
      ))}
    </p>
  );
}

function GroupLinks(
  { base, filters, by, scope, accountId }: ShownNow & {
    readonly scope: Partial<AccountScope>;
    /** Absent: all accounts. */
    readonly accountId: string | undefined;
  },
): JSX.Element {
  return (
    <p class="acts">
      {choicesOf(scope).filter((one) =>
        one !== "user" || accountId !== undefined
      ).map((one) => (
        <a
          class={one === by ? "button main" : "button"}
          href={usageLink(
            base,
            one === "user" ? inDays(filters) : filters,
            one,
          )}
          aria-current={one === by ? "true" : undefined}
        >
          {BY_NAMES[one]}
        </a>
      ))}
    </p>
  );
}

/** The sums of the whole report. */
function Totals(
  { base, filters, totals, hasLedger }: ShownNow & {
    readonly totals: UsageTotals;
    readonly hasLedger: boolean;
  },
): JSX.Element {
  const estimated = totals.estimatedMicroUsd ?? 0;
  return (
    <div class="cards">
      <StatCard
        name="Cost"
        link={(hasLedger ? ledgerLink : callsLink)(base, filters)}
        figure={
          <Money
            microUsd={totals.microUsd}
            estimated={hasEstimate(totals)}
          />
        }
      >
        {estimated === 0 ? null : (
          <p class="soft">
            {(estimated / totals.microUsd * 100).toFixed(1)} % of it estimated
          </p>
        )}
      </StatCard>
      <StatCard
        name="Charges"
        link={hasLedger ? ledgerLink(base, filters) : undefined}
        figure={countText(totals.requests)}
      >
        <p class="soft">
          lines of the ledger, also those at $0.00 of calls that failed
        </p>
      </StatCard>
      <StatCard
        name="Tokens in, with cache reads and writes"
        figure={countText(
          totals.inputTokens + totals.cacheReadTokens +
            totals.cacheWriteTokens,
        )}
      />
      <StatCard
        name="Tokens out"
        figure={countText(totals.outputTokens)}
      />
    </div>
  );
}

function MeasureLinks(
  { base, filters, by, measure, hasHealth, hasLedger }: ShownNow & {
    readonly hasHealth: boolean;
    readonly hasLedger: boolean;
  },
): JSX.Element {
  return (
    <p class="acts">
      {SHOWN_NAMES.filter((one) =>
        isOfCalls(one) ? hasHealth : hasLedger || one !== "charges"
      ).map((one) => (
        <a
          href={`${usageLink(base, filters, by)}&show=${one}`}
          aria-current={one === measure ? "true" : undefined}
        >
          {SHOWN[one]}
        </a>
      ))}
    </p>
  );
}
