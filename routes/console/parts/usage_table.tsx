/**
 * The figures of a usage report, each a link to what it adds up.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { Children, JSX } from "../jsx.d.ts";
import type { UsageOrder as ReportOrder } from "../../../gateway/accounts/reports/usage_query.ts";
import type {
  UsageLine,
  UsageReport,
  UsageTotals,
} from "../../../gateway/accounts/reports/usage_report.ts";
import type { OutcomeGroup } from "../../../gateway/accounts/calls/outcome.ts";
import {
  type CallHealth,
  NO_CALLS,
} from "../../../gateway/accounts/reports/call_health.ts";
import type { UsageHealth } from "./usage_health.ts";
import type { CacheUse, CacheUses } from "./cache_savings.ts";
import { type Column, DataTable, Foreign } from "./data_table.tsx";
import {
  callsLink,
  type FigureFilters,
  ledgerLink,
  usageLink,
} from "./figure_links.ts";
import { countOf, FirstToken } from "./health_table.tsx";
import { countText, decimalsOf, Money } from "./money.tsx";
import { type Sorting, sortRows } from "./sorting.ts";

/** What a usage page groups by. */
export type UsageBy = "day" | "model" | "key" | "user" | "account";

/** Lines of a table, but for days. */
export const MAX_LINES = 100;

/**
 * The lines of a report that its table shows: all days, else the first of its order. More would
 * take longer to render than other requests should wait.
 */
export function shownLines(
  { data }: Pick<UsageReport, "data">,
  by: UsageBy,
): readonly UsageLine[] {
  return by === "day" ? data : data.slice(0, MAX_LINES);
}

/** The sums that a report can be read in the order of. */
const SUMS = {
  charges: "requests",
  input: "inputTokens",
  cache_read: "cacheReadTokens",
  cache_write: "cacheWriteTokens",
  output: "outputTokens",
  estimated: "estimatedRequests",
  cost: "microUsd",
} as const;

/** What lines have beside their sums; absent: nothing of the kind. */
interface Beside {
  readonly health?: UsageHealth | undefined;
  readonly caches?: CacheUses | undefined;
}

/** Further orders, of lines that are all in the table. */
const BESIDE: Readonly<
  Record<
    "calls" | "refused" | "errors" | "first_token" | "from_cache" | "saved",
    (line: UsageLine, beside: Beside) => number | undefined
  >
> = {
  calls: (line, { health }) => health?.of?.(line).calls,
  refused: (line, { health }) =>
    countOf(health?.of?.(line) ?? NO_CALLS, "refused"),
  errors: (line, { health }) =>
    countOf(health?.of?.(line) ?? NO_CALLS, "failed"),
  first_token: (line, { health }) => health?.of?.(line).firstTokenMs?.p50,
  from_cache: (line, { caches }) => shareOf(caches?.of(line)),
  saved: (line, { caches }) => caches?.of(line).savedMicroUsd,
};

/** What the table can be sorted by. */
type UsageOrder = "group" | keyof typeof SUMS | keyof typeof BESIDE;
/** For checking the name of an order. */
export const USAGE_ORDERS: readonly UsageOrder[] = [
  "group",
  // The objects have exactly these keys.
  ...Object.keys(SUMS) as (keyof typeof SUMS)[],
  ...Object.keys(BESIDE) as (keyof typeof BESIDE)[],
];

/** Whether a table has all lines of its report. */
export function isWholeTable(
  { data, next }: UsageReport,
  by: UsageBy,
): boolean {
  return next === undefined && (by === "day" || data.length <= MAX_LINES);
}

type Order = Pick<Sorting<UsageOrder>, "by" | "isDescending">;

function isBeside(by: UsageOrder): by is keyof typeof BESIDE {
  return by in BESIDE;
}

/** The order that a report is read in. */
export function readOrder({ by, isDescending }: Order): ReportOrder {
  if (isBeside(by)) return { by: "microUsd", isDescending: true };
  return by === "group" ? { isDescending } : { by: SUMS[by], isDescending };
}

/**
 * The lines of a table in its order.
 *
 * @throws {ApiError} `invalid_request` where lines that the table lacks could come before its own
 */
export function orderedLines(
  lines: readonly UsageLine[],
  order: Order,
  { isWhole, ...beside }: Beside & { readonly isWhole: boolean },
): readonly UsageLine[] {
  const { by } = order;
  if (isBeside(by) && !isWhole) {
    throw invalidField(
      "sort",
      `orders at most ${MAX_LINES} lines by this figure: choose an account, a key or a model`,
    );
  }
  const valueOf = (line: UsageLine): string | number | undefined =>
    isBeside(by)
      ? BESIDE[by](line, beside)
      : by === "group"
      ? line.day ?? line.accountId ?? line.keyId ?? line.model ?? line.user
      : line[SUMS[by]];
  return sortRows(lines, { ...order, by: "value" }, { value: valueOf });
}

/** How many calls were estimated, and what they cost. */
function Estimated(
  { sums: { estimatedRequests, estimatedMicroUsd }, decimals }: {
    readonly sums: UsageTotals;
    readonly decimals: ReturnType<typeof decimalsOf>;
  },
): JSX.Element {
  return estimatedMicroUsd === undefined || estimatedRequests === 0
    ? <>{countText(estimatedRequests)}</>
    : (
      <>
        {countText(estimatedRequests)},{" "}
        <Money microUsd={estimatedMicroUsd} decimals={decimals} />
      </>
    );
}

/** Whether a cost contains an estimate; a report by end user has the number of its calls only. */
export function hasEstimate(
  { estimatedMicroUsd, estimatedRequests }: UsageTotals,
): boolean {
  return (estimatedMicroUsd ?? estimatedRequests) > 0;
}

/** The part of the prompts' tokens that came from caches; undefined: there were none. */
function shareOf(use: CacheUse | undefined): number | undefined {
  return use === undefined || use.promptTokens === 0
    ? undefined
    : use.readTokens / use.promptTokens;
}

function cacheColumns(
  { all, of }: CacheUses,
  sort: SortBy,
): readonly Column<UsageLine>[] {
  const share = (use: CacheUse): string => {
    const part = shareOf(use);
    return part === undefined ? "–" : `${(part * 100).toFixed(1)} %`;
  };
  const savedAmount = ({ savedMicroUsd }: CacheUse): Children =>
    savedMicroUsd === undefined ? "–" : <Money microUsd={savedMicroUsd} />;
  return [
    {
      name: "From cache",
      ...sort("from_cache"),
      number: true,
      cell: (line) => share(of(line)),
      sum: share(all),
    },
    {
      name: "Saved by it",
      ...sort("saved"),
      number: true,
      cell: (line) => savedAmount(of(line)),
      sum: savedAmount(all),
    },
  ];
}

/** The head of a column that sorts; nothing where the table lacks lines. */
type SortBy = (by: UsageOrder) => Pick<Column<UsageLine>, "sort">;

function healthColumns(
  { all, of }: Required<Pick<UsageHealth, "all" | "of">>,
  base: string,
  filters: FigureFilters,
  filtersOf: (line: UsageLine) => FigureFilters,
  sort: SortBy,
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
    by: UsageOrder,
    group?: OutcomeGroup,
  ): Column<UsageLine> => ({
    name,
    ...sort(by),
    number: true,
    cell: (line) => count(of(line), group, filtersOf(line)),
    sum: count(all, group, filters),
  });
  return [
    column("Calls", "calls"),
    column("Refused", "refused", "refused"),
    column("Errors", "errors", "failed"),
    {
      name: "First token p50, p95",
      ...sort("first_token"),
      cell: (line) => (
        <FirstToken
          health={of(line)}
          href={callsLink(base, filtersOf(line))}
          isNarrow
        />
      ),
      sum: <FirstToken health={all} href={callsLink(base, filters)} isNarrow />,
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
    readonly caches?: CacheUses | undefined;
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
  const linkTo = (
    line: UsageLine,
    link: (filters: FigureFilters) => string,
    text: Children,
  ): Children =>
    line.user === "" ? text : <a href={link(filtersOf(line))}>{text}</a>;
  const inLedger = (line: UsageLine, text: Children): Children =>
    hasLedger && line.requests > 0
      ? linkTo(line, (of) => ledgerLink(base, of), text)
      : text;
  const next = by === "day" ? "model" : "day";
  const isWhole = isWholeTable(report, by);
  const sortBeside: SortBy = (order) =>
    isWhole ? { sort: sorting.link(order, "first") } : {};
  return (
    <>
      <DataTable
        name={`Usage by ${by}`}
        rows={rows}
        columns={[
          {
            name: heading[by],
            isFirst: true,
            sort: sorting.link("group", by === "day" ? "first" : undefined),
            wraps: by !== "day",
            cell: (line) =>
              linkTo(line, (of) => usageLink(base, of, next), textOf(line)),
            sum: "Sum",
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
            sortBeside,
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
          ...(caches === undefined ? [] : cacheColumns(caches, sortBeside)),
          {
            name: "Estimated calls",
            sort: sorting.link("estimated", "first"),
            number: true,
            cell: (line) => <Estimated sums={line} decimals={decimals} />,
            sum: <Estimated sums={totals} decimals={decimals} />,
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
      {isWhole ? null : (
        <p class="soft">
          The first {countText(MAX_LINES)}
          {report.next === undefined ? ` of ${countText(data.length)}` : ""}
          {" "}
          lines in this order; the sum is that of all of them. The CSV has every
          line.
        </p>
      )}
    </>
  );
}
