/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The overview for operators: what was spent, which breakers are open, who spends most.
 *
 * @module
 */
import { MAX_CLOCK_DIFFERENCE_MS } from "../../../gateway/accounts/store/store_clock.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { mergedCandidates } from "../../../gateway/live/merged_candidates.ts";
import type { HeldLimit } from "../../../gateway/accounts/repositories/fullest_limits.ts";
import type { KnownProcess } from "../../../gateway/live/live_calls.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import type { Children, JSX } from "../jsx.d.ts";
import { AuditNote } from "../parts/audit_note.tsx";
import { DataTable } from "../parts/data_table.tsx";
import { Forecast, forecastOf } from "../parts/forecast.tsx";
import { page } from "../parts/layout.tsx";
import {
  callsLink,
  chargesText,
  ledgerLink,
  usageLink,
} from "../parts/figure_links.ts";
import { countText, decimalsOf, Money } from "../parts/money.tsx";
import { seeOther } from "../http/see_other.ts";
import { usagePlot } from "../parts/usage_plot.tsx";
import { invalidField } from "../../../translate/model/error.ts";
import { healthTable } from "./health.tsx";
import {
  HEALTH_MEASURES,
  type HealthMeasure,
  healthPlot,
} from "./health_plot.tsx";
import { FullestLimits } from "./fullest_limits.tsx";
import { AccountLink } from "./account_link.tsx";

/** What an operator sees first. */
export const OPERATOR_OVERVIEW_ROUTES: readonly OperatorPageRoute[] = [
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: "/console/operator/",
    handle: overviewPage,
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: "/console/operator",
    handle: () => seeOther("/console/operator/"),
  },
];

const BASE = "/console/operator";
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const HEALTH_NAMES: readonly HealthMeasure[] = ["errors", "first_token"];

async function overviewPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { gateway, query } = context;
  const { admin } = gateway;
  const nowMs = gateway.now();
  const shown = query.get("show") || "errors";
  const measure = HEALTH_NAMES.find((one) => one === shown);
  if (measure === undefined) {
    throw invalidField("show", `must be ${HEALTH_NAMES.join(" or ")}`);
  }
  const day = (atMs: number): string =>
    new Date(atMs).toISOString().slice(0, 10);
  const today = { fromDay: day(nowMs), toDay: day(nowMs) };
  const month = { fromDay: day(nowMs - 29 * DAY_MS), toDay: day(nowMs) };
  const todayDays = { from: today.fromDay, to: today.toDay };
  const days = { from: month.fromDay, to: month.toDay };
  const { totals: todays } = await admin.usage({ ...today, by: [] });
  const { totals, data: accounts, next } = await admin.usage({
    ...month,
    by: ["account"],
    limit: 1000,
  });
  const top = accounts.toSorted((a, b) => b.microUsd - a.microUsd).slice(0, 10);
  const { data: processes } = await gateway.live.processes();
  const withProblems = mergedCandidates(processes).filter((one) =>
    one.hasProblem
  );
  const underWay = sumOf(processes, ({ calls }) => calls.under_way);
  const { data: [audit] } = await admin.audits.list({ limit: 1 });
  const held = await admin.fullestLimits(10);
  return page(
    context,
    visit,
    { title: "Overview", nav: "/console/operator/" },
    <>
      {await healthTable(admin, nowMs)}
      <section class="card">
        <div class="head">
          <h2>{HEALTH_MEASURES[measure]}, last day by hour</h2>
          <p class="acts">
            {HEALTH_NAMES.map((one) => (
              <a
                key={one}
                href={`/console/operator/?show=${one}`}
                aria-current={one === measure ? "true" : undefined}
              >
                {HEALTH_MEASURES[one]}
              </a>
            ))}
          </p>
        </div>
        {await healthPlot(
          admin,
          measure,
          (Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS,
          24,
        )}
      </section>
      <AuditNote audit={audit} />
      <ClockNote processes={processes} />
      {withProblems.length === 0
        ? <p class="note">All breakers are closed.</p>
        : (
          <p class="note bad" role="alert">
            {countText(withProblems.length)}{" "}
            {withProblems.length === 1 ? "candidate is" : "candidates are"}{" "}
            not well:{" "}
            <a href="/console/operator/upstreams">
              {withProblems.map(({ upstream }) => upstream).join(", ")}
            </a>
          </p>
        )}
      <FullNote held={held} />
      <WebhooksNote
        failing={(await admin.webhooks.list()).filter((one) =>
          one.lastError !== undefined || one.deliveries[0]?.error !== undefined
        ).map(({ accountId }) => accountId)}
      />
      <UnpricedNote processes={processes} days={days} />
      <BoundedNote processes={processes} days={days} />
      <div class="cards">
        <section class="card">
          <span class="label">Today (UTC)</span>
          <span class="stat">
            <a href={usageLink(BASE, todayDays, "account")}>
              <Money microUsd={todays.microUsd} />
            </a>
          </span>
          <p class="soft">
            <a href={ledgerLink(BASE, todayDays)}>
              {chargesText(todays.requests)}
            </a>
          </p>
        </section>
        <section class="card">
          <span class="label">30 days</span>
          <span class="stat">
            <a href={usageLink(BASE, days, "account")}>
              <Money microUsd={totals.microUsd} />
            </a>
          </span>
          <p class="soft">
            <a href={ledgerLink(BASE, days)}>
              {chargesText(totals.requests)}
            </a>
          </p>
        </section>
        <section class="card">
          <span class="label">This month (UTC)</span>
          <p>
            <Forecast forecast={await forecastOf(admin, {}, nowMs)} />
          </p>
        </section>
        <section class="card">
          <span class="label">Under way</span>
          <span class="stat">{countText(underWay)}</span>
          <p class="soft">
            of {countText(sumOf(processes, ({ calls }) => calls.limit))} in{" "}
            {countText(processes.length)}{" "}
            {processes.length === 1 ? "process" : "processes"}:{" "}
            <a href="/console/operator/live">Live</a>
          </p>
        </section>
        <section class="card">
          <span class="label">Store</span>
          <span class="stat">
            {await gateway.accounts.ready() ? "answers" : "down"}
          </span>
          <p class="soft">
            {countText(gateway.accounts.backlog())} writes wait
          </p>
        </section>
      </div>
      <FullestLimits held={held} nowMs={nowMs} />
      <section class="card">
        <div class="head">
          <h2>Cost, 30 days</h2>
          <a href="/console/operator/usage">Usage</a>
        </div>
        {totals.requests === 0
          ? (
            <p>
              No calls yet. An <a href={`${BASE}/accounts`}>account</a>{" "}
              needs a key to call models, and a balance if it is prepaid.
            </p>
          )
          : await usagePlot(admin, month, {
            nowMs,
            by: "account",
            scope: {},
            base: BASE,
            ...(next === undefined ? { lines: accounts } : {}),
          })}
      </section>
      {top.length === 0 ? null : (
        <section class="card">
          <h2>Accounts that spent most in 30 days</h2>
          <DataTable
            name="Accounts that spent most"
            rows={top}
            columns={[
              {
                name: "Account",
                wraps: true,
                cell: ({ accountId = "" }) => (
                  <AccountLink accountId={accountId} />
                ),
              },
              {
                name: "Charges",
                number: true,
                cell: ({ accountId: account = "", requests }) => (
                  <a href={ledgerLink(BASE, { ...days, account })}>
                    {countText(requests)}
                  </a>
                ),
              },
              {
                name: "Cost",
                number: true,
                cell: ({ accountId: account = "", microUsd }) => (
                  <a href={usageLink(BASE, { ...days, account }, "model")}>
                    <Money
                      microUsd={microUsd}
                      decimals={decimalsOf(top.map((one) =>
                        one.microUsd
                      ))}
                    />
                  </a>
                ),
              },
            ]}
          />
        </section>
      )}
    </>,
  );
}

/** Limits that are nearly full. */
function FullNote(
  { held }: { readonly held: readonly HeldLimit[] },
): JSX.Element | null {
  const near = held.filter(({ level }) => level.share >= 0.8);
  return near.length === 0 ? null : (
    <p class="note warn" role="status">
      {near.length === 10 ? "At least 10" : countText(near.length)}{" "}
      {near.length === 1 ? "limit is" : "limits are"} used to 80 % or more:{" "}
      <a href="#fullest">the fullest limits</a>
    </p>
  );
}

/** Webhooks that do not take their messages. */
function WebhooksNote(
  { failing }: { readonly failing: readonly string[] },
): JSX.Element | null {
  return failing.length === 0 ? null : (
    <p class="note warn" role="status">
      {countText(failing.length)}{" "}
      {failing.length === 1 ? "webhook does" : "webhooks do"}{" "}
      not take their messages: <a href={`${BASE}/webhooks`}>Webhooks</a>
    </p>
  );
}

/** Calls that the price of their model does not cover: the vendor bills by something new. */
function UnpricedNote(props: NoteProps): JSX.Element | null {
  return (
    <CountedNote
      {...props}
      of="unpriced_calls"
      what="had a part that the price of the model has no rate for, since the processes started; it was charged at the dearest rate"
    >
      <code>deno task admin prices check</code> names what is lacking.
    </CountedNote>
  );
}

/** Calls whose upstream reported more than they can have used. */
function BoundedNote(props: NoteProps): JSX.Element | null {
  return (
    <CountedNote
      {...props}
      of="bounded_calls"
      what="ended with a usage that no such call can have, since the processes started; the most that it can have used was charged"
    >
      Compare with what the upstream bills.
    </CountedNote>
  );
}

interface NoteProps {
  readonly processes: readonly KnownProcess[];
  readonly days: { readonly from: string; readonly to: string };
}

/** Calls that all processes counted, by model; nothing without any. */
function CountedNote(
  { processes, days, of, what, children }: NoteProps & {
    readonly of: "unpriced_calls" | "bounded_calls";
    readonly what: string;
    readonly children: Children;
  },
): JSX.Element | null {
  const counts = new Map<string, number>();
  for (const { state } of processes) {
    for (const [model, count] of Object.entries(state[of] ?? {})) {
      counts.set(model, (counts.get(model) ?? 0) + count);
    }
  }
  if (counts.size === 0) return null;
  const all = [...counts.values()].reduce((sum, one) => sum + one, 0);
  return (
    <p class="note warn" role="status">
      {countText(all)} {all === 1 ? "call" : "calls"} {what}:{" "}
      {[...counts].map(([model, count], at) => (
        <>
          {at === 0 ? "" : ", "}
          <a href={callsLink(BASE, { ...days, model })}>
            <code>{model}</code>
          </a>{" "}
          {countText(count)}
        </>
      ))}. {children}
    </p>
  );
}

/** Processes whose clock differs from the store's. */
function ClockNote(
  { processes }: { readonly processes: readonly KnownProcess[] },
): JSX.Element | null {
  const wrong = processes.filter(({ state }) =>
    Math.abs(state.clock_ahead_ms ?? 0) > MAX_CLOCK_DIFFERENCE_MS
  );
  if (wrong.length === 0) return null;
  const texts = wrong.map(({ processId, state: { clock_ahead_ms: ms = 0 } }) =>
    `${processId} by ${countText(Math.round(Math.abs(ms) / 1000))} s ${
      ms > 0 ? "ahead" : "behind"
    }`
  );
  return (
    <p class="note bad" role="alert">
      The clock of a process is wrong; calls are dated by the store's clock:
      {" "}
      {texts.join(", ")}
    </p>
  );
}

function sumOf(
  processes: readonly KnownProcess[],
  of: (state: KnownProcess["state"]) => number,
): number {
  return processes.reduce((sum, { state }) => sum + of(state), 0);
}
