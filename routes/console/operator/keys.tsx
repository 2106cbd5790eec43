/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The keys of all accounts.
 *
 * @module
 */
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { KEY, type KeyRecord } from "../../../gateway/accounts/records.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { DataTable, Foreign } from "../parts/data_table.tsx";
import { keyForms } from "../pages/key_changes.tsx";
import { keyPage } from "../pages/key_page.tsx";
import { KeyMeters, KeyState } from "../pages/keys.tsx";
import { page } from "../parts/layout.tsx";
import { listCsv } from "../csv/list_csv.ts";
import { Distance, Moment } from "../parts/moment.tsx";
import { runAdminOperation } from "../http/operations.ts";
import { AccountLink } from "./account_link.tsx";

const NAV = "/console/operator/keys";

/** List, and revoke. */
export const OPERATOR_KEYS_PAGES: readonly OperatorPageRoute[] = [
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: NAV,
    handle: listPage,
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${NAV}.csv`,
    handle: ({ gateway, query }) => {
      const account = query.get("account") ?? "";
      return listCsv("keys", KEY, (page) =>
        gateway.admin.keys.list({
          ...page,
          ...(account === "" ? {} : { accountId: account }),
        }));
    },
  },
  ...keyForms<Visit>({
    list: NAV,
    find: keyOfPath,
    run: (context, visit, change, input) =>
      runAdminOperation(context, visit, `${change}Key`, input),
    changed: ({ id, accountId }, change) =>
      change === "revoke"
        ? `${NAV}?account=${encodeURIComponent(accountId)}`
        : `${NAV}/${id}`,
  }).flatMap(({ name, show, send }): OperatorPageRoute[] => {
    const route = {
      access: "page",
      area: "operator",
      path: `${NAV}/${name}/:id`,
    } as const;
    return [
      { ...route, method: "GET", handle: show },
      { ...route, method: "POST", handle: send, again: show },
    ];
  }),
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${NAV}/:id`,
    handle: async (context, visit) =>
      keyPage(
        context,
        visit,
        await keyOfPath(context),
        { base: "/console/operator", acts: ["limits", "rotate", "revoke"] },
      ),
  },
];

async function listPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { query, gateway } = context;
  const account = query.get("account") ?? "";
  const after = query.get("after");
  const { data: keys, next } = await gateway.admin.keys.list({
    newestFirst: true,
    limit: 200,
    ...(account === "" ? {} : { accountId: account }),
    ...(after === null ? {} : { after }),
  });
  const nowMs = gateway.now();
  const states = await gateway.admin.keyStates(keys.map(({ id }) => id));
  const search = new URLSearchParams({ account, after: next ?? "" });
  return page(
    context,
    visit,
    {
      title: "Keys",
      about: "Of all accounts; keys are shown by hint.",
      nav: NAV,
      actions: (
        <a
          class="button"
          href={`${NAV}.csv?${new URLSearchParams({ account })}`}
        >
          CSV
        </a>
      ),
    },
    <>
      <form class="card row" action={NAV}>
        <label>
          Account
          <input name="account" value={account} placeholder="all" />
        </label>
        <button class="main" type="submit">Apply</button>
      </form>
      <section class="card">
        {keys.length === 0 ? <p>No keys.</p> : (
          <DataTable
            name="Keys"
            stacks
            rows={keys}
            columns={[
              {
                name: "Account",
                wraps: true,
                cell: ({ accountId }) => <AccountLink accountId={accountId} />,
              },
              {
                name: "Name",
                isFirst: true,
                wraps: true,
                cell: ({ id, name }) => (
                  <a href={`${NAV}/${id}`}>
                    <Foreign text={name || "(no name)"} />
                  </a>
                ),
              },
              { name: "Key", cell: ({ hint }) => <code>{hint}</code> },
              {
                name: "Made",
                cell: ({ createdAtMs }) => (
                  <Moment atMs={createdAtMs} of="day" />
                ),
              },
              {
                name: "Last used",
                cell: ({ lastUsedAtMs }) => lastUsedAtMs === undefined
                  ? <span class="soft">never</span>
                  : <Distance atMs={lastUsedAtMs} nowMs={nowMs} />,
              },
              {
                name: "Limits of its own",
                cell: ({ id }) => (
                  <KeyMeters state={states.get(id)} nowMs={nowMs} />
                ),
              },
              {
                name: "State",
                isFirst: true,
                cell: (key) => <KeyState item={key} nowMs={nowMs} />,
              },
              {
                name: "",
                cell: ({ id, revokedAtMs }) => (
                  <div class="acts">
                    <a href={`/console/operator/changes?target=${id}`}>
                      Changes
                    </a>
                    {revokedAtMs === undefined
                      ? <a href={`${NAV}/revoke/${id}`}>Revoke</a>
                      : null}
                  </div>
                ),
              },
            ]}
          />
        )}
        {next === undefined ? null : (
          <p>
            <a href={`${NAV}?${search}`}>More</a>
          </p>
        )}
      </section>
    </>,
  );
}

function keyOfPath({ gateway, parameters }: RouteContext): Promise<KeyRecord> {
  return gateway.admin.keys.get(parameters["id"] ?? "");
}
