/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * Who changed what: by page, API and command line, newest first.
 *
 * @module
 */
import type { Children, JSX } from "../jsx.d.ts";
import {
  ACTIONS,
  ACTOR_KINDS,
  type ActorKind,
  CHANGE,
  type ChangeRecord,
} from "../../../gateway/accounts/changes/change.ts";
import {
  allChanges,
  CHANGE_FILTERS,
  changeQuery,
} from "../../../gateway/admin/changes.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { csvOf, csvReply } from "../csv.ts";
import { DataTable, Foreign } from "../data_table.tsx";
import { DayInput } from "../day_input.tsx";
import { filterFields } from "../filter_fields.ts";
import { page } from "../layout.tsx";
import { Money } from "../money.tsx";
import { Moment } from "../moment.tsx";

const NAV = "/console/operator/changes";
const PAGE_LENGTH = 50;
const COLUMNS: readonly string[] = Object.values(CHANGE).map(({ json }) =>
  json
);

/** The list, and all of it as a file. */
export const CHANGES_PAGES: readonly OperatorPageRoute[] = [
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: NAV,
    handle: changesPage,
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${NAV}.csv`,
    handle: ({ gateway, query }) =>
      csvReply("changes", csvOf(COLUMNS, changeLines(gateway.admin, query))),
  },
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

function filtersOf(query: URLSearchParams): JsonObject {
  return filterFields(query, Object.keys(CHANGE_FILTERS));
}

async function* changeLines(
  admin: Admin,
  query: URLSearchParams,
): AsyncGenerator<readonly JsonObject[], void, void> {
  const filters = changeQuery(filtersOf(query));
  const text = (value: unknown): string | null =>
    value === null ? null : JSON.stringify(value);
  for await (const changes of allChanges(admin, filters)) {
    yield changes.map(({ object: _, before, after, ...rest }) => ({
      ...rest,
      before: text(before),
      after: text(after),
    }));
  }
}

async function changesPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { query, gateway } = context;
  const value = (name: string): string => query.get(name)?.trim() ?? "";
  const { data, next } = await gateway.admin.changes.list({
    ...changeQuery(filtersOf(query)),
    limit: PAGE_LENGTH,
    ...(value("after") === "" ? {} : { after: value("after") }),
  });
  const search = new URLSearchParams(query);
  search.delete("after");
  const older = new URLSearchParams(search);
  older.set("after", next ?? "");
  const text = (name: string, title: string): JSX.Element => (
    <label>
      {title}
      <input name={name} value={value(name)} placeholder="all" />
    </label>
  );
  const choice = (
    name: string,
    title: string,
    choices: readonly (readonly [value: string, text: string])[],
  ): JSX.Element => (
    <label>
      {title}
      <select name={name}>
        <option value="">all</option>
        {choices.map(([one, shown]) => (
          <option key={one} value={one} selected={one === value(name)}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
  const day = (name: string, title: string): JSX.Element => (
    <label>
      {title}
      <DayInput name={name} value={value(name)} />
    </label>
  );
  return page(
    context,
    visit,
    {
      title: "Changes",
      about:
        "What people and programs changed, by page, API and command line, newest first.",
      nav: NAV,
      actions: <a class="button" href={`${NAV}.csv?${search}`}>CSV</a>,
    },
    <>
      <form class="card row" action={NAV}>
        {text("account", "Account")}
        {choice(
          "action",
          "What",
          ACTIONS.map((action) => [action, actionText(action)]),
        )}
        {choice(
          "actor",
          "Who",
          ACTOR_KINDS.map((kind) => [kind, ACTORS[kind]]),
        )}
        {text("target", "Id")}
        {day("from", "From (UTC)")}
        {day("to", "To (UTC)")}
        <button class="main" type="submit">Apply</button>
      </form>
      <section class="card">
        {data.length === 0
          ? (
            <p>
              No changes{search.size === 0
                ? " yet: what is changed here, through the API or on the command line is listed on this page."
                : " match these filters."}
            </p>
          )
          : <ChangesTable changes={data} />}
        {next === undefined ? null : (
          <p>
            <a href={`${NAV}?${older}`}>Older changes</a>
          </p>
        )}
      </section>
    </>,
  );
}

function ChangesTable(
  { changes }: { readonly changes: readonly ChangeRecord[] },
): JSX.Element {
  return (
    <DataTable
      name="Changes"
      rows={changes}
      columns={[
        { name: "Time (UTC)", cell: ({ atMs }) => <Moment atMs={atMs} /> },
        { name: "Who", wraps: true, cell: (change) => <Who change={change} /> },
        { name: "What", cell: ({ action }) => actionText(action) },
        {
          name: "Of",
          wraps: true,
          cell: (change) => <Target change={change} />,
        },
        {
          name: "Before and after",
          wraps: true,
          cell: ({ before = {}, after = {} }) =>
            fieldNames(before, after).map((name) => (
              <div>
                {name.replace("micro_usd", "").replaceAll("_", " ").trim() ||
                  "amount"}: {name in before
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

function Who({ change }: { readonly change: ChangeRecord }): JSX.Element {
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
          <a href={`${NAV}?actor_id=${encodeURIComponent(actorId)}`}>
            <code>{actorId}</code>
          </a>
        </>
      )}
    </>
  );
}

/** The pages of what can be changed. */
const PAGES: Readonly<Record<string, string>> = {
  account: "/console/operator/accounts/",
  webhook: "/console/operator/accounts/",
  plan: "/console/operator/plans/",
};

function Target({ change }: { readonly change: ChangeRecord }): JSX.Element {
  const { action, target, accountId } = change;
  const kind = action.split(".")[0] ?? "";
  return (
    <>
      <a
        href={PAGES[kind] === undefined
          ? `${NAV}?target=${encodeURIComponent(target)}`
          : `${PAGES[kind]}${encodeURIComponent(target)}`}
      >
        <Foreign text={target} />
      </a>
      {accountId === undefined || accountId === target ? null : (
        <>
          <br />
          <span class="soft">of</span>{" "}
          <a href={`${NAV}?account=${encodeURIComponent(accountId)}`}>
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
  return <>{shown(name, value)}</>;
}

function shown(name: string, value: unknown): Children {
  if (value === null || value === undefined) return "none";
  if (typeof value === "number" && name.endsWith("micro_usd")) {
    return <Money microUsd={value} decimals={6} />;
  }
  if (Array.isArray(value)) return <Foreign text={value.join(", ")} />;
  return (
    <Foreign
      text={typeof value === "object" ? JSON.stringify(value) : String(value)}
    />
  );
}
