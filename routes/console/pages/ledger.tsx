/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The ledger: every charge and top-up, newest first.
 *
 * @module
 */
import type { JSX } from "../jsx.d.ts";
import { recordJson } from "../../../gateway/accounts/field.ts";
import {
  LEDGER_ENTRY,
  type LedgerEntry,
} from "../../../gateway/accounts/records.ts";
import {
  exportLedger,
  LEDGER_FILTERS,
  ledgerFilters,
} from "../../../gateway/admin/ledger.ts";
import type { AccountVisit, Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { AccountAuditNote, AuditNote } from "../parts/audit_note.tsx";
import { csvOf, csvReply } from "../csv/csv.ts";
import { named } from "../csv/named.ts";
import { type Column, DataTable, Foreign } from "../parts/data_table.tsx";
import { PeriodInputs } from "../parts/day_input.tsx";
import { filterFields } from "../parts/filter_fields.ts";
import { page } from "../parts/layout.tsx";
import { countText, Money } from "../parts/money.tsx";
import { Moment } from "../parts/moment.tsx";
import { SearchOn } from "../parts/search_on.tsx";
import {
  meantFilters,
  SuggestedInput,
  suggestionLists,
} from "../parts/suggested_filters.tsx";

/** The account's lines, and all of them as a file. */
export const LEDGER_PAGES: readonly AccountPageRoute[] = [
  {
    access: "page",
    area: "account",
    permission: "see_account",
    method: "GET",
    path: "/console/ledger",
    handle: ledgerPage,
  },
  {
    access: "page",
    area: "account",
    permission: "see_account",
    method: "GET",
    path: "/console/ledger.csv",
    handle: ({ gateway, query }, { holder }: AccountVisit) =>
      ledgerCsv(gateway.admin, query, { account: holder.accountId }),
  },
];

const PAGE_LENGTH = 100;
/** More would take longer than a page may; the index of an account is slower to walk. */
const SCAN_LIMIT = { all: 250_000, account: 50_000 };

async function ledgerPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const { admin } = context.gateway;
  const { accountId } = visit.holder;
  const isFirst = !context.query.has("after") &&
    !LEDGER_FILTERS.some((name) => (context.query.get(name) ?? "") !== "");
  const { balanceMicroUsd } = await admin.accounts.get(accountId);
  return await ledgerView(context, visit, {
    base: "/console",
    about: "Every charge and top-up of the account, newest first.",
    fixed: { accountId },
    ...(isFirst ? { balanceMicroUsd } : {}),
  });
}

/** The page of ledger lines; `balanceMicroUsd` is the balance after the newest one. */
export async function ledgerView(
  context: RouteContext,
  visit: Visit,
  { base, about, fixed, balanceMicroUsd }: {
    readonly base: string;
    readonly about: string;
    readonly fixed: { readonly accountId?: string };
    readonly balanceMicroUsd?: number;
  },
): Promise<HttpReply> {
  const { query, gateway } = context;
  const value = (name: string): string => query.get(name)?.trim() ?? "";
  const { redirect, note } = await meantFilters(context, fixed);
  if (redirect !== undefined) return redirect;
  const kind = value("kind");
  const after = query.get("after");
  const account = value("account");
  const scanLimit = SCAN_LIMIT[
    account === "" && fixed.accountId === undefined ? "all" : "account"
  ];
  const { data, next } = await gateway.admin.ledger({
    newestFirst: true,
    limit: PAGE_LENGTH,
    scanLimit,
    ...ledgerFilters(filterFields(query, LEDGER_FILTERS)),
    ...fixed,
    ...(after === null ? {} : { after }),
  });
  const search = new URLSearchParams(query);
  search.delete("after");
  const balances = balancesAfter(data, balanceMicroUsd);
  const { audits } = gateway.admin;
  const audited = fixed.accountId ?? account;
  const auditNote = audited === ""
    ? <AuditNote audit={(await audits.list({ limit: 1 })).data[0]} />
    : <AccountAuditNote audit={await audits.ofAccount(audited)} />;
  return page(
    context,
    visit,
    {
      title: "Ledger",
      about,
      nav: `${base}/ledger`,
      actions: (
        <>
          <a class="button" href={`${base}/ledger.csv?${search}`}>CSV</a>
          <a class="button" href={`${base}/ledger.csv?format=focus&${search}`}>
            FOCUS
          </a>
          {fixed.accountId === undefined
            ? <a class="button" href={`${base}/reconcile`}>Reconcile</a>
            : <a class="button" href={`${base}/statement`}>Statement</a>}
        </>
      ),
    },
    <>
      {auditNote}
      <form class="card row" action={`${base}/ledger`}>
        {await suggestionLists(context, fixed)}
        {fixed.accountId === undefined
          ? <SuggestedInput name="account" title="Account" value={account} />
          : null}
        <label>
          Kind
          <select name="kind">
            {[["", "all"], ["charge", "charges"], ["top_up", "top-ups"]].map((
              [one = "", text = ""],
            ) => (
              <option key={one} value={one} selected={one === kind}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <PeriodInputs value={value} />
        <SuggestedInput name="model" title="Model" value={value("model")} />
        <SuggestedInput name="key" title="Key" value={value("key")} />
        <label>
          End user
          <input name="user" value={value("user")} placeholder="all" />
        </label>
        <button class="main" type="submit">Apply</button>
      </form>
      {note}
      <section class="card">
        {data.length === 0 && next === undefined
          ? <p>No lines match.</p>
          : null}
        {data.length === 0 ? null : (
          <DataTable
            name="Ledger"
            rows={data}
            columns={ledgerColumns(
              balances,
              base,
              fixed.accountId === undefined,
            )}
          />
        )}
        {next === undefined ? null : (
          <SearchOn
            href={`${base}/ledger?${search}${
              search.size === 0 ? "" : "&"
            }after=${encodeURIComponent(next)}`}
            isFull={data.length === PAGE_LENGTH}
            searched={`${countText(scanLimit)} lines`}
            place={`line #${next}`}
            older="Older lines"
          />
        )}
      </section>
    </>,
  );
}

function ledgerColumns(
  balances: ReadonlyMap<number, number>,
  base: string,
  hasAccount: boolean,
): readonly Column<LedgerEntry>[] {
  return [
    { name: "Line", number: true, cell: ({ seq }) => `#${seq}` },
    {
      name: "Time (UTC)",
      cell: ({ atMs }) => <Moment atMs={atMs} of="bare" />,
    },
    ...(hasAccount
      ? [{
        name: "Account",
        wraps: true,
        cell: ({ accountId }: LedgerEntry) => (
          <a href={`${base}/accounts/${encodeURIComponent(accountId)}`}>
            <Foreign text={accountId} />
          </a>
        ),
      }]
      : []),
    {
      name: "What",
      wraps: true,
      cell: (entry) =>
        entry.kind === "top_up"
          ? (
            <>
              Top-up{entry.note === undefined ? null : (
                <>
                  : <Foreign text={entry.note} />
                </>
              )}
              <code class="id">{entry.requestId}</code>
            </>
          )
          : (
            <>
              <Foreign text={entry.model ?? ""} />
              {entry.corrects === undefined ? null : ", estimate corrected"}
              <a
                href={`${base}/calls/${
                  encodeURIComponent(entry.corrects ?? entry.requestId)
                }`}
              >
                <code class="id">{entry.corrects ?? entry.requestId}</code>
              </a>
            </>
          ),
    },
    { name: "Ended", cell: ({ ended }) => (ended ?? "").replace("_", " ") },
    {
      name: "Amount",
      number: true,
      cell: (entry) => (
        <Money
          microUsd={entry.microUsd}
          decimals={6}
          estimated={entry.estimated}
        />
      ),
    },
    ...(balances.size === 0 ? [] : [{
      name: "Balance after",
      number: true,
      cell: ({ seq }: LedgerEntry): JSX.Element | null => {
        const balance = balances.get(seq);
        return balance === undefined
          ? null
          : <Money microUsd={balance} decimals={6} />;
      },
    }]),
  ];
}

/** The account's balance after each line; lines of a model's own balance have none. */
function balancesAfter(
  newestFirst: readonly LedgerEntry[],
  balanceMicroUsd: number | undefined,
): ReadonlyMap<number, number> {
  const balances = new Map<number, number>();
  if (balanceMicroUsd === undefined) return balances;
  let balance = balanceMicroUsd;
  for (const { seq, balanceModel, microUsd } of newestFirst) {
    if (balanceModel !== undefined) continue;
    balances.set(seq, balance);
    balance -= microUsd;
  }
  return balances;
}

const COLUMNS: readonly string[] = [
  ...Object.values(LEDGER_ENTRY).map(({ json }) => json),
  "key_name",
];

/** Every line of the filters as a file; without an account in `fixed` with their names. */
export function ledgerCsv(
  admin: RouteContext["gateway"]["admin"],
  query: URLSearchParams,
  fixed: Readonly<Record<string, string>>,
): Promise<HttpReply> {
  const filters = { ...filterFields(query, LEDGER_FILTERS), ...fixed };
  if (query.get("format") === "focus") {
    return csvReply(
      "ledger-focus",
      exportLedger(admin, { ...filters, format: "focus" }).text,
    );
  }
  const hasAccounts = fixed["account"] === undefined;
  return csvReply(
    "ledger",
    csvOf(
      hasAccounts ? [...COLUMNS, "account_name"] : COLUMNS,
      named(
        admin,
        admin.allLedger(ledgerFilters(filters)),
        ({ keyId, accountId }) => ({
          key: keyId,
          account: hasAccounts ? accountId : undefined,
        }),
      ),
      ({ item, names }) => ({ ...recordJson(LEDGER_ENTRY, item), ...names }),
    ),
  );
}
