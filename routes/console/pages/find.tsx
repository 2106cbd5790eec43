/**
 * The search of every page: accounts, keys, models, end users and calls, by any part of their names
 * and ids.
 */
import type { JSX } from "../jsx.d.ts";
import {
  type Found,
  MOST_FOUND,
  SEARCHED_CALLS,
} from "../../../gateway/accounts/reports/find_by_part.ts";
import {
  type AccountScope,
  scopeOf,
} from "../../../gateway/admin/account_scope.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { callTimeMs } from "../../../gateway/accounts/calls/call_record.ts";
import { searchedPage } from "../http/searched_page.ts";
import { seeOther } from "../http/see_other.ts";
import { DataTable, Foreign } from "../parts/data_table.tsx";
import { page } from "../parts/layout.tsx";
import { countText } from "../parts/money.tsx";
import { Moment } from "../parts/moment.tsx";
import { modelHref, ModelLink } from "../parts/model_cells.tsx";
import { accountPageRoute } from "../http/page_route.ts";

/** What all forms of searches and filters are sent to, and the search of every page. */
export const FIND_PAGES: readonly AccountPageRoute[] = [
  accountPageRoute("look", "POST", "/console/search", searchedPage),
  accountPageRoute(
    "look",
    "GET",
    "/console/find",
    (context, visit) =>
      findPage(context, visit, scopeOf(visit.holder), "/console"),
    { query: ["q"] },
  ),
];

const REQUEST_ID = /^req_[0-9A-Za-z]{12,}$/;

/** Everything that contains the text; a single match opens its page. */
export async function findPage(
  context: RouteContext,
  visit: Visit,
  scope: Partial<AccountScope>,
  base: string,
): Promise<HttpReply> {
  const text = context.query.get("q")?.trim() ?? "";
  if (text === "") return seeOther(`${base}/calls`);
  const callPath = `${base}/calls/${encodeURIComponent(text)}`;
  const found = await context.gateway.admin.find(text.slice(0, 200), scope);
  const part = text.toLowerCase();
  const models = context.gateway.models.models.filter(({ id, displayName }) =>
    [id, displayName].some((one) => one.toLowerCase().includes(part))
  ).slice(0, MOST_FOUND);
  const links = [
    ...linksOf(found, base),
    ...models.map(({ id }) => modelHref(base, id)),
  ];
  const [only, another] = links;
  if (only !== undefined && another === undefined) return seeOther(only);
  // An old call is not among those that are searched.
  if (links.length === 0 && REQUEST_ID.test(text)) return seeOther(callPath);
  const exact = found.accounts.find(({ id }) => id === text);
  if (exact !== undefined && base !== "/console") {
    return seeOther(accountPath(base, exact.id));
  }
  return page(
    context,
    visit,
    {
      title: "Search",
      about: (
        <>
          Names and ids that contain <Foreign text={text} />
        </>
      ),
      nav: "",
    },
    <>
      {links.length === 0 ? <p class="card">Nothing found.</p> : (
        <>
          <Results found={found} base={base} />
          {models.length === 0 ? null : (
            <section class="card">
              <h2>Models</h2>
              <ul>
                {models.map((model) => (
                  <li>
                    <ModelLink base={base} model={model} />
                  </li>
                ))}
              </ul>
            </section>
          )}
        </>
      )}
      <p class="soft">
        {scope.accountId === undefined ? "Accounts, keys" : "Keys"}, models, end
        users and request ids; the latter two of the newest {countText(
          SEARCHED_CALLS[scope.accountId === undefined ? "all" : "account"],
        )} calls, at most {MOST_FOUND}{" "}
        of each. A whole request id finds older calls, too.
      </p>
    </>,
  );
}

function accountPath(base: string, id: string): string {
  return `${base}/accounts/${encodeURIComponent(id)}`;
}

function userPath(
  base: string,
  { accountId, user }: Found["users"][number],
): string {
  return `${base}/calls?${new URLSearchParams({
    ...(base === "/console" ? {} : { account: accountId }),
    user,
  })}`;
}

function linksOf(
  { accounts, keys, users, calls }: Found,
  base: string,
): readonly string[] {
  return [
    ...accounts.map(({ id }) => accountPath(base, id)),
    ...keys.map(({ id }) => `${base}/keys/${id}`),
    ...users.map((user) => userPath(base, user)),
    ...calls.map((id) => `${base}/calls/${id}`),
  ];
}

function Results(
  { found: { accounts, keys, users, calls }, base }: {
    readonly found: Found;
    readonly base: string;
  },
): JSX.Element {
  const hasAccounts = base !== "/console";
  return (
    <>
      {accounts.length === 0 ? null : (
        <section class="card">
          <h2>Accounts</h2>
          <DataTable
            name="Accounts"
            rows={accounts}
            columns={[
              {
                name: "Account",
                wraps: true,
                cell: ({ id }) => (
                  <a href={accountPath(base, id)}>
                    <Foreign text={id} />
                  </a>
                ),
              },
              {
                name: "Name",
                wraps: true,
                cell: ({ name }) => <Foreign text={name} />,
              },
            ]}
          />
        </section>
      )}
      {keys.length === 0 ? null : (
        <section class="card">
          <h2>Keys</h2>
          <DataTable
            name="Keys"
            rows={keys}
            columns={[
              {
                name: "Name",
                wraps: true,
                cell: ({ id, name }) => (
                  <a href={`${base}/keys/${id}`}>
                    <Foreign text={name || "(no name)"} />
                  </a>
                ),
              },
              { name: "Key", cell: ({ hint }) => <code>{hint}</code> },
              ...(hasAccounts
                ? [{
                  name: "Account",
                  wraps: true,
                  cell: ({ accountId }: Found["keys"][number]) => (
                    <Foreign text={accountId} />
                  ),
                }]
                : []),
            ]}
          />
        </section>
      )}
      {users.length === 0 ? null : (
        <section class="card">
          <h2>End users</h2>
          <DataTable
            name="End users"
            rows={users}
            columns={[
              {
                name: "End user",
                wraps: true,
                cell: (one) => (
                  <a href={userPath(base, one)}>
                    <Foreign text={one.user} />
                  </a>
                ),
              },
              ...(hasAccounts
                ? [{
                  name: "Account",
                  wraps: true,
                  cell: ({ accountId }: Found["users"][number]) => (
                    <Foreign text={accountId} />
                  ),
                }]
                : []),
            ]}
          />
        </section>
      )}
      {calls.length === 0 ? null : (
        <section class="card">
          <h2>Calls</h2>
          <DataTable
            name="Calls"
            rows={calls}
            columns={[
              {
                name: "Call",
                cell: (id) => (
                  <a href={`${base}/calls/${id}`}>
                    <code>{id}</code>
                  </a>
                ),
              },
              {
                name: "Time (UTC)",
                cell: (id) => <Moment atMs={callTimeMs(id)} />,
              },
            ]}
          />
        </section>
      )}
    </>
  );
}
