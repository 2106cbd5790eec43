/**
 * The overview for operators: what was spent, which breakers are open, who spends most.
 */
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { KnownProcess } from "../../../gateway/live/live_calls.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { AuditNote } from "../parts/audit_note.tsx";
import { DataTable } from "../parts/data_table.tsx";
import { Forecast, forecastOf } from "../plots/forecast.tsx";
import { page } from "../parts/layout.tsx";
import { chargesText, ledgerLink, usageLink } from "../parts/figure_links.ts";
import { countText, decimalsOf, Money } from "../parts/money.tsx";
import { hasEstimate } from "../parts/usage_table.tsx";
import { seeOther } from "../http/see_other.ts";
import { usagePlot } from "../plots/usage_plot.tsx";
import { invalidField } from "../../../translate/model/error.ts";
import { HealthTable } from "../parts/health_table.tsx";
import {
  CALL_MEASURES,
  type CallMeasure,
  callPlot,
} from "../plots/call_plot.tsx";
import { NoticeLines, noticesOf } from "./notices.tsx";
import { FullestLimits } from "./fullest_limits.tsx";
import { AccountLink } from "./account_link.tsx";
import { StatCard } from "../parts/stat_card.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

export const OPERATOR_OVERVIEW_ROUTES: readonly OperatorPageRoute[] = [
  operatorPageRoute("GET", "/console/operator/", overviewPage, {
    query: ["show"],
  }),
  operatorPageRoute(
    "GET",
    "/console/operator",
    () => seeOther("/console/operator/"),
  ),
];

const BASE = "/console/operator";
const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MEASURES: readonly CallMeasure[] = ["errors", "calls", "first_token"];

async function overviewPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { gateway, query } = context;
  const { admin } = gateway;
  const nowMs = gateway.now();
  const shown = query.get("show") || "errors";
  const measure = MEASURES.find((one) => one === shown);
  if (measure === undefined) {
    throw invalidField("show", `must be ${MEASURES.join(", ")}`);
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
  const underWay = sumOf(processes, ({ calls }) => calls.under_way);
  const { data: [audit] } = await admin.audits.list({ limit: 1 });
  const held = await admin.fullestLimits(10);
  const hourMs = (Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS;
  const minutesOf = async (name: string, minutes: number) => {
    const toMs = (Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS;
    const fromMs = toMs - minutes * MINUTE_MS;
    const minute = (ms: number): string =>
      new Date(ms).toISOString().slice(0, 16);
    return {
      name,
      filters: { from: minute(fromMs), to: minute(toMs) },
      health: await admin.callHealth(fromMs, toMs),
    };
  };
  return page(
    context,
    visit,
    { title: "Overview", nav: "/console/operator/" },
    <>
      <NoticeLines notices={await noticesOf(gateway)} />
      <section class="card">
        <h2>Health</h2>
        <HealthTable
          base={BASE}
          rows={[
            await minutesOf("Last hour", 60),
            await minutesOf("Last day", 24 * 60),
          ]}
        />
      </section>
      <section class="card">
        <div class="head">
          <h2>{CALL_MEASURES[measure]}, last day by hour</h2>
          <p class="acts">
            {MEASURES.map((one) => (
              <a
                key={one}
                href={`/console/operator/?show=${one}`}
                aria-current={one === measure ? "true" : undefined}
              >
                {CALL_MEASURES[one]}
              </a>
            ))}
          </p>
        </div>
        {await callPlot(
          admin,
          {
            step: "hour",
            fromMs: hourMs - 24 * HOUR_MS,
            toMs: hourMs,
          },
          { measure, base: BASE },
        )}
      </section>
      <div class="cards">
        {([
          ["Today (UTC)", todayDays, todays],
          ["30 days", days, totals],
        ] as const).map(([name, of, sums]) => (
          <StatCard
            name={name}
            link={usageLink(BASE, of, "account")}
            figure={
              <Money
                microUsd={sums.microUsd}
                estimated={hasEstimate(sums)}
              />
            }
          >
            <p class="soft">
              <a href={ledgerLink(BASE, of)}>{chargesText(sums.requests)}</a>
            </p>
          </StatCard>
        ))}
        <section class="card">
          <span class="label">This month (UTC)</span>
          <p>
            <Forecast forecast={await forecastOf(admin, {}, nowMs)} />
          </p>
        </section>
        <StatCard
          name="Under way"
          link="/console/operator/live"
          figure={countText(underWay)}
        >
          <p class="soft">
            of {countText(sumOf(processes, ({ calls }) => calls.limit))} in{" "}
            {countText(processes.length)}{" "}
            {processes.length === 1 ? "process" : "processes"}
          </p>
          <p class="soft">
            The store {await gateway.accounts.ready() ? "answers" : "is down"},
            {" "}
            {countText(gateway.accounts.backlog())} writes wait
          </p>
        </StatCard>
      </div>
      {audit !== undefined && audit.findings.length > 0
        ? null
        : <AuditNote audit={audit} />}
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
                cell: ({ accountId: account = "", ...line }) => (
                  <a href={usageLink(BASE, { ...days, account }, "model")}>
                    <Money
                      microUsd={line.microUsd}
                      estimated={hasEstimate(line)}
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

function sumOf(
  processes: readonly KnownProcess[],
  of: (state: KnownProcess["state"]) => number,
): number {
  return processes.reduce((sum, { state }) => sum + of(state), 0);
}
