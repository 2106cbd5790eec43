/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The attempts that failed at their upstreams, a line each, also where another upstream replied.
 *
 * @module
 */
import { OUTCOME_NAMES } from "../../../gateway/accounts/calls/outcome.ts";
import {
  attemptTimeMs,
  type FailedAttempt,
} from "../../../gateway/accounts/store/failed_attempt_rows.ts";
import {
  ATTEMPT_FILTERS,
  attemptQuery,
} from "../../../gateway/admin/attempts.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import type { JSX } from "../jsx.d.ts";
import { Ending, outcomeText, secondsText } from "../parts/call_ending.tsx";
import { DataTable, Foreign } from "../parts/data_table.tsx";
import { PeriodInputs } from "../parts/day_input.tsx";
import { filterFields } from "../parts/filter_fields.ts";
import { page } from "../parts/layout.tsx";
import { countText } from "../parts/money.tsx";
import { Moment } from "../parts/moment.tsx";
import { SearchOn } from "../parts/search_on.tsx";
import { AccountLink } from "./account_link.tsx";

const NAV = "/console/operator/attempts";
const PAGE_LENGTH = 50;
const SCAN_LIMIT = 100_000;

/** The list. */
export const ATTEMPTS_PAGE: OperatorPageRoute = {
  access: "page",
  area: "operator",
  method: "GET",
  path: NAV,
  handle: attemptsPage,
};

async function attemptsPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { query, gateway } = context;
  const value = (name: string): string => query.get(name)?.trim() ?? "";
  const { data, next } = await gateway.admin.failedAttempts.list({
    ...attemptQuery(filterFields(query, ATTEMPT_FILTERS)),
    limit: PAGE_LENGTH,
    scanLimit: SCAN_LIMIT,
    ...(value("after") === "" ? {} : { after: value("after") }),
  });
  const search = new URLSearchParams(query);
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
      title: "Failed attempts",
      about:
        "At upstreams, newest first; also those of calls that another upstream then served.",
      nav: "/console/operator/upstreams",
    },
    <>
      <form class="card row" action={NAV}>
        {text("upstream", "Upstream")}
        {text("model", "Model")}
        {text("error", "Status or error")}
        {text("account", "Account")}
        <label>
          Call
          <select name="outcome">
            <option value="">all</option>
            {OUTCOME_NAMES.filter((one) => one !== "complete").map((one) => (
              <option value={one} selected={one === value("outcome")}>
                {outcomeText(one)}
              </option>
            ))}
          </select>
        </label>
        <PeriodInputs value={value} />
        <button class="main" type="submit">Apply</button>
      </form>
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
            href={`${NAV}?${search}`}
            isFull={data.length === PAGE_LENGTH}
            searched={`${countText(SCAN_LIMIT)} attempts`}
            place={<Moment atMs={attemptTimeMs(next)} />}
            older="Older attempts"
          />
        )}
      </section>
    </>,
  );
}
