/**
 * Calls: a list with filters, newest first; refused ones too.
 */
import type { JSX } from "../jsx.d.ts";
import { callTimeMs } from "../../../gateway/accounts/calls/call_record.ts";
import {
  OUTCOME_FILTERS,
  outcomeOf,
} from "../../../gateway/accounts/calls/outcome.ts";
import type {
  CallRank,
  FoundCall,
} from "../../../gateway/accounts/reports/call_report.ts";
import type { RankedPage } from "../../../gateway/accounts/reports/ranked.ts";
import type { ListPage } from "../../../gateway/accounts/repositories/list_page.ts";
import {
  type AccountScope,
  scopeOf,
} from "../../../gateway/admin/account_scope.ts";
import { CALL_FILTERS, callQuery } from "../../../gateway/admin/calls.ts";
import type { AccountVisit, Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { Ending, outcomeText, secondsText } from "../parts/call_ending.tsx";
import { callPage } from "./call_page.tsx";
import { callsCsv } from "../csv/calls_csv.ts";
import { queryOf } from "../../admin/auth.ts";
import { ownLiveScope } from "../../../gateway/live/live_json.ts";
import { type Column, DataTable, Foreign } from "../parts/data_table.tsx";
import { filterFields } from "../forms/filter_fields.ts";
import { keyNames } from "../parts/key_names.ts";
import { liveEvents, LiveSection, lookOf } from "../parts/live_view.tsx";
import { countText, Money } from "../parts/money.tsx";
import { Moment } from "../parts/moment.tsx";
import { RankedNote } from "../parts/ranked_note.tsx";
import { SearchOn } from "../forms/search_on.tsx";
import {
  LIST_PLACES,
  offsetOf,
  type Sorting,
  sortingOf,
} from "../parts/sorting.ts";
import {
  fileQuery,
  type Filter,
  filteredPage,
  PERIOD,
  placeLink,
  suggestedFilters,
} from "../forms/filters.tsx";
import { accountPageRoute } from "../http/page_route.ts";

/** The filters of an account's own list. */
const OWN_FILTERS = CALL_FILTERS.filter((name) => name !== "account");

/** The list, and one call. */
export const CALLS_PAGES: readonly AccountPageRoute[] = [
  accountPageRoute("look", "GET", "/console/calls", ownPage, {
    query: [...OWN_FILTERS, ...LIST_PLACES],
    again: ownPage,
  }),
  accountPageRoute(
    "look",
    "GET",
    "/console/calls.csv",
    (context, visit) => callsFile(context, scopeOf(visit.holder)),
    { query: OWN_FILTERS },
  ),
  accountPageRoute(
    "look",
    "GET",
    "/console/calls/live",
    (context, visit) =>
      liveEvents(
        context,
        visit,
        ownLiveScope(scopeOf(visit.holder), queryOf(context.query)),
        "/console",
      ),
    { query: ["key"], isBackground: true },
  ),
  accountPageRoute(
    "look",
    "GET",
    "/console/calls/:id",
    (context, visit) =>
      callPage(context, visit, scopeOf(visit.holder), "/console"),
  ),
];

function ownPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  return callsPage(context, visit, scopeOf(visit.holder), "/console");
}

const ORDERS = ["time", "whole", "cost"] as const;
const PAGE_LENGTH = 50;
/** More would take longer than a page may; the index of an account or key is slower to walk. */
const SCAN_LIMIT = { all: 500_000, account: 50_000 };

const CHOSEN: readonly Filter[] = [
  {
    of: "choice",
    name: "outcome",
    title: "Ended",
    choices: OUTCOME_FILTERS.map((one) => [one, outcomeText(one)]),
  },
  { of: "text", name: "status", title: "Status" },
  { of: "text", name: "code", title: "Reason" },
  { of: "text", name: "user", title: "End user" },
  ...PERIOD,
];

function callFilters(scope: Partial<AccountScope>): readonly Filter[] {
  return [...suggestedFilters(scope), ...CHOSEN];
}

/** A page of calls; without an account in `scope` those of all accounts. */
export async function callsPage(
  context: RouteContext,
  visit: Visit,
  scope: Partial<AccountScope>,
  base: string,
): Promise<HttpReply> {
  const { query, gateway } = context;
  const { admin } = gateway;
  return await filteredPage(
    context,
    visit,
    {
      title: "Calls",
      about: "Newest first, refused ones too. No prompt and no reply is kept.",
      nav: `${base}/calls`,
      actions: (
        <a class="button" href={`${base}/calls.csv${fileQuery(context)}`}>
          CSV
        </a>
      ),
      scope,
      filters: callFilters(scope),
    },
    async () => {
      const filters = {
        ...callQuery(filterFields(query, CALL_FILTERS)),
        ...scope,
      };
      const scanLimit = SCAN_LIMIT[
        filters.accountId === undefined && filters.keyId === undefined
          ? "all"
          : "account"
      ];
      const sorting = sortingOf(context, ORDERS, "-time");
      const pages = offsetOf(context, PAGE_LENGTH);
      const { by, isDescending } = sorting;
      if (by === "time" && !isDescending) {
        throw invalidField("sort", "by time, the newest call comes first");
      }
      const after = query.get("after") || undefined;
      const found: Partial<RankedPage<FoundCall>> & ListPage<FoundCall> =
        by === "time"
          ? await admin.calls.list({
            ...filters,
            limit: PAGE_LENGTH,
            scanLimit,
            ...(after === undefined ? {} : { after }),
          })
          : await admin.calls.ranked({ ...filters, scanLimit }, {
            by,
            isDescending,
            ...pages.range,
          });
      const { data, next } = found;
      return (
        <>
          {scope.accountId === undefined || query.size > 0 ? null : (
            <LiveSection
              look={await lookOf(context, scope, base)}
              picture={await gateway.live.look(scope)}
              ended={[]}
              events={`${base}/calls/live`}
              refresh={`${base}/calls`}
              title="Under way"
              endedTitle="Ended since this page was opened"
              empty="No call is under way."
            />
          )}
          <section class="card">
            {data.length === 0 && next === undefined
              ? <NoCalls query={query} base={base} />
              : null}
            {data.length === 0 ? null : (
              <DataTable
                name="Calls"
                rows={data}
                columns={callColumns(
                  await keyNames(
                    admin,
                    scope,
                    data.map(({ record }) => record.keyId),
                  ),
                  base,
                  scope.accountId === undefined,
                  sorting,
                )}
              />
            )}
            <RankedNote page={found} of="calls" next={pages.next} />
            {next === undefined ? null : (
              <SearchOn
                href={placeLink(context, next)}
                isFull={data.length === PAGE_LENGTH}
                searched={`${countText(scanLimit)} calls`}
                place={<Moment atMs={callTimeMs(next)} />}
                older="Older calls"
              />
            )}
          </section>
        </>
      );
    },
  );
}

/** Every call of the page's filters as a file. */
export function callsFile(
  { query, gateway }: RouteContext,
  scope: Partial<AccountScope>,
): Promise<HttpReply> {
  return callsCsv(
    gateway.admin,
    { ...callQuery(filterFields(query, CALL_FILTERS)), ...scope },
    scope.accountId === undefined,
  );
}

function NoCalls(
  { query, base }: {
    readonly query: URLSearchParams;
    readonly base: string;
  },
): JSX.Element {
  return query.size === 0
    ? (
      <p>
        No calls yet, or none within the time that they are kept.{" "}
        {base === "/console"
          ? (
            <>
              <a href="/console/connect">Connect</a>{" "}
              has the lines for a first one.
            </>
          )
          : null}
      </p>
    )
    : (
      <p>
        No calls match. <a href={`${base}/calls`}>Show all</a>
      </p>
    );
}

export function callColumns(
  names: ReadonlyMap<string, string>,
  base: string,
  hasAccount: boolean,
  /** Absent: the list has its own order. */
  sorting?: Sorting<typeof ORDERS[number]>,
): readonly Column<FoundCall>[] {
  const sortBy = (
    order: CallRank | "time",
    largest: "first" | "only" = "first",
  ): Pick<Column<FoundCall>, "sort"> =>
    sorting === undefined ? {} : { sort: sorting.link(order, largest) };
  return [
    {
      name: "Time (UTC)",
      ...sortBy("time", "only"),
      isFirst: true,
      cell: ({ record }) => (
        <>
          <a href={`${base}/calls/${encodeURIComponent(record.requestId)}`}>
            <Moment atMs={callTimeMs(record.requestId)} of="bare" />
          </a>
          <code class="id">{record.requestId}</code>
        </>
      ),
    },
    ...(hasAccount
      ? [{
        name: "Account",
        wraps: true,
        cell: ({ record }: FoundCall) => <Foreign text={record.accountId} />,
      }]
      : []),
    {
      name: "Model",
      wraps: true,
      cell: ({ record }) => <Foreign text={record.model ?? "–"} />,
    },
    {
      name: "Ended",
      isFirst: true,
      cell: ({ record }) => (
        <Ending
          outcome={outcomeOf(record)}
          status={record.status}
          code={record.code}
        />
      ),
    },
    {
      name: "Whole",
      ...sortBy("whole"),
      number: true,
      cell: ({ record }) => secondsText(record.durationMs),
    },
    {
      name: "First token",
      number: true,
      cell: ({ record }) => secondsText(record.firstTokenMs),
    },
    {
      name: "Cost",
      ...sortBy("cost"),
      number: true,
      cell: ({ record, entry }) => (
        <Money
          microUsd={entry === undefined ? record.microUsd : 0 - entry.microUsd}
          decimals={6}
          estimated={entry?.estimated ?? record.estimated}
        />
      ),
    },
    {
      name: "Key",
      wraps: true,
      cell: ({ record }) => (
        <Foreign text={names.get(record.keyId) ?? record.keyId} />
      ),
    },
  ];
}
