/**
 * The keys of all accounts.
 */
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { KEY_ORDERS } from "../../../gateway/accounts/reports/key_list.ts";
import { KEY, type KeyRecord } from "../../../gateway/accounts/records.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { DataTable } from "../parts/data_table.tsx";
import { keyForms } from "../pages/key_changes.tsx";
import { keyPage } from "../pages/key_page.tsx";
import { KEY_PART, KeyMeters, KeyName, KeyState } from "../pages/keys.tsx";
import { byOffset, listCsv } from "../csv/list_csv.ts";
import { LastUsed, Moment } from "../parts/moment.tsx";
import { runAdminOperation } from "../http/operations.ts";
import { offsetOf, sortingOf } from "../parts/sorting.ts";
import { fileQuery, type Filter, filteredPage } from "../forms/filters.tsx";
import { AccountLink } from "./account_link.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

const NAV = "/console/operator/keys";
const PAGE_LENGTH = 100;

const FILTERS: readonly Filter[] = [
  { of: "suggested", name: "account" },
  KEY_PART,
];

export const OPERATOR_KEYS_PAGES: readonly OperatorPageRoute[] = [
  operatorPageRoute("GET", NAV, listPage, {
    query: ["account", "q", "sort", "page"],
    again: listPage,
  }),
  operatorPageRoute("GET", `${NAV}.csv`, (context) =>
    listCsv(
      "keys",
      KEY,
      byOffset((range) =>
        context.gateway.admin.listKeys({
          ...chosenOf(context),
          order: "made",
          isDescending: false,
          ...range,
        })
      ),
    ), { query: ["account", "q"] }),
  ...keyForms<Visit>({
    list: NAV,
    find: keyOfPath,
    run: (context, visit, change, input) =>
      runAdminOperation(context, visit, `${change}Key`, input),
    changed: ({ id, accountId }, change) =>
      change === "revoke"
        ? `${NAV}?account=${encodeURIComponent(accountId)}`
        : `${NAV}/${id}`,
  }).flatMap(({ name, show, send }): OperatorPageRoute[] => {
    const route = {
      access: "page",
      area: "operator",
      path: `${NAV}/${name}/:id`,
    } as const;
    return [
      { ...route, method: "GET", handle: show },
      { ...route, method: "POST", scope: "keys", handle: send, again: show },
    ];
  }),
  operatorPageRoute("GET", `${NAV}/:id`, async (context, visit) =>
    keyPage(
      context,
      visit,
      await keyOfPath(context),
      { base: "/console/operator", acts: ["limits", "rotate", "revoke"] },
    )),
];

function chosenOf(
  { query }: RouteContext,
): { readonly part: string; readonly accountId?: string } {
  const account = query.get("account")?.trim() ?? "";
  return {
    part: query.get("q")?.trim() ?? "",
    ...(account === "" ? {} : { accountId: account }),
  };
}

async function listPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { gateway } = context;
  return await filteredPage(
    context,
    visit,
    {
      title: "Keys",
      about: "Of all accounts; keys are shown by hint.",
      nav: NAV,
      actions: (
        <a class="button" href={`${NAV}.csv${fileQuery(context)}`}>CSV</a>
      ),
      filters: FILTERS,
    },
    async () => {
      const sorting = sortingOf(context, KEY_ORDERS, "-made");
      const pages = offsetOf(context, PAGE_LENGTH);
      const { data: keys, hasMore } = await gateway.admin.listKeys({
        ...chosenOf(context),
        order: sorting.by,
        isDescending: sorting.isDescending,
        ...pages.range,
      });
      const nowMs = gateway.now();
      const states = await gateway.admin.keyStates(keys.map(({ id }) => id));
      return (
        <section class="card">
          {keys.length === 0 ? <p>No keys match.</p> : (
            <DataTable
              name="Keys"
              rows={keys}
              columns={[
                {
                  name: "Account",
                  sort: sorting.link("account"),
                  wraps: true,
                  cell: ({ accountId }) => (
                    <AccountLink
                      accountId={accountId}
                    />
                  ),
                },
                {
                  name: "Name",
                  sort: sorting.link("name"),
                  isFirst: true,
                  wraps: true,
                  cell: (key) => <KeyName list={NAV} item={key} />,
                },
                {
                  name: "Made",
                  sort: sorting.link("made", "first"),
                  cell: ({ createdAtMs }) => (
                    <Moment atMs={createdAtMs} of="day" />
                  ),
                },
                {
                  name: "Last used",
                  sort: sorting.link("used", "first"),
                  cell: ({ lastUsedAtMs }) => (
                    <LastUsed atMs={lastUsedAtMs} nowMs={nowMs} />
                  ),
                },
                {
                  name: "Limits of its own",
                  cell: ({ id }) => (
                    <KeyMeters state={states.get(id)} nowMs={nowMs} />
                  ),
                },
                {
                  name: "State",
                  isFirst: true,
                  cell: (key) => <KeyState item={key} nowMs={nowMs} />,
                },
                {
                  name: "",
                  cell: ({ id, revokedAtMs }) => (
                    <div class="acts">
                      <a href={`/console/operator/changes?target=${id}`}>
                        Changes
                      </a>
                      {revokedAtMs === undefined
                        ? <a href={`${NAV}/revoke/${id}`}>Revoke</a>
                        : null}
                    </div>
                  ),
                },
              ]}
            />
          )}
          {hasMore
            ? (
              <p>
                <a href={pages.next}>More</a>
              </p>
            )
            : null}
        </section>
      );
    },
  );
}

function keyOfPath({ gateway, parameters }: RouteContext): Promise<KeyRecord> {
  return gateway.admin.keys.get(parameters["id"] ?? "");
}
