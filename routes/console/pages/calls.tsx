/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * Calls: a list with filters, newest first; refused ones too.
 *
 * @module
 */
import type { JSX } from "../jsx.d.ts";
import { callTimeMs } from "../../../gateway/accounts/calls/call_record.ts";
import {
  OUTCOME_NAMES,
  outcomeOf,
} from "../../../gateway/accounts/calls/outcome.ts";
import type { FoundCall } from "../../../gateway/accounts/repositories/call_report.ts";
import {
  type AccountScope,
  scopeOf,
} from "../../../gateway/admin/account_scope.ts";
import { CALL_FILTERS, callQuery } from "../../../gateway/admin/calls.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { Ending, outcomeText, secondsText } from "../parts/call_ending.tsx";
import { callPage } from "./call_page.tsx";
import { callsCsv } from "../csv/calls_csv.ts";
import { queryOf } from "../../admin/auth.ts";
import { ownLiveScope } from "../../../gateway/live/live_json.ts";
import { type Column, DataTable, Foreign } from "../parts/data_table.tsx";
import { PeriodInputs } from "../parts/day_input.tsx";
import { filterFields } from "../parts/filter_fields.ts";
import { keyNames } from "../parts/key_names.ts";
import { page } from "../parts/layout.tsx";
import { liveEvents, LiveSection, lookOf } from "../parts/live_view.tsx";
import { countText, Money } from "../parts/money.tsx";
import { Moment } from "../parts/moment.tsx";
import { SearchOn } from "../parts/search_on.tsx";
import {
  meantFilters,
  SuggestedInput,
  suggestionLists,
} from "../parts/suggested_filters.tsx";

/** The list, and one call. */
export const CALLS_PAGES: readonly AccountPageRoute[] = [
  {
    access: "page",
    area: "account",
    permission: "look",
    method: "GET",
    path: "/console/calls",
    handle: (context, visit) =>
      callsPage(context, visit, scopeOf(visit.holder), "/console"),
  },
  {
    access: "page",
    area: "account",
    permission: "look",
    method: "GET",
    path: "/console/calls.csv",
    handle: (context, visit) => callsFile(context, scopeOf(visit.holder)),
  },
  {
    access: "page",
    area: "account",
    permission: "look",
    method: "GET",
    path: "/console/calls/live",
    isBackground: true,
    handle: (context, visit) =>
      liveEvents(
        context,
        visit,
        ownLiveScope(scopeOf(visit.holder), queryOf(context.query)),
        "/console",
      ),
  },
  {
    access: "page",
    area: "account",
    permission: "look",
    method: "GET",
    path: "/console/calls/:id",
    handle: (context, visit) =>
      callPage(context, visit, scopeOf(visit.holder), "/console"),
  },
];

const PAGE_LENGTH = 50;
/** More would take longer than a page may; the index of an account or key is slower to walk. */
const SCAN_LIMIT = { all: 500_000, account: 50_000 };

/** A page of calls; without an account in `scope` those of all accounts. */
export async function callsPage(
  context: RouteContext,
  visit: Visit,
  scope: Partial<AccountScope>,
  base: string,
): Promise<HttpReply> {
  const { query, gateway } = context;
  const { admin } = gateway;
  const value = (name: string): string => query.get(name)?.trim() ?? "";
  const { redirect, note } = await meantFilters(context, scope);
  if (redirect !== undefined) return redirect;
  const filters = {
    ...callQuery(filterFields(query, CALL_FILTERS)),
    ...scope,
  };
  const scanLimit = SCAN_LIMIT[
    filters.accountId === undefined && filters.keyId === undefined
      ? "all"
      : "account"
  ];
  const { data, next } = await admin.calls.list({
    ...filters,
    limit: PAGE_LENGTH,
    scanLimit,
    ...(value("after") === "" ? {} : { after: value("after") }),
  });
  const search = new URLSearchParams(query);
  search.delete("after");
  const csv = `${base}/calls.csv?${search}`;
  search.set("after", next ?? "");
  const text = (name: string, title: string): JSX.Element => (
    <label>
      {title}
      <input name={name} value={value(name)} placeholder="all" />
    </label>
  );
  return page(
    context,
    visit,
    {
      title: "Calls",
      about: "Newest first, refused ones too. No prompt and no reply is kept.",
      nav: `${base}/calls`,
      actions: <a class="button" href={csv}>CSV</a>,
    },
    <>
      <form class="card row" action={`${base}/calls`}>
        {await suggestionLists(context, scope)}
        {scope.accountId === undefined
          ? (
            <SuggestedInput
              name="account"
              title="Account"
              value={value("account")}
            />
          )
          : null}
        <label>
          Ended
          <select name="outcome">
            <option value="">all</option>
            {OUTCOME_NAMES.map((one) => (
              <option key={one} value={one} selected={one === value("outcome")}>
                {outcomeText(one)}
              </option>
            ))}
          </select>
        </label>
        <SuggestedInput name="model" title="Model" value={value("model")} />
        {scope.keyId === undefined
          ? <SuggestedInput name="key" title="Key" value={value("key")} />
          : null}
        {text("status", "Status")}
        {text("code", "Reason")}
        {text("user", "End user")}
        <PeriodInputs value={value} />
        <button class="main" type="submit">Apply</button>
      </form>
      {note}
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
            stacks
            rows={data}
            columns={callColumns(
              await keyNames(
                admin,
                scope,
                data.map(({ record }) => record.keyId),
              ),
              base,
              scope.accountId === undefined,
            )}
          />
        )}
        {next === undefined ? null : (
          <SearchOn
            href={`${base}/calls?${search}`}
            isFull={data.length === PAGE_LENGTH}
            searched={`${countText(scanLimit)} calls`}
            place={<Moment atMs={callTimeMs(next)} />}
            older="Older calls"
          />
        )}
      </section>
    </>,
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

/** The columns of a list of calls. */
export function callColumns(
  names: ReadonlyMap<string, string>,
  base: string,
  hasAccount: boolean,
): readonly Column<FoundCall>[] {
  return [
    {
      name: "Time (UTC)",
      isFirst: true,
      wraps: true,
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
