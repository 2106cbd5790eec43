/**
 * Usage: what was spent by day, model, key or end user, as a plot and as a table of the same
 * figures. Sums come from the store; nothing is added up from one page.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { JSX } from "../jsx.d.ts";
import { ROLL_UP_SUMS } from "../../../gateway/accounts/records.ts";
import { rangeMs } from "../../../gateway/accounts/reports/days.ts";
import type { UsageLine } from "../../../gateway/accounts/reports/usage_report.ts";
import { CALL_HOURS_DAYS } from "../../../gateway/accounts/rows/call_count_rows.ts";
import type { UsageQuery } from "../../../gateway/accounts/reports/usage_query.ts";
import {
  type AccountScope,
  scopeOf,
} from "../../../gateway/admin/account_scope.ts";
import { compareUsage } from "../../../gateway/admin/usage_comparison.ts";
import { usageJson } from "../../../gateway/admin/usage.ts";
import type { AccountVisit, Visit } from "../../../gateway/console/visit.ts";
import { allPages } from "../../../gateway/accounts/reports/all_pages.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { cacheUses } from "../parts/cache_savings.ts";
import { csvOf, csvReply } from "../csv/csv.ts";
import { withNames } from "../csv/with_names.ts";
import {
  CALL_MEASURES,
  type CallMeasure,
  callPlot,
} from "../plots/call_plot.tsx";
import { countOf, HealthTable } from "../parts/health_table.tsx";
import { Moment } from "../parts/moment.tsx";
import {
  countsGroups,
  healthQuery,
  stepFor,
  usageHealth,
  withHealth,
} from "../parts/usage_health.ts";
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
import { StatCard } from "../parts/stat_card.tsx";
import { accountPageRoute } from "../http/page_route.ts";

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

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Groups of one report, the most that there can be: each report walks over all rows. */
const GROUPS = 1000;

interface Chosen {
  readonly by: UsageBy;
  /** Days, and what the figures add up. */
  readonly filters: FigureFilters;
}

/** The day (UTC) of a time, as in `2026-11-21`. */
function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The last thirty days. */
function daysOf(nowMs: number): { readonly from: string; readonly to: string } {
  return { from: day(nowMs - 29 * DAY_MS), to: day(nowMs) };
}

function choicesOf(
  { accountId, keyId }: Partial<AccountScope>,
): readonly UsageBy[] {
  return accountId === undefined
    ? ["day", "account", "model", "key", "user"]
    : keyId === undefined
    ? ["day", "model", "key", "user"]
    : ["day", "model", "user"];
}

function chosenOf(
  { query, gateway }: RouteContext,
  scope: Partial<AccountScope>,
): Chosen {
  const choices = choicesOf(scope);
  const by = choices.find((one) => one === (query.get("by") || "day"));
  if (by === undefined) {
    throw invalidField("by", `must be one of ${choices.join(", ")}`);
  }
  const text = (name: string): Readonly<Record<string, string>> => {
    const value = query.get(name)?.trim() ?? "";
    return value === "" ? {} : { [name]: value };
  };
  const last = daysOf(gateway.now());
  const from = query.get("from") || last.from;
  const to = query.get("to") || last.to;
  const { fromMs, untilMs } = rangeMs(from, to);
  if (fromMs >= untilMs) {
    throw invalidField("to", "must not be before from");
  }
  return {
    by,
    filters: {
      from,
      to,
      ...text("account"),
      ...text("key"),
      ...text("model"),
      ...text("user"),
    },
  };
}

function usageQueryOf(
  { from, to, account, key, model, user }: FigureFilters,
  scope: Partial<AccountScope>,
): UsageQuery & { readonly fromDay: string; readonly toDay: string } {
  return {
    fromDay: from,
    toDay: to,
    ...compact({ accountId: account, keyId: key, model, user }),
    // A key sees its own usage, whatever the address asks for.
    ...scope,
  };
}

/** The days of a range of hours: usage of end users is kept by day. */
function inDays(filters: FigureFilters): FigureFilters {
  const { fromMs, untilMs } = rangeMs(filters.from, filters.to);
  return { ...filters, from: day(fromMs), to: day(untilMs - 1) };
}

/** What the plot can show: sums of charges, and counts of calls. */
const SHOWN = { ...MEASURES, ...CALL_MEASURES } as const;
type Shown = keyof typeof SHOWN;
// The object has exactly these keys.
const SHOWN_NAMES = Object.keys(SHOWN) as readonly Shown[];

function isOfCalls(shown: Shown): shown is CallMeasure {
  return shown in CALL_MEASURES;
}

/** The ranges that one press chooses: name, first day or hour, and the last day or the end. */
function rangesOf(
  nowMs: number,
  hasHours: boolean,
): readonly (readonly [name: string, from: string, to: string])[] {
  const hour = (ms: number): string =>
    `${new Date(ms).toISOString().slice(0, "2026-11-21T13".length)}:00`;
  const now = new Date(nowMs);
  const month = (months: number, date: number): string =>
    day(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, date));
  return [
    ...(hasHours
      ? [
        ["24 h", hour(nowMs - 23 * HOUR_MS), hour(nowMs + HOUR_MS)] as const,
      ]
      : []),
    ["Today", day(nowMs), day(nowMs)],
    ["3 d", day(nowMs - 2 * DAY_MS), day(nowMs)],
    ["7 d", day(nowMs - 6 * DAY_MS), day(nowMs)],
    ["30 d", day(nowMs - 29 * DAY_MS), day(nowMs)],
    ["This month", month(0, 1), day(nowMs)],
    ["Last month", month(-1, 1), month(0, 0)],
  ];
}

const BY_NAMES: Readonly<Record<UsageBy, string>> = {
  day: "By day",
  account: "By account",
  model: "By model",
  key: "By key",
  user: "By end user",
};

/** The end users of all accounts may be as many as the calls. */
function requireOneAccount(by: UsageBy, query: UsageQuery): void {
  if (by !== "user" || query.accountId !== undefined) return;
  throw invalidField("account", "choose one: end users belong to an account");
}

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
      const shown = query.get("show") || "cost";
      const measure = SHOWN_NAMES.find((one) => one === shown);
      if (measure === undefined) {
        throw invalidField("show", `must be ${SHOWN_NAMES.join(", ")}`);
      }
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
          limit: by === "user" ? MAX_LINES : GROUPS,
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
      const estimated = totals.estimatedMicroUsd ?? 0;
      return (
        <>
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
          <p class="acts">
            {choicesOf(scope).filter((one) =>
              one !== "user" || usage.accountId !== undefined
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
          {report.figuresFromDay === undefined ? null : (
            <p class="note warn">
              Figures from {report.figuresFromDay}{" "}
              on: earlier days are not summed up yet, or no longer kept.
            </p>
          )}
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
                  {(estimated / totals.microUsd * 100).toFixed(1)}{" "}
                  % of it estimated
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
                    <p class="acts">
                      {SHOWN_NAMES.filter((one) =>
                        isOfCalls(one)
                          ? health !== undefined
                          : hasLedger || one !== "charges"
                      ).map((one) => (
                        <a
                          href={`${usageLink(base, filters, by)}&show=${one}`}
                          aria-current={one === measure ? "true" : undefined}
                        >
                          {SHOWN[one]}
                        </a>
                      ))}
                    </p>
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

const USAGE_COLUMNS: readonly string[] = Object.values(ROLL_UP_SUMS)
  .map(({ json }) => json);

/** The figures of a usage page as a file, every line of them. */
export function usageCsv(
  context: RouteContext,
  scope: Partial<AccountScope>,
): Promise<HttpReply> {
  const { by, filters } = chosenOf(context, scope);
  const query = usageQueryOf(filters, scope);
  requireOneAccount(by, query);
  const { admin, models: { models } } = context.gateway;
  const lines = allPages(
    (page) => admin.usage({ ...query, by: [by], ...page }),
    { limit: GROUPS },
  );
  const name = `usage-${filters.from}-${filters.to}-by-${by}`
    .replaceAll(":", "");
  const idsOf = ({ keyId, accountId }: UsageLine) => ({
    key: by === "key" ? keyId : undefined,
    account: by === "account" ? accountId : undefined,
  });
  const columns = [
    by,
    ...(by === "key" || by === "account" ? [`${by}_name`] : []),
    ...USAGE_COLUMNS,
  ];
  if (!countsGroups(by, query)) {
    return csvReply(
      name,
      csvOf(
        columns,
        withNames(admin, lines, idsOf),
        ({ item, names }) => ({ ...usageJson(item), ...names }),
      ),
    );
  }
  return csvReply(
    name,
    csvOf(
      [...columns, ...HEALTH_COLUMNS],
      withNames(
        admin,
        withHealth(admin, query, by, lines, models),
        ({ line }) => idsOf(line),
      ),
      ({ item: { line, health }, names }) => ({
        ...usageJson(line),
        ...names,
        calls: health.calls,
        refused_calls: countOf(health, "refused"),
        failed_calls: countOf(health, "failed"),
        first_token_p50_ms: health.firstTokenMs?.p50 ?? null,
        first_token_p95_ms: health.firstTokenMs?.p95 ?? null,
      }),
    ),
  );
}

/** Counts of calls beside the sums of charges, where they are known. */
const HEALTH_COLUMNS: readonly string[] = [
  "calls",
  "refused_calls",
  "failed_calls",
  "first_token_p50_ms",
  "first_token_p95_ms",
];
