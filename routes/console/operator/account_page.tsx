/**
 * Everything about one account: what is used, what it spends, its keys and people, its webhook.
 */
import type { JSX } from "../jsx.d.ts";
import type { Account } from "../../../gateway/accounts/records.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import { callTimeMs } from "../../../gateway/accounts/calls/call_record.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { RouteContext } from "../../route.ts";
import { TokenState } from "../pages/access.tsx";
import { sessionText } from "../parts/session_text.ts";
import { KeyMeters, KeyState } from "../pages/keys.tsx";
import { DataTable, Foreign } from "../parts/data_table.tsx";
import { AskFirst } from "../forms/ask_first.tsx";
import { RevokeToken } from "../forms/revoke_token.tsx";
import { TextField } from "../forms/field.tsx";
import { chargesText, ledgerLink, usageLink } from "../parts/figure_links.ts";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { LimitCards } from "../parts/limit_cards.tsx";
import { recentHealth } from "../parts/recent_health.tsx";
import { countText, Money } from "../parts/money.tsx";
import { hasEstimate } from "../parts/usage_table.tsx";
import { Distance, LastUsed, Moment } from "../parts/moment.tsx";
import { AccountState } from "./account_state.tsx";
import { LimitList } from "./plans.tsx";
import { ScopeField } from "./scope_field.tsx";

const BASE = "/console/operator";
const NAV = `${BASE}/accounts`;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Keys, tokens and sessions that are shown. */
const SHOWN = 20;

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
          <a class="button" href={`${BASE}/usage?by=day&account=${id}`}>
            Usage
          </a>
          <a class="button" href={`${BASE}/calls?account=${id}`}>Calls</a>
          <a class="button" href={`${BASE}/ledger?account=${id}`}>Ledger</a>
          <a class="button" href={`${BASE}/statement?account=${id}`}>
            Statement
          </a>
          <a class="button" href={`${BASE}/changes?account=${id}`}>Changes</a>
          <a class="button main" href={`${NAV}/change/${id}`}>Edit</a>
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
            usageLink(BASE, { from, to, account: account.id }, "model")}
        />
      </div>
      <div class="cols">
        <section class="card">
          <h2>State</h2>
          <dl>
            <dt>State</dt>
            <dd>
              <AccountState account={account} />
            </dd>
            <dt>Balance</dt>
            <dd>
              <a href={`${BASE}/ledger?account=${id}`}>
                <Money microUsd={account.balanceMicroUsd} decimals={6} />
              </a>{" "}
              ({account.billing})
            </dd>
            <dt>Reserved</dt>
            <dd>
              <Money microUsd={account.reservedMicroUsd} decimals={6} /> for
              {" "}
              {countText(account.openRequests)}{" "}
              {account.openRequests === 1 ? "call" : "calls"} under way
            </dd>
            {account.modelBalances.map(({ model, balanceMicroUsd }) => (
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
              <a href={`${BASE}/plans/${encodeURIComponent(plan.id)}`}>
                <Foreign text={plan.id} />
              </a>: <LimitList item={plan} />
            </dd>
            <dt>Since</dt>
            <dd>
              <Moment atMs={account.createdAtMs} of="day" />
            </dd>
            {await spentRows(admin, account, atMs)}
            {await webhookRow(admin, account)}
          </dl>
        </section>
        <section class="card">
          <h2>Top up</h2>
          <form class="form" method="post" action={`${NAV}/top-up/${id}`}>
            <FormToken visit={visit} />
            <OnceField />
            <AskFirst />
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
            <p class="acts">
              <a class="button" href={`${NAV}/token/${id}`}>Account token</a>
              <a class="button" href={`${NAV}/key/${id}`}>API key</a>
            </p>
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
                  <AskFirst />
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
      {await recentHealth(admin, {
        scope: { accountId: account.id },
        base: BASE,
        nowMs: atMs,
        account: account.id,
      })}
      {await keysCard(admin, account.id, atMs)}
      {await peopleCards(admin, account.id, visit, atMs)}
    </>,
  );
}

/** What it spent in 30 days, and its last call. */
async function spentRows(
  admin: Admin,
  { id: account }: Account,
  nowMs: number,
): Promise<JSX.Element> {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const days = { from: day(nowMs - 29 * DAY_MS), to: day(nowMs) };
  const { totals } = await admin.usage({
    accountId: account,
    fromDay: days.from,
    toDay: days.to,
    by: [],
  });
  const { data: [last] } = await admin.calls.list({
    accountId: account,
    limit: 1,
  });
  return (
    <>
      <dt>30 days</dt>
      <dd>
        <a href={usageLink(BASE, { ...days, account }, "model")}>
          <Money
            microUsd={totals.microUsd}
            estimated={hasEstimate(totals)}
          />
        </a>{" "}
        in{" "}
        <a href={ledgerLink(BASE, { ...days, account })}>
          {chargesText(totals.requests)}
        </a>
      </dd>
      <dt>Last call</dt>
      <dd>
        {last === undefined
          ? "none"
          : (
            <a href={`${BASE}/calls/${last.record.requestId}`}>
              <Distance
                atMs={callTimeMs(last.record.requestId)}
                nowMs={nowMs}
              />
            </a>
          )}
      </dd>
    </>
  );
}

async function webhookRow(
  admin: Admin,
  { id }: Account,
): Promise<JSX.Element> {
  const { url, pending, deliveries: [last] } = await admin.webhooks.get(id);
  return (
    <>
      <dt>Webhook</dt>
      <dd>
        <a href={`${BASE}/webhooks/${encodeURIComponent(id)}`}>
          {url === undefined ? "none" : <Foreign text={new URL(url).host} />}
        </a>
        {url === undefined ? "" : `, ${countText(pending)} waiting`}
        {last?.error === undefined ? "" : (
          <>
            , <span class="tag bad">last one given up</span>
          </>
        )}
      </dd>
    </>
  );
}

async function keysCard(
  admin: Admin,
  accountId: string,
  nowMs: number,
): Promise<JSX.Element> {
  const { data: keys, next } = await admin.keys.list({
    accountId,
    newestFirst: true,
    limit: SHOWN,
  });
  const states = await admin.keyStates(keys.map(({ id }) => id));
  const id = encodeURIComponent(accountId);
  return (
    <section class="card">
      <div class="head">
        <h2>Keys</h2>
        <p class="acts">
          <a href={`${BASE}/keys?account=${id}`}>
            {next === undefined ? "List" : "All of them"}
          </a>
          {keys.length === 0
            ? null
            : <a href={`${NAV}/revoke-keys/${id}`}>Revoke all</a>}
        </p>
      </div>
      {keys.length === 0 ? <p class="soft">None yet.</p> : (
        <DataTable
          name="Keys"
          rows={keys}
          columns={[
            {
              name: "Name",
              isFirst: true,
              wraps: true,
              cell: (key) => (
                <a href={`${BASE}/keys/${key.id}`}>
                  <Foreign text={key.name || "(no name)"} />
                </a>
              ),
            },
            {
              name: "State",
              isFirst: true,
              cell: (key) => <KeyState item={key} nowMs={nowMs} />,
            },
            { name: "Key", cell: ({ hint }) => <code>{hint}</code> },
            {
              name: "Last used",
              cell: ({ lastUsedAtMs }) => (
                <LastUsed atMs={lastUsedAtMs} nowMs={nowMs} />
              ),
            },
            {
              name: "Limits of its own",
              cell: (key) => (
                <KeyMeters state={states.get(key.id)} nowMs={nowMs} />
              ),
            },
          ]}
        />
      )}
    </section>
  );
}

/** Who may look and manage: tokens and sessions. */
async function peopleCards(
  admin: Admin,
  accountId: string,
  visit: Visit,
  nowMs: number,
): Promise<JSX.Element> {
  const { data: tokens } = await admin.tokens.list({ accountId, limit: 1000 });
  const sessions = await admin.sessions.list(accountId);
  const id = encodeURIComponent(accountId);
  return (
    <>
      <section class="card">
        <h2>Account tokens</h2>
        {tokens.length === 0 ? <p class="soft">None.</p> : (
          <DataTable
            name="Account tokens"
            rows={tokens.toReversed().slice(0, SHOWN)}
            columns={[
              {
                name: "Name",
                wraps: true,
                cell: ({ name }) => <Foreign text={name || "(no name)"} />,
              },
              { name: "Token", cell: ({ hint }) => <code>{hint}</code> },
              { name: "Scope", cell: ({ scope }) => scope },
              {
                name: "State",
                cell: (one) => <TokenState item={one} nowMs={nowMs} />,
              },
              {
                name: "",
                cell: (one) => (
                  <RevokeToken
                    visit={visit}
                    token={one}
                    nowMs={nowMs}
                    action={`${NAV}/revoke-token/${id}`}
                    field="token"
                  />
                ),
              },
            ]}
          />
        )}
      </section>
      <section class="card">
        <h2>Sessions</h2>
        {sessions.length === 0 ? <p class="soft">None.</p> : (
          <DataTable
            name="Sessions"
            rows={sessions.slice(0, SHOWN)}
            columns={[
              {
                name: "Who",
                wraps: true,
                cell: ({ name }) =>
                  name === undefined
                    ? <span class="soft">no name</span>
                    : <Foreign text={name} />,
              },
              { name: "With", cell: sessionText },
              {
                name: "Last seen",
                cell: ({ seenAtMs }) => (
                  <Distance atMs={seenAtMs} nowMs={nowMs} />
                ),
              },
            ]}
          />
        )}
      </section>
    </>
  );
}
