/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * Usage: what was spent by day, model, key or end user, as a plot and as a table of the same
 * figures. Sums come from the store; nothing is added up from one page.
 *
 * @module
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { JSX } from "../jsx.d.ts";
import { ROLL_UP_SUMS } from "../../../gateway/accounts/records.ts";
import type { Measure } from "../../../gateway/accounts/repositories/usage_series.ts";
import type { UsageQuery } from "../../../gateway/accounts/repositories/usage_query.ts";
import {
  type AccountScope,
  scopeOf,
} from "../../../gateway/admin/account_scope.ts";
import { compareUsage } from "../../../gateway/admin/usage_comparison.ts";
import { usageJson } from "../../../gateway/admin/usage.ts";
import type { AccountVisit, Visit } from "../../../gateway/console/visit.ts";
import { allPages } from "../../../gateway/accounts/repositories/all_pages.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { cacheUses } from "../parts/cache_savings.ts";
import { csvOf, csvReply } from "../csv/csv.ts";
import { named } from "../csv/named.ts";
import { MEASURES, usagePlot } from "../parts/usage_plot.tsx";
import {
  callsLink,
  type FigureFilters,
  ledgerLink,
  usageLink,
} from "../parts/figure_links.ts";
import { DayInput } from "../parts/day_input.tsx";
import { keyNames } from "../parts/key_names.ts";
import { page } from "../parts/layout.tsx";
import {
  meantFilters,
  SuggestedInput,
  suggestedNames,
  suggestionLists,
} from "../parts/suggested_filters.tsx";
import { countText, Money } from "../parts/money.tsx";
import { Comparison } from "../parts/usage_comparison.tsx";
import {
  hasEstimate,
  shownLines,
  type UsageBy,
  UsageTable,
} from "../parts/usage_table.tsx";

/** Usage pages, and their figures as a file. */
export const USAGE_PAGES: readonly AccountPageRoute[] = [
  {
    access: "page",
    area: "account",
    permission: "look",
    method: "GET",
    path: "/console/usage",
    handle: (context, visit) =>
      usagePage(context, visit, scopeOf(visit.holder), "/console"),
  },
  {
    access: "page",
    area: "account",
    permission: "look",
    method: "GET",
    path: "/console/usage.csv",
    handle: (context, visit: AccountVisit) =>
      usageCsv(context, scopeOf(visit.holder)),
  },
];

const DAY_MS = 24 * 60 * 60 * 1000;
/** Groups of one report, the most that there can be: each report walks over all rows. */
const GROUPS = 1000;

/** The filters of a usage page. */
interface Chosen {
  readonly by: UsageBy;
  /** Days, and what the figures add up. */
  readonly filters: FigureFilters;
}

function chosenOf({ query, gateway }: RouteContext): Chosen {
  const nowMs = gateway.now();
  const day = (name: string, otherwise: number): string => {
    const text = query.get(name) ?? "";
    return text === "" ? new Date(otherwise).toISOString().slice(0, 10) : text;
  };
  const by = query.get("by") ?? "day";
  if (
    by !== "day" && by !== "model" && by !== "key" && by !== "user" &&
    by !== "account"
  ) {
    throw invalidField("by", "must be day, model, key, user or account");
  }
  const text = (name: string): Readonly<Record<string, string>> => {
    const value = query.get(name)?.trim() ?? "";
    return value === "" ? {} : { [name]: value };
  };
  const [from, to] = [day("from", nowMs - 29 * DAY_MS), day("to", nowMs)];
  if (Date.parse(from) > Date.parse(to)) {
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

const MEASURE_NAMES: readonly Measure[] = ["cost", "tokens", "charges"];

/** The ranges that one press chooses: name, first day, last day. */
function rangesOf(
  nowMs: number,
): readonly (readonly [name: string, from: string, to: string])[] {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const now = new Date(nowMs);
  const month = (months: number, date: number): string =>
    day(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, date));
  return [
    ["Today", day(nowMs), day(nowMs)],
    ["2 d", day(nowMs - DAY_MS), day(nowMs)],
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
  const { redirect, note } = await meantFilters(context, scope);
  if (redirect !== undefined) return redirect;
  const chosen = chosenOf(context);
  const atId = context.query.get("at") ?? "";
  const at = models.find(({ id }) => id === atId);
  if (atId !== "" && at === undefined) {
    throw invalidField("at", "is no model of this gateway");
  }
  const { by, filters } = chosen;
  const shown = context.query.get("show") ?? "cost";
  const measure = MEASURE_NAMES.find((one) => one === shown);
  if (measure === undefined) {
    throw invalidField("show", `must be ${MEASURE_NAMES.join(", ")}`);
  }
  const query = usageQueryOf(filters, scope);
  requireOneAccount(by, query);
  const report = await admin.usage({ ...query, by: [by], limit: GROUPS });
  const rows = shownLines(report, by);
  const names = by === "key"
    ? await keyNames(admin, scope, rows.map(({ keyId = "" }) => keyId))
    : new Map<string, string>();
  const choices: readonly UsageBy[] = scope.accountId === undefined
    ? [
      "day",
      "account",
      "model",
      "key",
      ...(filters.account === undefined ? [] : ["user" as const]),
    ]
    : scope.keyId === undefined
    ? ["day", "model", "key", "user"]
    : ["day", "model", "user"];
  const csv = usageLink(base, filters, by).replace("/usage?", "/usage.csv?");
  const { totals } = report;
  const estimated = totals.estimatedMicroUsd ?? 0;
  return page(
    context,
    visit,
    {
      title: "Usage",
      about: "Days and sums are in UTC, as the books and the day's limit are.",
      nav: `${base}/usage`,
      actions: <a class="button" href={csv}>CSV</a>,
    },
    <>
      <form class="card row" action={`${base}/usage`}>
        <label>
          From (UTC)
          <DayInput name="from" value={filters.from} />
        </label>
        <label>
          To (UTC)
          <DayInput name="to" value={filters.to} />
        </label>
        <input type="hidden" name="by" value={by} />
        <input type="hidden" name="show" value={measure} />
        {await suggestionLists(context, scope)}
        {suggestedNames(scope).map((name) => (
          <SuggestedInput
            name={name}
            title={`${name[0]?.toUpperCase()}${name.slice(1)}`}
            value={filters[name] ?? ""}
          />
        ))}
        <label>
          End user
          <input name="user" value={filters.user ?? ""} placeholder="all" />
        </label>
        <button class="main" type="submit">Apply</button>
      </form>
      {note}
      <p class="acts">
        {rangesOf(context.gateway.now()).map(([name, from, to]) => (
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
        {choices.map((one) => (
          <a
            class={one === by ? "button main" : "button"}
            href={usageLink(base, filters, one)}
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
        <Sum
          name="Cost"
          note={estimated > 0
            ? `${
              (estimated / totals.microUsd * 100).toFixed(1)
            } % of it estimated`
            : undefined}
          link={visit.session.kind === "key"
            ? callsLink(base, filters)
            : ledgerLink(base, filters)}
        >
          <Money microUsd={totals.microUsd} estimated={hasEstimate(totals)} />
        </Sum>
        <Sum
          name="Charges"
          note="lines of the ledger, also those at $0.00 of calls that failed"
          {...(visit.session.kind === "key"
            ? {}
            : { link: ledgerLink(base, filters) })}
        >
          {countText(totals.requests)}
        </Sum>
        <Sum name="Tokens in, with cache reads and writes">
          {countText(
            totals.inputTokens + totals.cacheReadTokens +
              totals.cacheWriteTokens,
          )}
        </Sum>
        <Sum name="Tokens out">{countText(totals.outputTokens)}</Sum>
      </div>
      {totals.requests === 0
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
                <h2>{MEASURES[measure]}</h2>
                <p class="acts">
                  {MEASURE_NAMES.map((one) => (
                    <a
                      href={`${usageLink(base, filters, by)}&show=${one}`}
                      aria-current={one === measure ? "true" : undefined}
                    >
                      {MEASURES[one]}
                    </a>
                  ))}
                </p>
              </div>
              {await usagePlot(admin, query, {
                measure,
                nowMs: context.gateway.now(),
                by,
                scope,
                base,
                ...(report.next === undefined ? { lines: report.data } : {}),
              })}
            </section>
            <section class="card">
              <UsageTable
                report={report}
                rows={rows}
                by={by}
                names={names}
                base={base}
                filters={filters}
                hasLedger={visit.session.kind !== "key"}
                caches={by === "model" || by === "key"
                  ? await cacheUses(
                    admin,
                    query,
                    by,
                    (model) => {
                      const known = models.find(({ id }) => id === model);
                      return known === undefined || known.unpriced === true
                        ? undefined
                        : known.price;
                    },
                  )
                  : undefined}
              />
            </section>
            <Comparison
              base={base}
              filters={filters}
              by={by}
              models={models}
              result={at === undefined
                ? undefined
                : await compareUsage(admin, query, at)}
            />
          </>
        )}
    </>,
  );
}

function Sum(
  { name, note, link, children }: {
    readonly name: string;
    /** Below the figure. */
    readonly note?: string | undefined;
    /** To what the figure adds up. */
    readonly link?: string;
    readonly children: string | JSX.Element | readonly (string | JSX.Element)[];
  },
): JSX.Element {
  return (
    <section class="card">
      <span class="label">{name}</span>
      <span class="stat">
        {link === undefined ? children : <a href={link}>{children}</a>}
      </span>
      {note === undefined ? null : <p class="soft">{note}</p>}
    </section>
  );
}

const USAGE_COLUMNS: readonly string[] = Object.values(ROLL_UP_SUMS)
  .map(({ json }) => json);

/** The figures of a usage page as a file, every line of them. */
export function usageCsv(
  context: RouteContext,
  scope: Partial<AccountScope>,
): Promise<HttpReply> {
  const { by, filters } = chosenOf(context);
  const query = usageQueryOf(filters, scope);
  requireOneAccount(by, query);
  const { admin } = context.gateway;
  return csvReply(
    `usage-${filters.from}-${filters.to}-by-${by}`,
    csvOf(
      [
        by,
        ...(by === "key" || by === "account" ? [`${by}_name`] : []),
        ...USAGE_COLUMNS,
      ],
      named(
        admin,
        allPages((page) => admin.usage({ ...query, by: [by], ...page }), {
          limit: GROUPS,
        }),
        ({ keyId, accountId }) => ({
          key: by === "key" ? keyId : undefined,
          account: by === "account" ? accountId : undefined,
        }),
      ),
      ({ item, names }) => ({ ...usageJson(item), ...names }),
    ),
  );
}
