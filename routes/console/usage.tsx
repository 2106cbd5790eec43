/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * Usage: what was spent by day, model, key or end user, as a plot and as a table of the same
 * figures. Sums come from the store; nothing is added up from one page.
 *
 * @module
 */
import type { JSX } from "./jsx.d.ts";
import type {
  UsageQuery,
  UsageReport,
} from "../../gateway/accounts/repositories/usage_report.ts";
import {
  type AccountScope,
  scopeOf,
} from "../../gateway/admin/account_scope.ts";
import { usageJson } from "../../gateway/admin/usage.ts";
import type { AccountVisit, Visit } from "../../gateway/console/visit.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import { invalidField } from "../../translate/model/error.ts";
import type { AccountPageRoute, RouteContext } from "../route.ts";
import { csvOf, csvReply } from "./csv.ts";
import { dayPlot, keyNames } from "./day_plot.tsx";
import { page } from "./layout.tsx";
import { countText, Money } from "./money.tsx";
import { type UsageBy, UsageTable } from "./usage_table.tsx";

/** Usage pages, and their figures as a file. */
export const USAGE_PAGES: readonly AccountPageRoute[] = [
  {
    access: "page",
    area: "account",
    permission: "look",
    method: "GET",
    path: "/console/usage",
    handle: (context, visit) =>
      usagePage(context, visit, scopeOf(visit.holder), "/console"),
  },
  {
    access: "page",
    area: "account",
    permission: "look",
    method: "GET",
    path: "/console/usage.csv",
    handle: (context, visit: AccountVisit) =>
      usageCsv(context, scopeOf(visit.holder)),
  },
];

const DAY_MS = 24 * 60 * 60 * 1000;

/** The filters of a usage page. */
interface Chosen {
  readonly from: string;
  readonly to: string;
  readonly by: UsageBy;
  readonly model?: string;
  readonly key?: string;
}

function chosenOf({ query, gateway }: RouteContext): Chosen {
  const nowMs = gateway.now();
  const day = (name: string, otherwise: number): string => {
    const text = query.get(name) ?? "";
    return text === "" ? new Date(otherwise).toISOString().slice(0, 10) : text;
  };
  const by = query.get("by") ?? "day";
  if (
    by !== "day" && by !== "model" && by !== "key" && by !== "user" &&
    by !== "account"
  ) {
    throw invalidField("by", "must be day, model, key, user or account");
  }
  const model = query.get("model") ?? "";
  const key = query.get("key") ?? "";
  return {
    from: day("from", nowMs - 29 * DAY_MS),
    to: day("to", nowMs),
    by,
    ...(model === "" ? {} : { model }),
    ...(key === "" ? {} : { key }),
  };
}

function usageQueryOf(
  chosen: Chosen,
  scope: Partial<AccountScope>,
): UsageQuery {
  return {
    fromDay: chosen.from,
    toDay: chosen.to,
    ...(chosen.model === undefined ? {} : { model: chosen.model }),
    ...(chosen.key === undefined ? {} : { keyId: chosen.key }),
    // A key sees its own usage, whatever the address asks for.
    ...scope,
  };
}

const BY_NAMES: Readonly<Record<UsageBy, string>> = {
  day: "By day",
  account: "By account",
  model: "By model",
  key: "By key",
  user: "By end user",
};

/** A page of usage; without an account in `scope` that of all accounts. */
export async function usagePage(
  context: RouteContext,
  visit: Visit,
  scope: Partial<AccountScope>,
  base: string,
): Promise<HttpReply> {
  const { admin } = context.gateway;
  const chosen = chosenOf(context);
  const query = usageQueryOf(chosen, scope);
  const { by } = chosen;
  const report = await admin.usage({ ...query, by: [by], limit: 1000 });
  const names = await keyNames(admin, scope);
  const choices: readonly UsageBy[] = scope.accountId === undefined
    ? ["day", "account", "model", "key", "user"]
    : scope.keyId === undefined
    ? ["day", "model", "key", "user"]
    : ["day", "model", "user"];
  const search = new URLSearchParams({ ...chosen });
  const { totals } = report;
  const estimated = totals.estimatedMicroUsd ?? 0;
  return page(
    context,
    visit,
    {
      title: "Usage",
      about: "Days and sums are in UTC, as the books and the day's limit are.",
      nav: `${base}/usage`,
      actions: <a class="button" href={`${base}/usage.csv?${search}`}>CSV</a>,
    },
    <>
      <form class="card row" action={`${base}/usage`}>
        <label>
          From (UTC)
          <input type="date" name="from" value={chosen.from} />
        </label>
        <label>
          To (UTC)
          <input type="date" name="to" value={chosen.to} />
        </label>
        <input type="hidden" name="by" value={by} />
        <label>
          Model
          <input name="model" value={chosen.model ?? ""} placeholder="all" />
        </label>
        {scope.keyId === undefined
          ? (
            <label>
              Key
              <input name="key" value={chosen.key ?? ""} placeholder="all" />
            </label>
          )
          : null}
        <button class="main" type="submit">Apply</button>
      </form>
      <p class="acts">
        {choices.map((one) => (
          <a
            class={one === by ? "button main" : "button"}
            href={`${base}/usage?${new URLSearchParams({
              ...chosen,
              by: one,
            })}`}
            aria-current={one === by ? "true" : undefined}
          >
            {BY_NAMES[one]}
          </a>
        ))}
      </p>
      {report.figuresFromDay === undefined ? null : (
        <p class="note warn">
          Figures from {report.figuresFromDay}{" "}
          on: earlier days are not summed up yet, or no longer kept.
        </p>
      )}
      <div class="cards">
        <Sum name="Cost">
          <Money microUsd={totals.microUsd} estimated={estimated > 0} />
        </Sum>
        <Sum name="Calls">{countText(totals.requests)}</Sum>
        <Sum name="Tokens in">
          {countText(
            totals.inputTokens + totals.cacheReadTokens +
              totals.cacheWriteTokens,
          )}
        </Sum>
        <Sum name="Tokens out">{countText(totals.outputTokens)}</Sum>
        {estimated > 0
          ? (
            <Sum name="Estimated part of the cost">
              {(estimated / totals.microUsd * 100).toFixed(1)} %
            </Sum>
          )
          : null}
      </div>
      {totals.requests === 0
        ? (
          <section class="card">
            <p>
              No calls in these days. <a href="/console/connect">Connect</a>
              {" "}
              has the lines for a first one.
            </p>
          </section>
        )
        : (
          <>
            <section class="card">
              <h2>Cost by day</h2>
              {await dayPlot(admin, query, by, names, base)}
            </section>
            <section class="card">
              <UsageTable
                report={report}
                by={by}
                names={names}
                base={base}
                chosen={chosen}
              />
            </section>
          </>
        )}
    </>,
  );
}

function Sum(
  { name, children }: {
    readonly name: string;
    readonly children: string | JSX.Element | readonly (string | JSX.Element)[];
  },
): JSX.Element {
  return (
    <section class="card">
      <span class="label">{name}</span>
      <span class="stat">{children}</span>
    </section>
  );
}

/** The figures of a usage page as a file, every line of them. */
export function usageCsv(
  context: RouteContext,
  scope: Partial<AccountScope>,
): Promise<HttpReply> {
  const chosen = chosenOf(context);
  const query = usageQueryOf(chosen, scope);
  const { admin } = context.gateway;
  return csvReply(
    `usage-${chosen.from}-${chosen.to}-by-${chosen.by}`,
    csvOf((async function* () {
      let after: string | undefined;
      do {
        const report: UsageReport = await admin.usage({
          ...query,
          by: [chosen.by],
          limit: 500,
          ...(after === undefined ? {} : { after }),
        });
        yield report.data.map(usageJson);
        after = report.next;
      } while (after !== undefined);
    })()),
  );
}
