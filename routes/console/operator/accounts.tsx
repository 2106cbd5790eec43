/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * Accounts: create, change, suspend, top up, and create credentials.
 *
 * @module
 */
import type { JSX } from "../jsx.d.ts";
import { ACCOUNT, type Account } from "../../../gateway/accounts/records.ts";
import { ACCOUNT_ORDERS } from "../../../gateway/accounts/repositories/account_list.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { DataTable, Foreign } from "../parts/data_table.tsx";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { usageLink } from "../parts/figure_links.ts";
import { LimitCards } from "../parts/limit_cards.tsx";
import { listCsv } from "../csv/list_csv.ts";
import { countText, decimalsOf, Money } from "../parts/money.tsx";
import { Distance, Moment } from "../parts/moment.tsx";
import { sortingOf } from "../parts/sorting.ts";
import { recordBody, RecordInputs } from "../parts/record_form.tsx";
import { newRecordPages } from "./new_record.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { ScopeField } from "./scope_field.tsx";
import { LimitList } from "./plans.tsx";
import { planChoices } from "./plan_choices.ts";

const NAV = "/console/operator/accounts";
// The status has buttons of its own.
const { status: _status, ...NEW } = ACCOUNT;

/** The list, the form for a new account, and a page per account. */
export const ACCOUNTS_PAGES: readonly OperatorPageRoute[] = [
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: NAV,
    handle: listPage,
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${NAV}.csv`,
    handle: ({ gateway }) =>
      listCsv(
        "accounts",
        ACCOUNT,
        (page) => gateway.admin.accounts.list(page),
      ),
  },
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
    body: (form) =>
      recordBody(NEW, form, { clears: false, required: ["plan"] }),
    operationId: "createAccount",
    created: (id) => `${NAV}/${encodeURIComponent(id)}`,
  }),
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${NAV}/:id`,
    handle: accountPage,
  },
];

const PAGE_LENGTH = 100;
const DAY_MS = 24 * 60 * 60 * 1000;

async function listPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { query, gateway } = context;
  const { admin } = gateway;
  const value = (name: string): string => query.get(name)?.trim() ?? "";
  const sorting = sortingOf(context, ACCOUNT_ORDERS, "id");
  const at = Number(/^\d{1,4}$/.exec(value("page"))?.[0] ?? "1");
  const status = value("status");
  if (status !== "" && status !== "active" && status !== "disabled") {
    throw invalidField("status", "must be active or disabled");
  }
  const nowMs = gateway.now();
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const days = { from: day(nowMs - 29 * DAY_MS), to: day(nowMs) };
  const { data: accounts, hasMore } = await admin.listAccounts({
    part: value("q"),
    ...(value("plan") === "" ? {} : { planId: value("plan") }),
    ...(status === "" ? {} : { status }),
    fromDay: days.from,
    order: sorting.by,
    isDescending: sorting.isDescending,
    limit: PAGE_LENGTH,
    offset: (Math.max(1, at) - 1) * PAGE_LENGTH,
  });
  const more = new URLSearchParams(query);
  more.set("page", String(at + 1));
  const decimals = decimalsOf(
    accounts.map(({ spentMicroUsd }) => spentMicroUsd),
  );
  return page(
    context,
    visit,
    {
      title: "Accounts",
      nav: NAV,
      actions: (
        <>
          <a class="button" href={`${NAV}.csv`}>CSV</a>
          <a class="button main" href={`${NAV}/new`}>New account</a>
        </>
      ),
    },
    <>
      <form class="card row" action={NAV}>
        <label>
          Id or name
          <input name="q" value={value("q")} placeholder="any part" />
        </label>
        <SelectField
          visit={visit}
          name="plan"
          title="Plan"
          value={value("plan")}
          choices={[["", "all"], ...await planChoices(admin)]}
        />
        <SelectField
          visit={visit}
          name="status"
          title="State"
          value={status}
          choices={[["", "all"], ["active", "active"], [
            "disabled",
            "suspended",
          ]]}
        />
        <input type="hidden" name="sort" value={value("sort")} />
        <button class="main" type="submit">Apply</button>
      </form>
      <section class="card">
        {accounts.length === 0 ? <p>No accounts match.</p> : (
          <DataTable
            name="Accounts"
            rows={accounts}
            stacks
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
                cell: (account) => <State account={account} />,
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
                cell: ({ balanceMicroUsd }) => (
                  <Money microUsd={balanceMicroUsd} decimals={4} />
                ),
              },
              {
                name: "30 days",
                sort: sorting.link("spent", true),
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
                sort: sorting.link("used", true),
                cell: ({ lastUsedAtMs }) => lastUsedAtMs === undefined
                  ? <span class="soft">never</span>
                  : <Distance atMs={lastUsedAtMs} nowMs={nowMs} />,
              },
              {
                name: "Under way",
                sort: sorting.link("under_way", true),
                number: true,
                cell: ({ openRequests }) => countText(openRequests),
              },
            ]}
          />
        )}
        {hasMore
          ? (
            <p>
              <a href={`${NAV}?${more}`}>More</a>
            </p>
          )
          : null}
      </section>
    </>,
  );
}

function State({ account }: { readonly account: Account }): JSX.Element {
  return account.status === "active"
    ? <span class="tag ok">active</span>
    : <span class="tag bad">suspended</span>;
}

/** What an operator sees of one account, and the forms that change it. */
export async function accountPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { admin } = context.gateway;
  const account = await admin.accounts.get(context.parameters["id"] ?? "");
  const plan = await admin.plans.get(account.planId);
  const id = encodeURIComponent(account.id);
  const { account: { use }, atMs } = await admin.state({
    kind: "read",
    id: "",
    accountId: account.id,
  });
  return page(
    context,
    visit,
    {
      title: `Account ${account.id}`,
      about: <Foreign text={account.name} />,
      nav: NAV,
      actions: (
        <>
          <a
            class="button"
            href={`/console/operator/usage?by=day&account=${id}`}
          >
            Usage
          </a>
          <a class="button" href={`/console/operator/ledger?account=${id}`}>
            Ledger
          </a>
          <a class="button" href={`/console/operator/keys?account=${id}`}>
            Keys
          </a>
          <a class="button" href={`/console/operator/changes?account=${id}`}>
            Changes
          </a>
          <a class="button" href={`/console/operator/calls?account=${id}`}>
            Calls
          </a>
          <a class="button main" href={`${NAV}/change/${id}`}>Change</a>
        </>
      ),
    },
    <>
      <div class="cards">
        <LimitCards
          use={use}
          limits={plan}
          of="account"
          nowMs={atMs}
          linkOf={(from, to) =>
            usageLink(
              "/console/operator",
              { from, to, account: account.id },
              "model",
            )}
        />
      </div>
      <div class="cols">
        <section class="card">
          <h2>State</h2>
          <dl>
            <dt>State</dt>
            <dd>
              <State account={account} />
            </dd>
            <dt>Balance</dt>
            <dd>
              <Money microUsd={account.balanceMicroUsd} decimals={6} />{" "}
              ({account.billing})
            </dd>
            <dt>Reserved</dt>
            <dd>
              <Money microUsd={account.reservedMicroUsd} decimals={6} /> for
              {" "}
              {countText(account.openRequests)} calls under way
            </dd>
            {account.purses.map(({ model, balanceMicroUsd }) => (
              <>
                <dt>
                  For <Foreign text={model} />
                </dt>
                <dd>
                  <Money microUsd={balanceMicroUsd} decimals={6} />
                </dd>
              </>
            ))}
            <dt>Plan</dt>
            <dd>
              <a
                href={`/console/operator/plans/${encodeURIComponent(plan.id)}`}
              >
                <Foreign text={plan.id} />
              </a>: <LimitList item={plan} />
            </dd>
            <dt>Since</dt>
            <dd>
              <Moment atMs={account.createdAtMs} of="day" />
            </dd>
          </dl>
        </section>
        <section class="card">
          <h2>Top up</h2>
          <form class="form" action={`${NAV}/top-up/${id}`}>
            <TextField
              visit={visit}
              name="usd"
              title="Dollars"
              help="A negative amount takes money out"
              inputmode="decimal"
              required
            />
            <TextField visit={visit} name="note" title="Note" maxLength={200} />
            <div>
              <button class="main" type="submit">Top up</button>
            </div>
          </form>
        </section>
        <section class="card">
          <h2>Let someone in</h2>
          <form class="form" method="post" action={`${NAV}/link/${id}`}>
            <FormToken visit={visit} />
            <TextField
              visit={visit}
              name="name"
              title="Name of the person"
              help="Shown beside what they change"
              maxLength={200}
              required
            />
            <ScopeField visit={visit} />
            <div class="acts">
              <button class="main" type="submit">Sign-in link</button>
              <span class="soft">It works once, for 15 minutes.</span>
            </div>
          </form>
          <p class="acts">
            <a class="button" href={`${NAV}/token/${id}`}>Account token</a>
            <a class="button" href={`${NAV}/key/${id}`}>API key</a>
          </p>
        </section>
        <section class="card">
          <h2>Suspend</h2>
          <p class="soft">
            Calls of a suspended account are refused; its people may still look.
          </p>
          <form method="post" action={`${NAV}/status/${id}`}>
            <FormToken visit={visit} />
            <OnceField />
            {account.status === "active"
              ? (
                <>
                  <input type="hidden" name="status" value="disabled" />
                  <button class="danger" type="submit">Suspend</button>
                </>
              )
              : (
                <>
                  <input type="hidden" name="status" value="active" />
                  <button class="main" type="submit">Resume</button>
                </>
              )}
          </form>
        </section>
      </div>
    </>,
  );
}
