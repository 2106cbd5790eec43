/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * What an operator changes of one account: its settings, its balance, and who may enter.
 *
 * @module
 */
import { ACCOUNT } from "../../../gateway/accounts/records.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { baseUrl } from "../http/base_url.ts";
import { Foreign } from "../parts/data_table.tsx";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { Money } from "../parts/money.tsx";
import { NewSecret } from "../parts/new_secret.tsx";
import { operationInput } from "../http/operation_input.ts";
import { runAdminOperation } from "../http/operations.ts";
import { microUsdOf, recordBody } from "../parts/record_form.tsx";
import { seeOther } from "../http/see_other.ts";

const NAV = "/console/operator/accounts";
const { id: _id, status: _status, ...CHANGEABLE } = ACCOUNT;

/** Change, suspend, top up, sign-in links, tokens and keys. */
export const ACCOUNT_CHANGE_PAGES: readonly OperatorPageRoute[] = [
  {
    access: "page",
    area: "operator",
    method: "POST",
    path: `${NAV}/change/:id`,
    handle: (context, visit) =>
      change(
        context,
        visit,
        recordBody(CHANGEABLE, visit.form, { clears: true }),
      ),
  },
  {
    access: "page",
    area: "operator",
    method: "POST",
    path: `${NAV}/status/:id`,
    handle: (context, visit) =>
      change(context, visit, { status: visit.form.get("status") ?? "" }),
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: `${NAV}/top-up/:id`,
    handle: topUpPage,
  },
  {
    access: "page",
    area: "operator",
    method: "POST",
    path: `${NAV}/top-up/:id`,
    handle: topUp,
  },
  {
    access: "page",
    area: "operator",
    method: "POST",
    path: `${NAV}/link/:id`,
    handle: makeLink,
  },
  {
    access: "page",
    area: "operator",
    method: "POST",
    path: `${NAV}/token/:id`,
    handle: makeToken,
  },
  {
    access: "page",
    area: "operator",
    method: "POST",
    path: `${NAV}/key/:id`,
    handle: makeKey,
  },
];

function idOf({ parameters }: RouteContext): string {
  return parameters["id"] ?? "";
}

async function change(
  context: RouteContext,
  visit: Visit,
  body: Readonly<Record<string, unknown>>,
): Promise<HttpReply> {
  const id = idOf(context);
  await runAdminOperation(
    context,
    visit,
    "updateAccount",
    operationInput(visit, body, id),
  );
  return seeOther(`${NAV}/${encodeURIComponent(id)}`);
}

async function topUpPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { query, gateway } = context;
  const account = await gateway.admin.accounts.get(idOf(context));
  const id = encodeURIComponent(account.id);
  const usd = query.get("usd")?.trim() ?? "";
  const note = query.get("note")?.trim() ?? "";
  const microUsd = microUsdOf("usd", usd);
  return page(
    context,
    visit,
    { title: `Top up ${account.id}`, nav: NAV },
    <form class="card form" method="post" action={`${NAV}/top-up/${id}`}>
      <FormToken visit={visit} />
      <OnceField />
      <input type="hidden" name="usd" value={usd} />
      <input type="hidden" name="note" value={note} />
      <dl>
        <dt>Balance now</dt>
        <dd>
          <Money microUsd={account.balanceMicroUsd} decimals={6} />
        </dd>
        <dt>Top-up</dt>
        <dd>
          <Money microUsd={microUsd} decimals={6} />
        </dd>
        <dt>Balance then</dt>
        <dd>
          <Money microUsd={account.balanceMicroUsd + microUsd} decimals={6} />
        </dd>
        <dt>Note</dt>
        <dd>{note === "" ? "none" : <Foreign text={note} />}</dd>
      </dl>
      <div class="acts">
        <button class="main" type="submit" autofocus>Confirm</button>
        <a class="button" href={`${NAV}/${id}`}>Cancel</a>
      </div>
    </form>,
  );
}

async function topUp(context: RouteContext, visit: Visit): Promise<HttpReply> {
  const id = idOf(context);
  const note = visit.form.get("note") ?? "";
  await runAdminOperation(
    context,
    visit,
    "topUpAccount",
    operationInput(visit, {
      micro_usd: microUsdOf("usd", visit.form.get("usd") ?? ""),
      ...(note === "" ? {} : { note }),
    }, id),
  );
  return seeOther(`${NAV}/${encodeURIComponent(id)}`);
}

async function makeLink(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const id = idOf(context);
  const { path } = await runAdminOperation(
    context,
    visit,
    "createSignInLink",
    operationInput(visit, {
      account: id,
      scope: visit.form.get("scope") ?? "read",
    }),
  );
  return shownOnce(
    context,
    visit,
    "sign-in link",
    `${baseUrl(context)}${path}`,
  );
}

async function makeToken(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { token } = await runAdminOperation(
    context,
    visit,
    "issueToken",
    operationInput(visit, {
      account: idOf(context),
      name: visit.form.get("name") ?? "",
      scope: visit.form.get("scope") ?? "read",
    }),
  );
  return shownOnce(context, visit, "account token", token);
}

async function makeKey(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { key } = await runAdminOperation(
    context,
    visit,
    "issueKey",
    operationInput(visit, {
      account: idOf(context),
      name: visit.form.get("name") ?? "",
    }),
  );
  return shownOnce(context, visit, "key", key);
}

function shownOnce(
  context: RouteContext,
  visit: Visit,
  noun: string,
  text: unknown,
): HttpReply {
  return page(
    context,
    visit,
    { title: `New ${noun}`, nav: NAV },
    <NewSecret
      text={typeof text === "string" ? text : undefined}
      noun={noun}
      done={`${NAV}/${encodeURIComponent(idOf(context))}`}
    />,
  );
}
