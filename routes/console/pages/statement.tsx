/**
 * The statement of an account for a month: what was paid in, what was charged for, and the balances
 * before and after. It is made for printing.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { JSX } from "../jsx.d.ts";
import type {
  Account,
  LedgerEntry,
} from "../../../gateway/accounts/records.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type {
  UsageLine,
  UsageTotals,
} from "../../../gateway/accounts/reports/usage_report.ts";
import type { AccountVisit, Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { csvOf, csvReply } from "../csv/csv.ts";
import { type Column, DataTable, Foreign } from "../parts/data_table.tsx";
import { chargesText, ledgerLink } from "../parts/figure_links.ts";
import { Forecast, forecastOf, monthOf } from "../plots/forecast.tsx";
import { keyNames } from "../parts/key_names.ts";
import { type Filter, filteredPage } from "../forms/filters.tsx";
import { countText, Money } from "../parts/money.tsx";
import { Moment } from "../parts/moment.tsx";
import { accountPageRoute } from "../http/page_route.ts";

/** The statement of the visitor's account, and the same as a file. */
export const STATEMENT_PAGES: readonly AccountPageRoute[] = [
  accountPageRoute("see_account", "GET", "/console/statement", ownPage, {
    query: ["month"],
    again: ownPage,
  }),
  accountPageRoute(
    "see_account",
    "GET",
    "/console/statement.csv",
    (context, visit) => statementCsv(context, visit.holder.accountId),
    { query: ["month"] },
  ),
];

function ownPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  return statementPage(context, visit, visit.holder.accountId, "/console");
}

const MONTH: readonly Filter[] = [
  { of: "month", name: "month", title: "Month" },
];

/** A month, in days of UTC. */
interface Month {
  /** `2026-11`. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** The next month's first moment, Unix milliseconds. */
  readonly endMs: number;
}

function chosenMonth({ query, gateway }: RouteContext): Month {
  const text = query.get("month") || monthOf(gateway.now()).name;
  if (!/^20\d\d-(?:0[1-9]|1[0-2])$/.test(text)) {
    throw invalidField("month", "must be a month such as 2026-11");
  }
  return monthOf(Date.parse(`${text}-01`));
}

/** What a statement adds up. */
interface Statement {
  readonly account: Account;
  readonly month: Month;
  readonly topUps: readonly LedgerEntry[];
  readonly byModel: readonly UsageLine[];
  readonly byKey: readonly UsageLine[];
  readonly charged: UsageTotals;
  /** Balances of the account and of single models together. */
  readonly openingMicroUsd: number;
  readonly closingMicroUsd: number;
  /** Earlier days are not summed up yet; absent: all are. */
  readonly figuresFromDay?: string;
}

async function statementOf(
  admin: Admin,
  accountId: string,
  month: Month,
): Promise<Statement> {
  const account = await admin.accounts.get(accountId);
  const { from, to } = month;
  const usage = (
    days: { readonly fromDay: string; readonly toDay?: string },
    by: readonly ("model" | "key")[],
  ) => admin.usage({ accountId, ...days, by, limit: 1000 });
  const days = { fromDay: from, toDay: to };
  const { data: byModel, totals } = await usage(days, ["model"]);
  const { data: byKey, figuresFromDay } = await usage(days, ["key"]);
  const { totals: later } = await usage({ fromDay: dayAfter(to) }, []);
  const topUps: LedgerEntry[] = [];
  let laterMicroUsd = 0;
  let after: string | undefined;
  do {
    const { data, next } = await admin.ledger({
      accountId,
      kind: "top_up",
      fromMs: Date.parse(from),
      limit: 1000,
      ...compact({ after }),
    });
    for (const entry of data) {
      if (entry.atMs < month.endMs) topUps.push(entry);
      else laterMicroUsd += entry.microUsd;
    }
    after = next;
  } while (after !== undefined);
  const now = account.balanceMicroUsd +
    account.modelBalances.reduce((sum, one) => sum + one.balanceMicroUsd, 0);
  const closingMicroUsd = now - laterMicroUsd + later.microUsd;
  const paid = topUps.reduce((sum, { microUsd }) => sum + microUsd, 0);
  return {
    account,
    month,
    topUps,
    byModel: byModel.toSorted((a, b) => b.microUsd - a.microUsd),
    byKey: byKey.toSorted((a, b) => b.microUsd - a.microUsd),
    charged: totals,
    openingMicroUsd: closingMicroUsd - paid + totals.microUsd,
    closingMicroUsd,
    ...compact({ figuresFromDay }),
  };
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
}

/** The statement of an account; `base` is the visitor's area. */
export async function statementPage(
  context: RouteContext,
  visit: Visit,
  accountId: string,
  base: string,
): Promise<HttpReply> {
  const { admin, now } = context.gateway;
  const ofOperators = base !== "/console";
  const form = {
    nav: ofOperators ? `${base}/accounts` : `${base}/ledger`,
    filters: MONTH,
  };
  if (visit.problem !== undefined) {
    return await filteredPage(
      context,
      visit,
      { title: "Statement", ...form },
      () => Promise.reject(new Error("there is no statement of it")),
    );
  }
  const month = chosenMonth(context);
  const statement = await statementOf(admin, accountId, month);
  const { account, topUps, byModel, byKey, charged, figuresFromDay } =
    statement;
  const search = new URLSearchParams({
    ...(ofOperators ? { account: accountId } : {}),
    month: month.name,
  });
  const names = await keyNames(
    admin,
    { accountId },
    byKey.map(({ keyId = "" }) => keyId),
  );
  const isRunning = now() < month.endMs;
  const filters = {
    from: month.from,
    to: month.to,
    ...(ofOperators ? { account: accountId } : {}),
  };
  return await filteredPage(
    context,
    visit,
    {
      title: `Statement of ${month.name}`,
      about: (
        <>
          Account <Foreign text={account.id} />
          {account.name === account.id ? null : (
            <>
              : <Foreign text={account.name} />
            </>
          )}, {account.billing}. Months are in UTC.
        </>
      ),
      ...form,
      defaults: { month: month.name },
      actions: (
        <a class="button" href={`${base}/statement.csv?${search}`}>CSV</a>
      ),
    },
    async () => (
      <>
        {figuresFromDay === undefined ? null : (
          <p class="note warn">
            Earlier days than {figuresFromDay}{" "}
            are not summed up yet: the statement is not complete.
          </p>
        )}
        {isRunning
          ? (
            <p class="note">
              The month is not over.{" "}
              <Forecast
                forecast={await forecastOf(admin, { accountId }, now())}
              />
            </p>
          )
          : null}
        <section class="card">
          <h2>Balance</h2>
          <DataTable
            name="Balance"
            rows={[
              ["At the beginning", statement.openingMicroUsd],
              [
                "Paid in",
                topUps.reduce((sum, { microUsd }) => sum + microUsd, 0),
              ],
              [
                chargesText(charged.requests),
                0 - charged.microUsd,
              ],
              [
                isRunning ? "Now" : "At the end",
                statement.closingMicroUsd,
              ],
            ] as const}
            columns={[
              { name: "What", isFirst: true, cell: ([what]) => what },
              {
                name: "Amount",
                number: true,
                cell: ([, microUsd]) => (
                  <Money
                    microUsd={microUsd}
                    decimals={6}
                  />
                ),
              },
            ]}
          />
          <p>
            <a href={ledgerLink(base, filters)}>The charges, line by line</a>
          </p>
        </section>
        {topUps.length === 0 ? null : (
          <section class="card">
            <h2>Paid in</h2>
            <DataTable
              name="Paid in"
              rows={topUps}
              columns={[
                {
                  name: "Time (UTC)",
                  cell: ({ atMs }) => <Moment atMs={atMs} of="bare" />,
                },
                {
                  name: "Note",
                  wraps: true,
                  cell: ({ note }) =>
                    note === undefined ? "" : <Foreign text={note} />,
                },
                {
                  name: "Amount",
                  number: true,
                  cell: ({ microUsd }) => (
                    <Money microUsd={microUsd} decimals={6} />
                  ),
                },
              ]}
            />
          </section>
        )}
        <Lines
          heading="Model"
          lines={byModel}
          charged={charged}
          hrefOf={({ model }) =>
            ledgerLink(base, { ...filters, ...compact({ model }) })}
          nameOf={({ model }) => <Foreign text={model ?? ""} />}
        />
        <Lines
          heading="Key"
          lines={byKey}
          charged={charged}
          hrefOf={({ keyId }) =>
            ledgerLink(base, { ...filters, ...compact({ key: keyId }) })}
          nameOf={({ keyId = "" }) => (
            <>
              <Foreign text={names.get(keyId) ?? keyId} />
              {(names.get(keyId) ?? keyId) === keyId
                ? null
                : <code class="id">{keyId}</code>}
            </>
          )}
        />
      </>
    ),
  );
}

const SHOWN = 200;

function Lines(
  { heading, lines, charged, hrefOf, nameOf }: {
    /** Heading of the column that names the lines. */
    readonly heading: string;
    readonly lines: readonly UsageLine[];
    readonly charged: Statement["charged"];
    /** The charges of a line. */
    hrefOf(line: UsageLine): string;
    nameOf(line: UsageLine): JSX.Element;
  },
): JSX.Element | null {
  const title = `By ${heading.toLowerCase()}`;
  const count = (
    name: string,
    of: (line: Statement["charged"]) => number,
  ): Column<UsageLine> => ({
    name,
    number: true,
    cell: (line) => countText(of(line)),
    sum: countText(of(charged)),
  });
  return lines.length === 0 ? null : (
    <section class="card">
      <h2>{title}</h2>
      <DataTable<UsageLine>
        name={title}
        rows={lines.slice(0, SHOWN)}
        columns={[
          {
            name: heading,
            isFirst: true,
            wraps: true,
            cell: nameOf,
            sum: "Sum",
          },
          count("Charges", ({ requests }) => requests),
          count(
            "Tokens in",
            (of) => of.inputTokens + of.cacheReadTokens + of.cacheWriteTokens,
          ),
          count("Tokens out", ({ outputTokens }) => outputTokens),
          {
            name: "Cost",
            number: true,
            cell: (line) => (
              <a href={hrefOf(line)}>
                <Money microUsd={line.microUsd} decimals={6} />
              </a>
            ),
            sum: <Money microUsd={charged.microUsd} decimals={6} />,
          },
        ]}
      />
      {lines.length > SHOWN
        ? (
          <p class="soft">
            The dearest {SHOWN}; the sum and the CSV have all of them.
          </p>
        )
        : null}
    </section>
  );
}

const COLUMNS: readonly string[] = [
  "what",
  "time",
  "model",
  "key",
  "key_name",
  "note",
  "calls",
  "input_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "output_tokens",
  "micro_usd",
];

/** The statement as a file: balances, top-ups, and charges by model and key. */
export async function statementCsv(
  context: RouteContext,
  accountId: string,
): Promise<HttpReply> {
  const { admin } = context.gateway;
  const month = chosenMonth(context);
  const statement = await statementOf(admin, accountId, month);
  const names = await keyNames(
    admin,
    { accountId },
    statement.byKey.map(({ keyId = "" }) => keyId),
  );
  const charges = (what: string, lines: readonly UsageLine[]) =>
    lines.map((line) => ({
      what,
      model: line.model ?? null,
      key: line.keyId ?? null,
      key_name: names.get(line.keyId ?? "") ?? null,
      calls: line.requests,
      input_tokens: line.inputTokens,
      cache_read_tokens: line.cacheReadTokens,
      cache_write_tokens: line.cacheWriteTokens,
      output_tokens: line.outputTokens,
      micro_usd: 0 - line.microUsd,
    }));
  return await csvReply(
    `statement-${month.name}`,
    csvOf(COLUMNS, [[
      { what: "opening balance", micro_usd: statement.openingMicroUsd },
      ...statement.topUps.map(({ atMs, note, microUsd }) => ({
        what: "paid in",
        time: new Date(atMs).toISOString(),
        note: note ?? null,
        micro_usd: microUsd,
      })),
      ...charges("charged by model", statement.byModel),
      ...charges("of that by key", statement.byKey),
      { what: "closing balance", micro_usd: statement.closingMicroUsd },
    ]], (row) => row),
  );
}
