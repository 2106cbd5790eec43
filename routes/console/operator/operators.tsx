/**
 * Operator tokens: who operates the gateway, and what each may do.
 */
import type { JSX } from "../jsx.d.ts";
import {
  OPERATOR_TOKEN,
  type OperatorTokenRecord,
} from "../../../gateway/accounts/repositories/operator_token_repository.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { listCsv } from "../csv/list_csv.ts";
import { askingFirst } from "../forms/ask_first.tsx";
import { FormButtons } from "../forms/form_buttons.tsx";
import { NewSecret } from "../forms/new_secret.tsx";
import { recordBody, RecordInputs } from "../forms/record_form.tsx";
import { RevokeToken } from "../forms/revoke_token.tsx";
import { operationInput } from "../http/operation_input.ts";
import { runAdminOperation } from "../http/operations.ts";
import { operatorPageRoute } from "../http/page_route.ts";
import { seeOther } from "../http/see_other.ts";
import { type Column, DataTable, Foreign } from "../parts/data_table.tsx";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { TokenState } from "../pages/access.tsx";
import { LastUsed, Moment } from "../parts/moment.tsx";
import { sortedList } from "../parts/sorting.ts";

const NAV = "/console/operator/operators";

export const OPERATORS_PAGES: readonly OperatorPageRoute[] = [
  operatorPageRoute("GET", NAV, listPage, { query: ["sort"] }),
  operatorPageRoute("GET", `${NAV}.csv`, ({ gateway }) =>
    listCsv(
      "operators",
      OPERATOR_TOKEN,
      (page) => gateway.admin.operatorTokens.list(page),
    )),
  operatorPageRoute("GET", `${NAV}/new`, newPage),
  operatorPageRoute("POST", `${NAV}/new`, issue, { again: newPage }),
  operatorPageRoute(
    "POST",
    `${NAV}/revoke`,
    askingFirst(async (context, visit) => {
      const id = visit.form.get("id") ?? "";
      await runAdminOperation(
        context,
        visit,
        "revokeOperatorToken",
        operationInput(visit, {}, id),
      );
      return seeOther(NAV);
    }, () => ({
      title: "Revoke the operator token",
      text: "It is refused at once and for ever, and its sessions end.",
      back: NAV,
    })),
  ),
];

async function listPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { gateway } = context;
  const { data } = await gateway.admin.operatorTokens.list({ limit: 1000 });
  return page(context, visit, {
    title: "Operators",
    about:
      "Tokens of persons and programs that operate the gateway, beside the admin token. What they change has their name.",
    nav: NAV,
    actions: (
      <>
        <a class="button" href={`${NAV}.csv`}>CSV</a>
        <a class="button main" href={`${NAV}/new`}>New operator token</a>
      </>
    ),
  }, <Tokens context={context} visit={visit} tokens={data} />);
}

function Tokens({ context, visit, tokens }: {
  readonly context: RouteContext;
  readonly visit: Visit;
  readonly tokens: readonly OperatorTokenRecord[];
}): JSX.Element {
  const nowMs = context.gateway.now();
  return (
    <section class="card">
      {tokens.length === 0 ? <p class="soft">None yet.</p> : (
        <DataTable
          name="Operator tokens"
          {...sortedList<OperatorTokenRecord, Column<OperatorTokenRecord>>(
            context,
            tokens,
            [
              {
                name: "Name",
                order: { name: "name", of: ({ name }) => name },
                isFirst: true,
                wraps: true,
                cell: ({ name }) => <Foreign text={name} />,
              },
              { name: "Token", cell: ({ hint }) => <code>{hint}</code> },
              { name: "Scope", cell: ({ scope }) => scope },
              {
                name: "Made",
                order: {
                  name: "made",
                  largest: "first",
                  of: ({ createdAtMs }) => createdAtMs,
                },
                cell: ({ createdAtMs }) => <Moment atMs={createdAtMs} />,
              },
              {
                name: "Last used",
                cell: ({ lastUsedAtMs }) => (
                  <LastUsed atMs={lastUsedAtMs} nowMs={nowMs} />
                ),
              },
              {
                name: "State",
                cell: (one) => <TokenState item={one} nowMs={nowMs} />,
              },
              {
                name: "",
                cell: (one) => (
                  <RevokeToken
                    visit={visit}
                    token={one}
                    nowMs={nowMs}
                    action={`${NAV}/revoke`}
                    field="id"
                  />
                ),
              },
            ],
            "-made",
          )}
        />
      )}
    </section>
  );
}

function newPage(context: RouteContext, visit: Visit): HttpReply {
  return page(
    context,
    visit,
    {
      title: "New operator token",
      about:
        "The scope read reads everything here; keys also manages keys, account tokens and sign-in links; billing plans, top-ups and accounts' settings; administer everything. Empty expiry: 90 days.",
      nav: NAV,
    },
    <form class="card form" method="post" action={`${NAV}/new`}>
      <FormToken visit={visit} />
      <OnceField />
      <RecordInputs visit={visit} fields={OPERATOR_TOKEN} />
      <FormButtons text="Make the token" cancel={NAV} />
    </form>,
  );
}

async function issue(context: RouteContext, visit: Visit): Promise<HttpReply> {
  const { token } = await runAdminOperation(
    context,
    visit,
    "issueOperatorToken",
    operationInput(visit, recordBody(OPERATOR_TOKEN, visit.form)),
  );
  return page(
    context,
    visit,
    { title: "New operator token", nav: NAV },
    <NewSecret
      text={typeof token === "string" ? token : undefined}
      noun="operator token"
      done={NAV}
    />,
  );
}
