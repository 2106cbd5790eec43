/**
 * Accounts: create, change, suspend, top up, and create credentials.
 */
import { ACCOUNT } from "../../../gateway/accounts/records.ts";
import {
  ACCOUNT_ORDERS,
  type AccountListQuery,
} from "../../../gateway/accounts/reports/account_list.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { DataTable, Foreign } from "../parts/data_table.tsx";
import { fileQuery, filteredPage } from "../forms/filters.tsx";
import { usageLink } from "../parts/figure_links.ts";
import { byOffset, listCsv } from "../csv/list_csv.ts";
import { countText, decimalsOf, Money } from "../parts/money.tsx";
import { LastUsed } from "../parts/moment.tsx";
import { offsetOf, sortingOf } from "../parts/sorting.ts";
import { recordBody, RecordInputs } from "../forms/record_form.tsx";
import { newRecordPages } from "./new_record.tsx";
import { accountPage } from "./account_page.tsx";
import { AccountState } from "./account_state.tsx";
import { planChoices } from "./plan_choices.ts";
import { operatorPageRoute } from "../http/page_route.ts";

const NAV = "/console/operator/accounts";
const FILTERS = ["q", "plan", "status"];
// The status has buttons of its own.
const { status: _status, ...NEW } = ACCOUNT;

/** The list, the form for a new account, and a page per account. */
export const ACCOUNTS_PAGES: readonly OperatorPageRoute[] = [
  operatorPageRoute("GET", NAV, listPage, {
    query: [...FILTERS, "sort", "page"],
    again: listPage,
  }),
  operatorPageRoute("GET", `${NAV}.csv`, (context) =>
    listCsv(
      "accounts",
      ACCOUNT,
      byOffset((range) =>
        context.gateway.admin.listAccounts({
          ...chosenOf(context),
          order: "id",
          isDescending: false,
          ...range,
        })
      ),
    ), { query: FILTERS }),
  ...newRecordPages({
    list: NAV,
    title: "New account",
    inputs: async (context, visit) => (
      <RecordInputs
        visit={visit}
        fields={NEW}
        choices={{ plan: await planChoices(context.gateway.admin) }}
      />
    ),
    body: (form) => recordBody(NEW, form, { required: ["plan"] }),
    operationId: "createAccount",
    created: (id) => `${NAV}/${encodeURIComponent(id)}`,
  }),
  operatorPageRoute("GET", `${NAV}/:id`, accountPage),
];

const PAGE_LENGTH = 100;
const DAY_MS = 24 * 60 * 60 * 1000;

const STATES = [["active", "active"], ["disabled", "suspended"]] as const;

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function chosenOf(
  { query, gateway }: RouteContext,
): Omit<AccountListQuery, "order" | "isDescending" | "offset" | "limit"> {
  const value = (name: string): string => query.get(name)?.trim() ?? "";
  const status = STATES.find(([one]) => one === value("status"))?.[0];
  if (status === undefined && value("status") !== "") {
    throw invalidField("status", "must be active or disabled");
  }
  return {
    part: value("q"),
    ...(value("plan") === "" ? {} : { planId: value("plan") }),
    ...(status === undefined ? {} : { status }),
    fromDay: dayOf(gateway.now() - 29 * DAY_MS),
  };
}

async function listPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { gateway } = context;
  const { admin } = gateway;
  const plans = await planChoices(admin);
  return await filteredPage(
    context,
    visit,
    {
      title: "Accounts",
      nav: NAV,
      actions: (
        <>
          <a class="button" href={`${NAV}.csv${fileQuery(context)}`}>CSV</a>
          <a class="button" href={`${NAV}/many`}>Many at once</a>
          <a class="button main" href={`${NAV}/new`}>New account</a>
        </>
      ),
      filters: [
        { of: "text", name: "q", title: "Id or name" },
        { of: "choice", name: "plan", title: "Plan", choices: plans },
        { of: "choice", name: "status", title: "State", choices: STATES },
      ],
    },
    async () => {
      const sorting = sortingOf(context, ACCOUNT_ORDERS, "id");
      const pages = offsetOf(context, PAGE_LENGTH);
      const nowMs = gateway.now();
      const days = { from: dayOf(nowMs - 29 * DAY_MS), to: dayOf(nowMs) };
      const { data: accounts, hasMore } = await admin.listAccounts({
        ...chosenOf(context),
        order: sorting.by,
        isDescending: sorting.isDescending,
        ...pages.range,
      });
      const decimals = decimalsOf(
        accounts.map(({ spentMicroUsd }) => spentMicroUsd),
      );
      return (
        <section class="card">
          {accounts.length === 0 ? <p>No accounts match.</p> : (
            <DataTable
              name="Accounts"
              rows={accounts}
              columns={[
                {
                  name: "Account",
                  sort: sorting.link("id"),
                  isFirst: true,
                  wraps: true,
                  cell: ({ id }) => (
                    <a href={`${NAV}/${encodeURIComponent(id)}`}>
                      <Foreign text={id} />
                    </a>
                  ),
                },
                {
                  name: "State",
                  isFirst: true,
                  cell: (account) => <AccountState account={account} />,
                },
                {
                  name: "Name",
                  sort: sorting.link("name"),
                  wraps: true,
                  cell: ({ name }) => <Foreign text={name} />,
                },
                {
                  name: "Plan",
                  sort: sorting.link("plan"),
                  wraps: true,
                  cell: ({ planId }) => (
                    <a
                      href={`/console/operator/plans/${
                        encodeURIComponent(planId)
                      }`}
                    >
                      <Foreign text={planId} />
                    </a>
                  ),
                },
                { name: "Billing", cell: ({ billing }) => billing },
                {
                  name: "Balance",
                  sort: sorting.link("balance"),
                  number: true,
                  cell: ({ id, balanceMicroUsd }) => (
                    <a
                      href={`/console/operator/ledger?account=${
                        encodeURIComponent(id)
                      }`}
                    >
                      <Money microUsd={balanceMicroUsd} decimals={4} />
                    </a>
                  ),
                },
                {
                  name: "30 days",
                  sort: sorting.link("spent", "first"),
                  number: true,
                  cell: ({ id: account, spentMicroUsd }) => (
                    <a
                      href={usageLink(
                        "/console/operator",
                        { ...days, account },
                        "model",
                      )}
                    >
                      <Money microUsd={spentMicroUsd} decimals={decimals} />
                    </a>
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
                  name: "Under way",
                  sort: sorting.link("under_way", "first"),
                  number: true,
                  cell: ({ openRequests }) => countText(openRequests),
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
