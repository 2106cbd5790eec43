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
  UsageLine,
  UsageQuery,
  UsageReport,
} from "../../gateway/accounts/repositories/usage_report.ts";
import type { Admin } from "../../gateway/accounts/repositories/admin.ts";
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
import { DataTable, Foreign } from "./data_table.tsx";
import { page } from "./layout.tsx";
import { countText, decimalsOf, Money, moneyText } from "./money.tsx";
import { BarPlot, MAX_SERIES } from "./plot.tsx";

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

type By = "day" | "model" | "key" | "user" | "account";

const DAY_MS = 24 * 60 * 60 * 1000;

/** The filters of a usage page. */
interface Chosen {
  readonly from: string;
  readonly to: string;
  readonly by: By;
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
  const choices: readonly By[] = scope.accountId === undefined
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
        <label>
          By
          <select name="by">
            {choices.map((one) => (
              <option key={one} value={one} selected={one === by}>{one}</option>
            ))}
          </select>
        </label>
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

/** Names of keys by their id; empty for a key's own session. */
export async function keyNames(
  admin: Admin,
  { accountId, keyId }: Partial<AccountScope>,
): Promise<ReadonlyMap<string, string>> {
  if (keyId !== undefined) return new Map();
  const { data } = await admin.keys.list({
    limit: 1000,
    ...(accountId === undefined ? {} : { accountId }),
  });
  return new Map(
    data.map(({ id, name, hint }) => [id, name === "" ? hint : name]),
  );
}

/** Bars of a day's cost, stacked by model, key or account. */
export async function dayPlot(
  admin: Admin,
  query: UsageQuery,
  by: By,
  names: ReadonlyMap<string, string>,
  base: string,
): Promise<JSX.Element> {
  const group = by === "key" || by === "account" ? by : "model";
  const lines: UsageLine[] = [];
  let after: string | undefined;
  // At most a year of days with some series each.
  for (let pages = 0; pages < 10; pages++) {
    const report: UsageReport = await admin.usage({
      ...query,
      by: ["day", group],
      limit: 1000,
      ...(after === undefined ? {} : { after }),
    });
    lines.push(...report.data);
    after = report.next;
    if (after === undefined) break;
  }
  const nameOf = (line: UsageLine): string =>
    group === "key"
      ? line.keyId ?? ""
      : group === "account"
      ? line.accountId ?? ""
      : line.model ?? "";
  const sums = new Map<string, number>();
  for (const line of lines) {
    sums.set(nameOf(line), (sums.get(nameOf(line)) ?? 0) + line.microUsd);
  }
  const ordered = [...sums].toSorted((a, b) => b[1] - a[1])
    .map(([name]) => name);
  const shown = ordered.slice(0, MAX_SERIES - 1);
  const hasOthers = ordered.length > shown.length;
  const days = new Map<string, number[]>();
  for (const day of daysBetween(query.fromDay ?? "", query.toDay ?? "")) {
    days.set(day, Array<number>(shown.length + (hasOthers ? 1 : 0)).fill(0));
  }
  for (const line of lines) {
    const values = days.get(line.day ?? "");
    if (values === undefined) continue;
    const found = shown.indexOf(nameOf(line));
    const at = found === -1 ? shown.length : found;
    values[at] = (values[at] ?? 0) + line.microUsd;
  }
  return (
    <BarPlot
      name="Cost by day in dollars"
      series={[
        ...shown.map((name) => names.get(name) ?? name),
        ...(hasOthers ? ["others"] : []),
      ]}
      valueText={(microUsd) => moneyText(microUsd, microUsd < 1e6 ? 4 : 2)}
      bars={[...days].map(([day, values]) => {
        const sum = values.reduce((a, b) => a + b, 0);
        return {
          label: day.slice(5),
          title: `${day}: ${moneyText(sum, 4)}`,
          href: `${base}/usage?from=${day}&to=${day}&by=model`,
          values,
        };
      })}
    />
  );
}

const MAX_DAYS = 366;

function* daysBetween(from: string, to: string): Generator<string> {
  const lastMs = Date.parse(to);
  let count = 0;
  for (let ms = Date.parse(from); ms <= lastMs; ms += DAY_MS) {
    if (++count > MAX_DAYS) return;
    yield new Date(ms).toISOString().slice(0, 10);
  }
}

function UsageTable(
  { report, by, names, base, chosen }: {
    readonly report: UsageReport;
    readonly by: By;
    readonly names: ReadonlyMap<string, string>;
    readonly base: string;
    readonly chosen: Chosen;
  },
): JSX.Element {
  const { data, totals } = report;
  const decimals = decimalsOf([totals.microUsd]);
  const rows = by === "day"
    ? data.toReversed()
    : data.toSorted((a, b) => b.microUsd - a.microUsd);
  const heading = {
    day: "Day",
    model: "Model",
    key: "Key",
    user: "End user",
    account: "Account",
  };
  const linkOf = (line: UsageLine): JSX.Element => {
    const search = new URLSearchParams({ from: chosen.from, to: chosen.to });
    switch (by) {
      case "day":
        return (
          <a
            href={`${base}/usage?from=${line.day}&to=${line.day}&by=model`}
          >
            {line.day ?? ""}
          </a>
        );
      case "model":
        search.set("model", line.model ?? "");
        return (
          <a href={`${base}/usage?${search}`}>
            <Foreign text={line.model ?? ""} />
          </a>
        );
      case "key":
        search.set("key", line.keyId ?? "");
        return (
          <a href={`${base}/usage?${search}`}>
            <Foreign text={names.get(line.keyId ?? "") ?? line.keyId ?? ""} />
          </a>
        );
      case "account":
        return (
          <a
            href={`${base}/accounts/${
              encodeURIComponent(line.accountId ?? "")
            }`}
          >
            <Foreign text={line.accountId ?? ""} />
          </a>
        );
      case "user":
        return line.user === "" || line.user === undefined
          ? <span class="soft">none given</span>
          : <Foreign text={line.user} />;
    }
  };
  return (
    <>
      <DataTable
        name={`Usage by ${by}`}
        rows={rows}
        columns={[
          { name: heading[by], cell: linkOf, sum: "Sum" },
          {
            name: "Calls",
            number: true,
            cell: (line) => countText(line.requests),
            sum: countText(totals.requests),
          },
          {
            name: "Input",
            number: true,
            cell: (line) => countText(line.inputTokens),
            sum: countText(totals.inputTokens),
          },
          {
            name: "Cache read",
            number: true,
            cell: (line) => countText(line.cacheReadTokens),
            sum: countText(totals.cacheReadTokens),
          },
          {
            name: "Cache write",
            number: true,
            cell: (line) => countText(line.cacheWriteTokens),
            sum: countText(totals.cacheWriteTokens),
          },
          {
            name: "Output",
            number: true,
            cell: (line) => countText(line.outputTokens),
            sum: countText(totals.outputTokens),
          },
          {
            name: "Estimated calls",
            number: true,
            cell: (line) => countText(line.estimatedRequests),
            sum: countText(totals.estimatedRequests),
          },
          {
            name: "Cost",
            number: true,
            cell: (line) => (
              <Money
                microUsd={line.microUsd}
                decimals={decimals}
                estimated={(line.estimatedMicroUsd ?? 0) > 0}
              />
            ),
            sum: <Money microUsd={totals.microUsd} decimals={decimals} />,
          },
        ]}
      />
      {report.next === undefined ? null : (
        <p class="soft">
          The first {countText(data.length)}{" "}
          lines; the sum is that of all of them. The CSV has every line.
        </p>
      )}
    </>
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
