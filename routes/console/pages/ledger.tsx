/**
 * The ledger: every charge and top-up, newest first.
 */
import type { JSX } from "../jsx.d.ts";
import { recordJson } from "../../../gateway/accounts/field.ts";
import type { RankedPage } from "../../../gateway/accounts/reports/ranked.ts";
import type { ListPage } from "../../../gateway/accounts/repositories/list_page.ts";
import {
  LEDGER_ENTRY,
  type LedgerEntry,
} from "../../../gateway/accounts/records.ts";
import {
  exportLedger,
  exportOwnLedger,
  LEDGER_FILTERS,
  ledgerFilters,
} from "../../../gateway/admin/ledger.ts";
import type { AccountVisit, Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { AccountAuditNote, AuditNote } from "../parts/audit_note.tsx";
import { csvOf, csvReply } from "../csv/csv.ts";
import { withNames } from "../csv/with_names.ts";
import { type Column, DataTable, Foreign } from "../parts/data_table.tsx";
import { filterFields } from "../forms/filter_fields.ts";
import { countText, Money } from "../parts/money.tsx";
import { Moment } from "../parts/moment.tsx";
import { RankedNote } from "../parts/ranked_note.tsx";
import { SearchOn } from "../forms/search_on.tsx";
import {
  LIST_PLACES,
  offsetOf,
  type Sorting,
  sortingOf,
} from "../parts/sorting.ts";
import {
  fileQuery,
  type Filter,
  filteredPage,
  PERIOD,
  placeLink,
  suggestedFilters,
} from "../forms/filters.tsx";
import { accountPageRoute } from "../http/page_route.ts";

/** The filters of an account's own lines. */
const OWN_FILTERS = LEDGER_FILTERS.filter((name) => name !== "account");

/** The account's lines, and all of them as a file. */
export const LEDGER_PAGES: readonly AccountPageRoute[] = [
  accountPageRoute("see_account", "GET", "/console/ledger", ledgerPage, {
    query: [...OWN_FILTERS, ...LIST_PLACES],
    again: ledgerPage,
  }),
  accountPageRoute(
    "see_account",
    "GET",
    "/console/ledger.csv",
    ({ gateway, query }, { holder }: AccountVisit) =>
      ledgerCsv(gateway.admin, query, { account: holder.accountId }),
    { query: [...OWN_FILTERS, "format"] },
  ),
];

const ORDERS = ["time", "amount"] as const;
const PAGE_LENGTH = 100;
/** More would take longer than a page may; the index of an account is slower to walk. */
const SCAN_LIMIT = { all: 250_000, account: 50_000 };

const CHOSEN: readonly Filter[] = [
  {
    of: "choice",
    name: "kind",
    title: "Kind",
    choices: [["charge", "charges"], ["top_up", "top-ups"]],
  },
  { of: "text", name: "user", title: "End user" },
  ...PERIOD,
];

async function ledgerPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const { admin } = context.gateway;
  const { accountId } = visit.holder;
  const isFirst = !LIST_PLACES.some((name) => context.query.has(name)) &&
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
  const hasAccounts = fixed.accountId === undefined;
  const file = fileQuery(context);
  return await filteredPage(
    context,
    visit,
    {
      title: "Ledger",
      about,
      nav: `${base}/ledger`,
      actions: (
        <>
          <a class="button" href={`${base}/ledger.csv${file}`}>CSV</a>
          <a
            class="button"
            href={`${base}/ledger.csv${file}${
              file === "" ? "?" : "&"
            }format=focus`}
          >
            FOCUS
          </a>
          {hasAccounts
            ? <a class="button" href={`${base}/reconcile`}>Reconcile</a>
            : <a class="button" href={`${base}/statement`}>Statement</a>}
        </>
      ),
      scope: fixed,
      filters: [...suggestedFilters(fixed), ...CHOSEN],
    },
    async () => {
      const account = query.get("account")?.trim() ?? "";
      const after = query.get("after");
      const scanLimit =
        SCAN_LIMIT[account === "" && hasAccounts ? "all" : "account"];
      const sorting = sortingOf(context, ORDERS, "-time");
      const pages = offsetOf(context, PAGE_LENGTH);
      const { by, isDescending } = sorting;
      const chosen = {
        scanLimit,
        ...ledgerFilters(filterFields(query, LEDGER_FILTERS)),
        ...fixed,
      };
      const found: Partial<RankedPage<LedgerEntry>> & ListPage<LedgerEntry> =
        by === "time"
          ? await gateway.admin.ledger({
            ...chosen,
            newestFirst: isDescending,
            limit: PAGE_LENGTH,
            ...(after === null ? {} : { after }),
          })
          : await gateway.admin.rankedLedger(chosen, {
            isDescending,
            ...pages.range,
          });
      const { data, next } = found;
      const { audits } = gateway.admin;
      const audited = fixed.accountId ?? account;
      return (
        <>
          {audited === ""
            ? <AuditNote audit={(await audits.list({ limit: 1 })).data[0]} />
            : <AccountAuditNote audit={await audits.ofAccount(audited)} />}
          <section class="card">
            {data.length === 0 && next === undefined
              ? <p>No lines match.</p>
              : null}
            {data.length === 0 ? null : (
              <DataTable
                name="Ledger"
                rows={data}
                columns={ledgerColumns(
                  balancesAfter(data, balanceMicroUsd),
                  base,
                  hasAccounts,
                  sorting,
                )}
              />
            )}
            <RankedNote page={found} of="lines" next={pages.next} />
            {next === undefined ? null : (
              <SearchOn
                href={placeLink(context, next)}
                isFull={data.length === PAGE_LENGTH}
                searched={`${countText(scanLimit)} lines`}
                place={`line #${next}`}
                older={isDescending ? "Older lines" : "Newer lines"}
              />
            )}
          </section>
        </>
      );
    },
  );
}

function ledgerColumns(
  balances: ReadonlyMap<number, number>,
  base: string,
  hasAccount: boolean,
  sorting: Sorting<typeof ORDERS[number]>,
): readonly Column<LedgerEntry>[] {
  return [
    { name: "Line", number: true, cell: ({ seq }) => `#${seq}` },
    {
      name: "Time (UTC)",
      sort: sorting.link("time", "first"),
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
      isFirst: true,
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
      isFirst: true,
      sort: sorting.link("amount"),
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

/** The filters of an account's own lines. */
function ownFilters(
  { account: _, ...filters }: JsonObject,
): JsonObject {
  return filters;
}

/** Every line of the filters as a file; without an account in `fixed` with their names. */
export function ledgerCsv(
  admin: RouteContext["gateway"]["admin"],
  query: URLSearchParams,
  fixed: Readonly<Record<string, string>>,
): Promise<HttpReply> {
  const filters = { ...filterFields(query, LEDGER_FILTERS), ...fixed };
  const ownAccount = fixed["account"];
  if (query.get("format") === "focus") {
    return csvReply(
      "ledger-focus",
      ownAccount === undefined
        ? exportLedger(admin, { ...filters, format: "focus" }).text
        : exportOwnLedger(admin, ownAccount, {
          ...ownFilters(filters),
          format: "focus",
        }).text,
    );
  }
  const hasAccounts = ownAccount === undefined;
  return csvReply(
    "ledger",
    csvOf(
      hasAccounts ? [...COLUMNS, "account_name"] : COLUMNS,
      withNames(
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
