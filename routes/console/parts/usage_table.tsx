/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The figures of a usage report, each a link to what it adds up.
 *
 * @module
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { Children, JSX } from "../jsx.d.ts";
import type {
  UsageLine,
  UsageReport,
  UsageTotals,
} from "../../../gateway/accounts/repositories/usage_report.ts";
import type { OutcomeGroup } from "../../../gateway/accounts/calls/outcome.ts";
import type { CallHealth } from "../../../gateway/accounts/repositories/call_health.ts";
import type { UsageHealth } from "./usage_health.ts";
import type { CacheUse } from "./cache_savings.ts";
import { type Column, DataTable, Foreign } from "./data_table.tsx";
import {
  callsLink,
  type FigureFilters,
  ledgerLink,
  usageLink,
} from "./figure_links.ts";
import { countOf, FirstToken } from "./health_table.tsx";
import { countText, decimalsOf, Money } from "./money.tsx";
import { sorted, type Sorting } from "./sorting.ts";

/** What a usage page groups by. */
export type UsageBy = "day" | "model" | "key" | "user" | "account";

const MAX_LINES = 100;

/**
 * The lines of a report that its table shows: all days, else the first of the order. More would
 * take longer to render than other requests should wait.
 */
export function shownLines(
  { data }: Pick<UsageReport, "data">,
  by: UsageBy,
  sorting: Pick<Sorting<UsageOrder>, "by" | "isDescending">,
): readonly UsageLine[] {
  const lines = sorted(data, sorting, ORDERS);
  return by === "day" ? lines : lines.slice(0, MAX_LINES);
}

/** What the table can be sorted by. */
type UsageOrder =
  | "group"
  | "charges"
  | "input"
  | "cache_read"
  | "cache_write"
  | "output"
  | "estimated"
  | "cost";

const ORDERS: Readonly<
  Record<UsageOrder, (line: UsageLine) => string | number | undefined>
> = {
  group: (line) =>
    line.day ?? line.accountId ?? line.keyId ?? line.model ?? line.user,
  charges: ({ requests }) => requests,
  input: ({ inputTokens }) => inputTokens,
  cache_read: ({ cacheReadTokens }) => cacheReadTokens,
  cache_write: ({ cacheWriteTokens }) => cacheWriteTokens,
  output: ({ outputTokens }) => outputTokens,
  estimated: ({ estimatedRequests }) => estimatedRequests,
  cost: ({ microUsd }) => microUsd,
};
/** For checking the name of an order. */
export const USAGE_ORDERS = Object.keys(ORDERS) as readonly UsageOrder[];

/** Whether a cost contains an estimate; a report by end user has the number of its calls only. */
export function hasEstimate(
  { estimatedMicroUsd, estimatedRequests }: UsageTotals,
): boolean {
  return (estimatedMicroUsd ?? estimatedRequests) > 0;
}

function cacheColumns(
  of: (line: UsageLine) => CacheUse | undefined,
  caches: ReadonlyMap<string, CacheUse>,
): readonly Column<UsageLine>[] {
  const share = (uses: readonly (CacheUse | undefined)[]): string => {
    const sum = (part: (use: CacheUse) => number): number =>
      uses.reduce((all, use) => all + (use === undefined ? 0 : part(use)), 0);
    const prompt = sum(({ promptTokens }) => promptTokens);
    return prompt === 0
      ? "–"
      : `${(sum(({ readTokens }) => readTokens) / prompt * 100).toFixed(1)} %`;
  };
  const all = [...caches.values()];
  return [
    {
      name: "From cache",
      number: true,
      cell: (line) => share([of(line)]),
      sum: share(all),
    },
    {
      name: "Saved by it",
      number: true,
      cell: (line) => {
        const saved = of(line)?.savedMicroUsd;
        return saved === undefined ? "–" : <Money microUsd={saved} />;
      },
      sum: (
        <Money
          microUsd={all.reduce(
            (sum, { savedMicroUsd = 0 }) => sum + savedMicroUsd,
            0,
          )}
        />
      ),
    },
  ];
}

function healthColumns(
  { all, of }: Required<Pick<UsageHealth, "all" | "of">>,
  base: string,
  filters: FigureFilters,
  filtersOf: (line: UsageLine) => FigureFilters,
): readonly Column<UsageLine>[] {
  const count = (
    health: CallHealth,
    group: OutcomeGroup | undefined,
    own: FigureFilters,
  ): Children => {
    const calls = group === undefined ? health.calls : countOf(health, group);
    if (calls === 0) return countText(calls);
    const filters = group === undefined ? own : { ...own, outcome: group };
    return <a href={callsLink(base, filters)}>{countText(calls)}</a>;
  };
  const column = (
    name: string,
    group?: OutcomeGroup,
  ): Column<UsageLine> => ({
    name,
    number: true,
    cell: (line) => count(of(line), group, filtersOf(line)),
    sum: count(all, group, filters),
  });
  return [
    column("Calls"),
    column("Refused", "refused"),
    column("Errors", "failed"),
    {
      name: "First token p50, p95",
      cell: (line) => (
        <FirstToken
          health={of(line)}
          href={callsLink(base, filtersOf(line))}
        />
      ),
      sum: <FirstToken health={all} href={callsLink(base, filters)} />,
    },
  ];
}

/** Lines with their sum. */
export function UsageTable(
  {
    report,
    rows,
    health,
    by,
    sorting,
    names,
    base,
    filters,
    hasLedger,
    caches,
  }: {
    readonly report: UsageReport;
    /** See {@linkcode shownLines}. */
    readonly rows: readonly UsageLine[];
    /** How their calls went; absent: that is not counted. */
    readonly health?: UsageHealth | undefined;
    readonly by: UsageBy;
    readonly sorting: Sorting<UsageOrder>;
    readonly names: ReadonlyMap<string, string>;
    readonly base: string;
    readonly filters: FigureFilters;
    /** Whether the visitor may see the ledger. */
    readonly hasLedger: boolean;
    /** The use of caches of each line; absent: the lines have none of their own. */
    readonly caches?: ReadonlyMap<string, CacheUse> | undefined;
  },
): JSX.Element {
  const { data, totals } = report;
  const decimals = decimalsOf([totals.microUsd]);
  const sum = (
    <Money
      microUsd={totals.microUsd}
      decimals={decimals}
      estimated={hasEstimate(totals)}
    />
  );
  const heading = {
    day: "Day",
    model: "Model",
    key: "Key",
    user: "End user",
    account: "Account",
  };
  const filtersOf = (line: UsageLine): FigureFilters => ({
    ...filters,
    ...compact({
      // A range of hours covers only a part of its first and last day.
      from: line.day !== undefined && filters.from.startsWith(line.day)
        ? filters.from
        : line.day,
      to: line.day !== undefined && filters.to.startsWith(line.day)
        ? filters.to
        : line.day,
      account: line.accountId,
      key: line.keyId,
      model: line.model,
      user: line.user,
    }),
  });
  const textOf = (line: UsageLine): JSX.Element => {
    switch (by) {
      case "day":
        return <>{line.day ?? ""}</>;
      case "model":
        return <Foreign text={line.model ?? ""} />;
      case "key":
        return (
          <Foreign text={names.get(line.keyId ?? "") ?? line.keyId ?? ""} />
        );
      case "account":
        return <Foreign text={line.accountId ?? ""} />;
      case "user":
        return line.user === "" || line.user === undefined
          ? <span class="soft">none given</span>
          : <Foreign text={line.user} />;
    }
  };
  /** No filter selects the calls without an end user. */
  const linked = (
    line: UsageLine,
    link: (filters: FigureFilters) => string,
    text: Children,
  ): Children =>
    line.user === "" ? text : <a href={link(filtersOf(line))}>{text}</a>;
  const inLedger = (line: UsageLine, text: Children): Children =>
    hasLedger ? linked(line, (of) => ledgerLink(base, of), text) : text;
  const next = by === "day" ? "model" : "day";
  return (
    <>
      <DataTable
        name={`Usage by ${by}`}
        rows={rows}
        stacks
        columns={[
          {
            name: heading[by],
            isFirst: true,
            sort: sorting.link("group", by === "day" ? "first" : undefined),
            wraps: by !== "day",
            cell: (line) =>
              linked(line, (of) => usageLink(base, of, next), textOf(line)),
            sum: "Sum",
          },
          {
            name: "Charges",
            sort: sorting.link("charges", "first"),
            number: true,
            cell: (line) => inLedger(line, countText(line.requests)),
            sum: hasLedger
              ? (
                <a href={ledgerLink(base, filters)}>
                  {countText(totals.requests)}
                </a>
              )
              : countText(totals.requests),
          },
          ...(health?.of === undefined ? [] : healthColumns(
            { all: health.all, of: health.of },
            base,
            filters,
            filtersOf,
          )),
          {
            name: "Input",
            sort: sorting.link("input", "first"),
            number: true,
            cell: (line) => countText(line.inputTokens),
            sum: countText(totals.inputTokens),
          },
          {
            name: "Cache read",
            sort: sorting.link("cache_read", "first"),
            number: true,
            cell: (line) => countText(line.cacheReadTokens),
            sum: countText(totals.cacheReadTokens),
          },
          {
            name: "Cache write",
            sort: sorting.link("cache_write", "first"),
            number: true,
            cell: (line) => countText(line.cacheWriteTokens),
            sum: countText(totals.cacheWriteTokens),
          },
          {
            name: "Output",
            sort: sorting.link("output", "first"),
            number: true,
            cell: (line) => countText(line.outputTokens),
            sum: countText(totals.outputTokens),
          },
          ...(caches === undefined ? [] : cacheColumns(
            (line) =>
              caches.get((by === "key" ? line.keyId : line.model) ?? ""),
            caches,
          )),
          {
            name: "Estimated calls",
            sort: sorting.link("estimated", "first"),
            number: true,
            cell: (line) => countText(line.estimatedRequests),
            sum: countText(totals.estimatedRequests),
          },
          {
            name: "Cost",
            sort: sorting.link("cost", "first"),
            number: true,
            cell: (line) =>
              inLedger(
                line,
                <Money
                  microUsd={line.microUsd}
                  decimals={decimals}
                  estimated={hasEstimate(line)}
                />,
              ),
            sum: hasLedger
              ? <a href={ledgerLink(base, filters)}>{sum}</a>
              : sum,
          },
        ]}
      />
      {health === undefined || health.of !== undefined ? null : (
        <p class="soft">
          Calls, errors and first token of each key: choose an account.
        </p>
      )}
      {caches === undefined ? null : (
        <p class="soft">
          Saved: tokens read from caches at today's price of the prompt less
          their own, less what writes cost more than it.
        </p>
      )}
      {report.next === undefined && rows.length >= data.length
        ? null
        : (
          <p class="soft">
            The first {countText(rows.length)} of {countText(data.length)}
            {report.next === undefined ? "" : " and more"}{" "}
            lines in this order; the sum is that of all of them. The CSV has
            every line.
          </p>
        )}
    </>
  );
}
