/**
 * The attempts that failed at their upstreams, a line each, also where another upstream replied.
 */
import { OUTCOME_NAMES } from "../../../gateway/accounts/calls/outcome.ts";
import {
  attemptTimeMs,
  type FailedAttempt,
} from "../../../gateway/accounts/rows/failed_attempt_rows.ts";
import {
  ATTEMPT_FILTERS,
  attemptQuery,
} from "../../../gateway/admin/attempts.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { Ending, outcomeText, secondsText } from "../parts/call_ending.tsx";
import { DataTable, Foreign } from "../parts/data_table.tsx";
import { filterFields } from "../forms/filter_fields.ts";
import {
  type Filter,
  filteredPage,
  PERIOD,
  placeLink,
} from "../forms/filters.tsx";
import { countText } from "../parts/money.tsx";
import { Moment } from "../parts/moment.tsx";
import { SearchOn } from "../forms/search_on.tsx";
import { AccountLink } from "./account_link.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

const NAV = "/console/operator/attempts";
const PAGE_LENGTH = 50;
const SCAN_LIMIT = 100_000;

const FILTERS: readonly Filter[] = [
  { of: "suggested", name: "account" },
  { of: "suggested", name: "model" },
  { of: "text", name: "upstream", title: "Upstream" },
  { of: "text", name: "error", title: "Status or error" },
  {
    of: "choice",
    name: "outcome",
    title: "Call",
    choices: OUTCOME_NAMES.filter((one) => one !== "complete")
      .map((one) => [one, outcomeText(one)]),
  },
  ...PERIOD,
];

export const ATTEMPTS_PAGE: OperatorPageRoute = operatorPageRoute(
  "GET",
  NAV,
  attemptsPage,
  { query: [...ATTEMPT_FILTERS, "after"], again: attemptsPage },
);

async function attemptsPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { query, gateway } = context;
  return await filteredPage(
    context,
    visit,
    {
      title: "Failed attempts",
      about:
        "At upstreams, newest first; also those of calls that another upstream then served.",
      nav: "/console/operator/upstreams",
      filters: FILTERS,
    },
    async () => {
      const after = query.get("after") || undefined;
      const { data, next } = await gateway.admin.failedAttempts.list({
        ...attemptQuery(filterFields(query, ATTEMPT_FILTERS)),
        limit: PAGE_LENGTH,
        scanLimit: SCAN_LIMIT,
        ...(after === undefined ? {} : { after }),
      });
      return (
        <section class="card">
          {data.length === 0 && next === undefined
            ? <p>No attempt failed, or none that matches.</p>
            : (
              <DataTable<FailedAttempt>
                name="Failed attempts"
                rows={data}
                columns={[
                  {
                    name: "Failed at (UTC)",
                    isFirst: true,
                    cell: ({ id, requestId }) => (
                      <>
                        <a
                          href={`/console/operator/calls/${
                            encodeURIComponent(requestId)
                          }`}
                        >
                          <Moment atMs={attemptTimeMs(id)} of="bare" />
                        </a>
                        <code class="id">{requestId}</code>
                      </>
                    ),
                  },
                  {
                    name: "Upstream",
                    wraps: true,
                    cell: ({ upstream }) => upstream,
                  },
                  {
                    name: "Model",
                    wraps: true,
                    cell: ({ model }) => <Foreign text={model} />,
                  },
                  {
                    name: "Error",
                    isFirst: true,
                    wraps: true,
                    cell: ({ error, words }) => (
                      <>
                        <b>{error.replaceAll("_", " ")}</b>
                        {words === undefined ? "" : (
                          <>
                            : <Foreign text={words} />
                          </>
                        )}
                      </>
                    ),
                  },
                  {
                    name: "Took",
                    number: true,
                    cell: ({ durationMs }) => secondsText(durationMs),
                  },
                  {
                    name: "Call",
                    cell: ({ outcome }) => <Ending outcome={outcome} />,
                  },
                  {
                    name: "Account",
                    wraps: true,
                    cell: ({ accountId }) => (
                      <AccountLink
                        accountId={accountId}
                      />
                    ),
                  },
                ]}
              />
            )}
          {next === undefined ? null : (
            <SearchOn
              href={placeLink(context, next)}
              isFull={data.length === PAGE_LENGTH}
              searched={`${countText(SCAN_LIMIT)} attempts`}
              place={<Moment atMs={attemptTimeMs(next)} />}
              older="Older attempts"
            />
          )}
        </section>
      );
    },
  );
}
