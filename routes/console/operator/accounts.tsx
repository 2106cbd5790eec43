/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * Accounts: create, change, suspend, top up, and create credentials.
 *
 * @module
 */
import type { JSX } from "../jsx.d.ts";
import { recordJson } from "../../../gateway/accounts/field.ts";
import { ACCOUNT, type Account } from "../../../gateway/accounts/records.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { DataTable, Foreign } from "../parts/data_table.tsx";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { usageLink } from "../parts/figure_links.ts";
import { LimitCards } from "../parts/limit_cards.tsx";
import { listCsv } from "../csv/list_csv.ts";
import { countText, Money } from "../parts/money.tsx";
import { Moment } from "../parts/moment.tsx";
import { RecordInputs } from "../parts/record_form.tsx";
import { newRecordPages } from "./new_record.tsx";
import { LimitList } from "./plans.tsx";

const NAV = "/console/operator/accounts";
// The status has buttons of its own.
const { status: _status, ...NEW } = ACCOUNT;
const { id: _id, ...CHANGEABLE } = NEW;

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
    fields: NEW,
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

async function listPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const after = context.query.get("after");
  const { data: accounts, next } = await context.gateway.admin.accounts.list({
    limit: 200,
    ...(after === null ? {} : { after }),
  });
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
    <section class="card">
      <DataTable
        name="Accounts"
        rows={accounts}
        columns={[
          {
            name: "Account",
            wraps: true,
            cell: ({ id }) => (
              <a href={`${NAV}/${encodeURIComponent(id)}`}>
                <Foreign text={id} />
              </a>
            ),
          },
          {
            name: "Name",
            wraps: true,
            cell: ({ name }) => <Foreign text={name} />,
          },
          { name: "Plan", cell: ({ planId }) => <Foreign text={planId} /> },
          { name: "Billing", cell: ({ billing }) => billing },
          {
            name: "Balance",
            number: true,
            cell: ({ balanceMicroUsd }) => (
              <Money microUsd={balanceMicroUsd} decimals={4} />
            ),
          },
          {
            name: "Under way",
            number: true,
            cell: ({ openRequests }) => countText(openRequests),
          },
          { name: "State", cell: (account) => <State account={account} /> },
        ]}
      />
      {next === undefined ? null : (
        <p>
          <a href={`${NAV}?after=${encodeURIComponent(next)}`}>More</a>
        </p>
      )}
    </section>,
  );
}

function State({ account }: { readonly account: Account }): JSX.Element {
  return account.status === "active"
    ? <span class="tag ok">active</span>
    : <span class="tag bad">suspended</span>;
}

async function accountPage(
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
            <label>
              Dollars
              <small>A negative amount takes money out</small>
              <input name="usd" inputmode="decimal" required />
            </label>
            <label>
              Note
              <input name="note" maxLength={200} />
            </label>
            <div>
              <button class="main" type="submit">Top up</button>
            </div>
          </form>
        </section>
        <section class="card">
          <h2>Let someone in</h2>
          <form class="row" method="post" action={`${NAV}/link/${id}`}>
            <FormToken visit={visit} />
            <ScopeInput />
            <button class="main" type="submit">Sign-in link</button>
          </form>
          <p class="soft">It works once, for 15 minutes.</p>
          <form class="row" method="post" action={`${NAV}/token/${id}`}>
            <FormToken visit={visit} />
            <OnceField />
            <label>
              Name of the token
              <input name="name" maxLength={200} required />
            </label>
            <ScopeInput />
            <button type="submit">Account token</button>
          </form>
          <form class="row" method="post" action={`${NAV}/key/${id}`}>
            <FormToken visit={visit} />
            <OnceField />
            <label>
              Name of the key
              <input name="name" maxLength={200} required />
            </label>
            <button type="submit">API key</button>
          </form>
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
      <section class="card">
        <h2>Change</h2>
        <form class="form" method="post" action={`${NAV}/change/${id}`}>
          <FormToken visit={visit} />
          <OnceField />
          <RecordInputs
            fields={CHANGEABLE}
            values={recordJson(ACCOUNT, account)}
          />
          <div>
            <button type="submit">Change</button>
          </div>
        </form>
      </section>
    </>,
  );
}

function ScopeInput(): JSX.Element {
  return (
    <label>
      Scope
      <select name="scope">
        <option value="read">read</option>
        <option value="manage">manage</option>
      </select>
    </label>
  );
}
