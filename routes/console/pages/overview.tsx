/**
 * The overview of an account: what is left, what stops its calls first, and what it spent.
 */
import { generates } from "../../../gateway/upstream/catalogue/models.ts";
import type { JSX } from "../jsx.d.ts";
import type { Account } from "../../../gateway/accounts/records.ts";
import type { FoundCall } from "../../../gateway/accounts/reports/call_report.ts";
import type { SessionRecord } from "../../../gateway/accounts/repositories/session_repository.ts";
import { scopeOf } from "../../../gateway/admin/account_scope.ts";
import {
  firstLimit,
  levelsOf,
  type StopName,
  stopWords,
} from "../../../gateway/console/account_summary.ts";
import {
  type AccountModel,
  accountModels,
} from "../../../gateway/console/account_models.ts";
import type { CredentialState } from "../../../gateway/accounts/repositories/credential_state.ts";
import type { FirstStop } from "../../../gateway/console/pace.ts";
import { recentPaces } from "../../../gateway/console/recent_pace.ts";
import type { AccountVisit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { baseUrl } from "../http/base_url.ts";
import { callColumns } from "./calls.tsx";
import { cutText, DataTable, Foreign } from "../parts/data_table.tsx";
import { chargesText, ledgerLink, usageLink } from "../parts/figure_links.ts";
import { Forecast, forecastOf } from "../plots/forecast.tsx";
import { page } from "../parts/layout.tsx";
import { recentHealth } from "../parts/recent_health.tsx";
import { LimitCards, Opens } from "../parts/limit_cards.tsx";
import { countText, Money } from "../parts/money.tsx";
import { modelHref } from "../parts/model_cells.tsx";
import { durationText, Moment } from "../parts/moment.tsx";
import { sessionText } from "../parts/session_text.ts";
import { seeOther } from "../http/see_other.ts";
import { Snippet } from "../parts/snippet.tsx";
import { StatCard } from "../parts/stat_card.tsx";
import { usagePlot } from "../plots/usage_plot.tsx";
import { accountPageRoute } from "../http/page_route.ts";

export const OVERVIEW_ROUTES: readonly AccountPageRoute[] = [
  accountPageRoute("look", "GET", "/console/", overviewPage),
  accountPageRoute("look", "GET", "/console", () => seeOther("/console/")),
];

const DAY_MS = 24 * 60 * 60 * 1000;

async function overviewPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const { admin, now } = context.gateway;
  const nowMs = now();
  const scope = scopeOf(visit.holder);
  const account = await admin.accounts.get(scope.accountId);
  const today = dayOf(nowMs);
  const month = { ...scope, fromDay: dayOf(nowMs - 29 * DAY_MS), toDay: today };
  const days = { from: month.fromDay, to: month.toDay };
  const { totals } = await admin.usage({ ...month, by: [] });
  const state = await admin.state(visit.holder);
  const { data: calls } = await admin.calls.list({ ...scope, limit: 5 });
  const models = await accountModels(
    admin,
    context.gateway.models,
    visit.holder,
    nowMs,
  );
  const callable = models.filter(({ refusal }) => refusal === undefined);
  return page(
    context,
    visit,
    {
      title: "Overview",
      about: (
        <>
          Account <Foreign text={account.name} />, {account.status},{" "}
          {account.billing}, plan <Foreign text={account.planId} />.
          <br />
          <SignedIn session={visit.session} expiresAtMs={state.expiresAtMs} />
        </>
      ),
    },
    <>
      {account.status === "disabled"
        ? (
          <p class="note bad" role="alert">
            The account is suspended: its calls are refused.
          </p>
        )
        : null}
      <FirstStopNote
        stop={firstLimit(state, await recentPaces(admin, state))}
        state={state}
      />
      <StateCards
        account={account}
        state={state}
        seesAccount={scope.keyId === undefined}
      />
      <CallableModels models={callable} count={models.length} />
      {totals.requests === 0
        ? calls.length > 0 ? null : (
          <FirstCall
            context={context}
            model={callable.find(({ model }) => generates(model))?.model.id}
          />
        )
        : (
          <section class="card">
            <div class="head">
              <h2>
                {scope.keyId === undefined ? "Cost" : "Cost of this key"}
                , 30 days
              </h2>
              <a href="/console/usage">Usage</a>
            </div>
            <p>
              <span class="stat">
                <a href={usageLink("/console", days, "model")}>
                  <Money
                    microUsd={totals.microUsd}
                    estimated={(totals.estimatedMicroUsd ?? 0) > 0}
                  />
                </a>
              </span>{" "}
              <span class="soft">
                in {scope.keyId === undefined
                  ? (
                    <a href={ledgerLink("/console", days)}>
                      {chargesText(totals.requests)}
                    </a>
                  )
                  : chargesText(totals.requests)}
              </span>
            </p>
            <p class="soft">
              This month (UTC):{" "}
              <Forecast forecast={await forecastOf(admin, scope, nowMs)} />
            </p>
            {await usagePlot(admin, month, {
              nowMs,
              by: "day",
              scope,
              base: "/console",
            })}
          </section>
        )}
      {calls.length === 0
        ? null
        : await recentHealth(admin, { scope, base: "/console", nowMs })}
      <LastCalls calls={calls} />
    </>,
  );
}

const MAX_MODELS = 12;

/** The first models that the visitor may call, with the health of those that are not well. */
function CallableModels(
  { models, count }: {
    readonly models: readonly AccountModel[];
    /** How many there are. */
    readonly count: number;
  },
): JSX.Element {
  const more = models.length - MAX_MODELS;
  return (
    <section class="card">
      <div class="head">
        <h2>
          {countText(models.length)} of {countText(count)} models may be called
        </h2>
        <a href="/console/models">Models</a>
      </div>
      <p>
        {models.slice(0, MAX_MODELS).map(({ model: { id }, health }, at) => (
          <>
            {at === 0 ? "" : ", "}
            <a href={modelHref("/console", id)}>
              <code>{cutText(id)}</code>
            </a>
            {health === "well" ? "" : ` (${health})`}
          </>
        ))}
        {more > 0 ? ` and ${countText(more)} more` : ""}
      </p>
    </section>
  );
}

function LastCalls(
  { calls }: { readonly calls: readonly FoundCall[] },
): JSX.Element | null {
  return calls.length === 0 ? null : (
    <section class="card">
      <div class="head">
        <h2>Last calls</h2>
        <a href="/console/calls">Calls</a>
      </div>
      <DataTable
        name="Last calls"
        rows={calls}
        columns={callColumns(new Map(), "/console", false)
          .filter(({ name }) => name !== "Key")}
      />
    </section>
  );
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

interface State {
  readonly account: Account;
  readonly state: CredentialState;
  /** False: the visitor's usage pages have one key's figures only. */
  readonly seesAccount: boolean;
}

function FirstStopNote(
  { stop, state }: {
    readonly stop: FirstStop<StopName> | undefined;
    readonly state: CredentialState;
  },
): JSX.Element {
  if (stop === undefined) {
    return (
      <p class="note">Stops you first: no limit is in sight at today's pace.</p>
    );
  }
  const { limit, atMs, opens, isRecent } = stop;
  const { atMs: nowMs } = state;
  const name = stopWords(limit, levelsOf(state));
  return atMs <= nowMs
    ? (
      <p class="note bad" role="alert">
        Stops you now: {name}
        {opens === undefined ? ": calls are refused until it is topped up." : (
          <>
            ; <Opens opens={opens} nowMs={nowMs} />.
          </>
        )}
      </p>
    )
    : (
      <p class="note warn">
        Stops you first: {name}, at{" "}
        {isRecent === true ? "the pace of the last minute" : "today's pace"} at
        {" "}
        <Moment atMs={atMs} /> (in {durationText(atMs - nowMs)}).
      </p>
    );
}

/** With what the visitor is signed in, and until when. */
function SignedIn(
  { session, expiresAtMs }: {
    readonly session: SessionRecord;
    readonly expiresAtMs: number | undefined;
  },
): JSX.Element {
  return (
    <>
      Signed in with {sessionText(session)}
      {session.name === undefined ? null : (
        <>
          , <Foreign text={session.name} />
        </>
      )}
      {expiresAtMs === undefined ? "" : (
        <>
          , which ends at <Moment atMs={expiresAtMs} />
        </>
      )}; this session ends at <Moment atMs={session.endsAtMs} /> at the latest.
    </>
  );
}

function StateCards(
  { account, state, seesAccount }: State,
): JSX.Element {
  const { atMs: nowMs, account: { plan, use }, key } = state;
  return (
    <>
      <div class="cards">
        <StatCard
          name={account.billing === "prepaid" ? "Left" : "Balance (postpaid)"}
          link={seesAccount ? "/console/ledger" : undefined}
          figure={<Money microUsd={account.balanceMicroUsd} />}
        >
          <p class="soft">
            {account.reservedMicroUsd === 0 ? "nothing reserved" : (
              <>
                <Money microUsd={account.reservedMicroUsd} /> reserved for{" "}
                {countText(account.openRequests)}{" "}
                {account.openRequests === 1 ? "call" : "calls"} under way
              </>
            )}
          </p>
        </StatCard>
        <LimitCards
          use={use}
          limits={plan}
          of="account"
          nowMs={nowMs}
          {...(seesAccount
            ? {
              linkOf: (from: string, to: string) =>
                usageLink("/console", { from, to }, "model"),
            }
            : {})}
        />
      </div>
      {key === undefined ? null : (
        <div class="cards">
          <LimitCards
            use={key.use}
            limits={key.limits}
            of="key"
            nowMs={nowMs}
          />
        </div>
      )}
    </>
  );
}

function FirstCall(
  { context, model = "MODEL" }: {
    readonly context: RouteContext;
    /** Absent: the visitor may call none. */
    readonly model: string | undefined;
  },
): JSX.Element {
  return (
    <section class="card">
      <p>No calls yet. Paste this, with your key in GATEWAY_KEY:</p>
      <Snippet
        id="first-call"
        title="A first call"
        text={`curl ${
          baseUrl(context)
        }/v1/messages -H "x-api-key: $GATEWAY_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"model": "${model}", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}'`}
      />
      <p class="soft">
        For programs and coding agents: <a href="/console/connect">Connect</a>.
      </p>
    </section>
  );
}
