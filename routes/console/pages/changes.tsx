/**
 * Who changed what: by page, API and command line, newest first. An account sees what belongs to
 * it.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { Children, JSX } from "../jsx.d.ts";
import {
  ACTIONS,
  ACTOR_KINDS,
  type ActorKind,
  CHANGE,
  type ChangeRecord,
} from "../../../gateway/accounts/changes/change.ts";
import {
  CHANGE_FILTERS,
  changeJson,
  changeQuery,
  ownChange,
} from "../../../gateway/admin/changes.ts";
import type { ChangeQuery } from "../../../gateway/accounts/repositories/change_repository.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type { AccountVisit, Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { csvOf, csvReply } from "../csv/csv.ts";
import { cutText, DataTable, Foreign } from "../parts/data_table.tsx";
import { filterFields } from "../forms/filter_fields.ts";
import {
  fileQuery,
  type Filter,
  filteredPage,
  PERIOD,
  placeLink,
} from "../forms/filters.tsx";
import { countText, Money, moneyText } from "../parts/money.tsx";
import { Moment } from "../parts/moment.tsx";
import { accountPageRoute } from "../http/page_route.ts";

/** Path of the page of all accounts. */
export const OPERATOR_NAV = "/console/operator/changes";
const PAGE_LENGTH = 50;
const COLUMNS: readonly string[] = Object.values(CHANGE).map(({ json }) =>
  json
);

/** The parameters of the page and of its file. */
export const CHANGE_PARAMETERS: readonly string[] = [
  ...Object.keys(CHANGE_FILTERS),
  "sign_ins",
];
const OWN_PARAMETERS = CHANGE_PARAMETERS.filter((name) => name !== "account");

/** The account's own changes, and all of them as a file. */
export const ACCOUNT_CHANGES_PAGES: readonly AccountPageRoute[] = [
  accountPageRoute("see_account", "GET", "/console/changes", ownPage, {
    query: [...OWN_PARAMETERS, "after"],
    again: ownPage,
  }),
  accountPageRoute(
    "see_account",
    "GET",
    "/console/changes.csv",
    ({ gateway, query }, { holder: { accountId } }) =>
      changesCsv(gateway.admin, query, accountId),
    { query: OWN_PARAMETERS },
  ),
];

const ACTORS: Readonly<Record<ActorKind, string>> = {
  operator: "operator",
  manage: "account token (manage)",
  read: "account token (read)",
  key: "API key",
  command_line: "command line",
  gateway: "gateway",
  unknown: "refused sign-in",
};

const FILTERS: readonly Filter[] = [
  {
    of: "choice",
    name: "action",
    title: "What",
    choices: ACTIONS.map((action) => [action, actionText(action)]),
  },
  {
    of: "choice",
    name: "actor",
    title: "Who",
    choices: ACTOR_KINDS.map((kind) => [kind, ACTORS[kind]]),
  },
  { of: "text", name: "target", title: "Id" },
  ...PERIOD,
  { of: "flag", name: "sign_ins", title: "Sign-ins, too" },
];

function ownPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  return changesView(context, visit, {
    base: "/console",
    about:
      "Who changed the account, its keys and its access, newest first. Changes of a plan are its operator's.",
    accountId: visit.holder.accountId,
  });
}

function filtersOf(
  query: URLSearchParams,
  accountId: string | undefined,
): ChangeQuery {
  const filters = changeQuery(filterFields(query, Object.keys(CHANGE_FILTERS)));
  return {
    ...filters,
    ...compact({ accountId }),
    // A filter for one action shows it, sign-ins included.
    ...(query.has("sign_ins") || filters.action !== undefined ||
        filters.target !== undefined || filters.actorId !== undefined
      ? {}
      : { isWithoutSignIns: true }),
  };
}

/** Every change of the filters as a file; with an account those that belong to it. */
export function changesCsv(
  admin: Admin,
  query: URLSearchParams,
  accountId?: string,
): Promise<HttpReply> {
  return csvReply(
    "changes",
    csvOf(
      COLUMNS,
      admin.changes.all(filtersOf(query, accountId)),
      (change) => {
        const { object: _, before, after, ...rest } = changeJson(
          accountId === undefined ? change : ownChange(change),
        );
        return { ...rest, before: jsonCell(before), after: jsonCell(after) };
      },
    ),
  );
}

function jsonCell(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}

/** The page of changes; with an account those that belong to it. */
export async function changesView(
  context: RouteContext,
  visit: Visit,
  { base, about, accountId }: {
    readonly base: string;
    readonly about: string;
    readonly accountId?: string;
  },
): Promise<HttpReply> {
  const nav = `${base}/changes`;
  const { query, gateway } = context;
  return await filteredPage(
    context,
    visit,
    {
      title: "Changes",
      about,
      nav,
      actions: (
        <a class="button" href={`${nav}.csv${fileQuery(context)}`}>CSV</a>
      ),
      filters: accountId === undefined
        ? [{ of: "suggested", name: "account" }, ...FILTERS]
        : FILTERS,
    },
    async () => {
      const after = query.get("after") || undefined;
      const { data, next } = await gateway.admin.changes.list({
        ...filtersOf(query, accountId),
        limit: PAGE_LENGTH,
        ...(after === undefined ? {} : { after }),
      });
      return (
        <section class="card">
          {data.length === 0
            ? (
              <p>
                No changes{query.size === 0
                  ? " yet: what is changed here, through the API or on the command line is listed on this page."
                  : " match these filters."}
              </p>
            )
            : (
              <ChangesTable
                nav={nav}
                changes={accountId === undefined ? data : data.map(ownChange)}
              />
            )}
          {next === undefined ? null : (
            <p>
              <a href={placeLink(context, next)}>Older changes</a>
            </p>
          )}
        </section>
      );
    },
  );
}

function ChangesTable(
  { nav, changes }: {
    readonly nav: string;
    readonly changes: readonly ChangeRecord[];
  },
): JSX.Element {
  return (
    <DataTable
      name="Changes"
      rows={changes}
      columns={[
        {
          name: "Time (UTC)",
          isFirst: true,
          cell: ({ atMs }) => <Moment atMs={atMs} of="bare" />,
        },
        {
          name: "Who",
          wraps: true,
          cell: (change) => <Who nav={nav} change={change} />,
        },
        {
          name: "What",
          isFirst: true,
          cell: ({ action }) => actionText(action),
        },
        {
          name: "Of",
          wraps: true,
          cell: (change) => <Target nav={nav} change={change} />,
        },
        {
          name: "Before and after",
          wraps: true,
          cell: ({ before = {}, after = {} }) =>
            fieldNames(before, after).map((name) => (
              <div>
                <FieldName name={name} />: {name in before
                  ? (
                    <>
                      <del>
                        <Value name={name} value={before[name]} />
                      </del>
                      {" → "}
                    </>
                  )
                  : null}
                <Value name={name} value={after[name]} />
              </div>
            )),
        },
      ]}
    />
  );
}

/** Fields of records in words; settings and models as they are written. */
function FieldName({ name }: { readonly name: string }): JSX.Element {
  return /^[a-z_]+$/.test(name)
    ? (
      <>
        {name.replace("micro_usd", "").replaceAll("_", " ").trim() || "amount"}
      </>
    )
    : <code>{cutText(name)}</code>;
}

/** `input 5000000, factor 2 (tier priority)`: amounts in dollars. */
function priceText(card: string): string {
  return card.split("; ").map((one) =>
    one.split(", ").map((rate) => {
      const [, name = "", amount = "", condition = ""] =
        /^(?!factor|version|from)([a-z][a-z0-9 ]*?) (\d+)( \(.*)?$/.exec(
          rate,
        ) ??
          [];
      if (amount === "") return rate;
      const microUsd = Number(amount);
      return `${name} ${
        moneyText(microUsd, microUsd % 10_000 === 0 ? 2 : 6)
      }${condition}`;
    }).join(", ")
  ).join("; ");
}

/** Fields that other columns show. */
const ELSEWHERE: ReadonlySet<string> = new Set(["id", "account", "created_at"]);

function fieldNames(before: JsonObject, after: JsonObject): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !ELSEWHERE.has(name));
}

/** `key.rotate`: key rotate. */
function actionText(action: string): string {
  return action.replace(".", ": ").replaceAll("_", " ");
}

function Who(
  { nav, change }: { readonly nav: string; readonly change: ChangeRecord },
): JSX.Element {
  const { actorKind, actorId, actorName } = change;
  return (
    <>
      {ACTORS[actorKind]}
      {actorName === undefined ? null : (
        <>
          {" "}
          <Foreign text={actorName} />
        </>
      )}
      {actorId === undefined ? null : (
        <>
          {" "}
          <a href={`${nav}?actor_id=${encodeURIComponent(actorId)}`}>
            <code>{actorId}</code>
          </a>
        </>
      )}
    </>
  );
}

/** The operators' pages of what can be changed. */
const PAGES: Readonly<Record<string, string>> = {
  account: "accounts",
  webhook: "accounts",
  plan: "plans",
};

function Target(
  { nav, change }: { readonly nav: string; readonly change: ChangeRecord },
): JSX.Element {
  const { action, target, accountId } = change;
  const isOperators = nav === OPERATOR_NAV;
  const own = isOperators ? PAGES[action.split(".")[0] ?? ""] : undefined;
  return (
    <>
      <a
        href={own === undefined
          ? `${nav}?target=${encodeURIComponent(target)}`
          : `/console/operator/${own}/${encodeURIComponent(target)}`}
      >
        <Foreign text={target} />
      </a>
      {!isOperators || accountId === undefined || accountId === target
        ? null
        : (
          <>
            <br />
            <span class="soft">of</span>{" "}
            <a href={`${nav}?account=${encodeURIComponent(accountId)}`}>
              <Foreign text={accountId} />
            </a>
          </>
        )}
    </>
  );
}

function Value(
  { name, value }: { readonly name: string; readonly value: unknown },
): JSX.Element {
  return <>{showValue(name, value)}</>;
}

function showValue(name: string, value: unknown): Children {
  if (value === null || value === undefined) return "none";
  if (typeof value === "number" && name.endsWith("micro_usd")) {
    return <Money microUsd={value} decimals={6} />;
  }
  if (value === "") return "none";
  if (typeof value === "number") return countText(value);
  if (typeof value === "string" && name.startsWith("model ")) {
    return <Foreign text={priceText(value)} />;
  }
  if (typeof value === "string" && name.endsWith("_at")) {
    const atMs = Date.parse(value);
    if (!Number.isNaN(atMs)) return <Moment atMs={atMs} />;
  }
  if (Array.isArray(value)) {
    return value.length === 0 ? "none" : <Foreign text={value.join(", ")} />;
  }
  return (
    <Foreign
      text={typeof value === "object" ? JSON.stringify(value) : String(value)}
    />
  );
}
