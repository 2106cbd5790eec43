/**
 * Who may look at an account or manage it: its tokens and its sessions.
 */
import type { JSX } from "../jsx.d.ts";
import { isPermitted } from "../../../gateway/accounts/credential_kind.ts";
import type { SessionRecord } from "../../../gateway/accounts/repositories/session_repository.ts";
import {
  TOKEN,
  type TokenRecord,
} from "../../../gateway/accounts/repositories/token_repository.ts";
import type { Webhook } from "../../../gateway/accounts/repositories/webhook_repository.ts";
import { sessionText } from "../parts/session_text.ts";
import type { AccountVisit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { ApiError } from "../../../translate/model/error.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { type Column, DataTable, Foreign } from "../parts/data_table.tsx";
import { askingFirst } from "../forms/ask_first.tsx";
import { RevokeToken } from "../forms/revoke_token.tsx";
import { TextField } from "../forms/field.tsx";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { listCsv } from "../csv/list_csv.ts";
import { sortedList } from "../parts/sorting.ts";
import { seeOther } from "../http/see_other.ts";
import { countText } from "../parts/money.tsx";
import { Distance, LastUsed, Moment } from "../parts/moment.tsx";
import { NewSecret } from "../forms/new_secret.tsx";
import { operationInput } from "../http/operation_input.ts";
import { administrationOf, runAccountOperation } from "../http/operations.ts";
import { accountPageRoute } from "../http/page_route.ts";

export const ACCESS_ROUTES: readonly AccountPageRoute[] = [
  accountPageRoute("see_account", "GET", "/console/access", accessPage, {
    query: ["sort"],
  }),
  accountPageRoute(
    "see_account",
    "GET",
    "/console/access/tokens.csv",
    ({ gateway }, { holder: { accountId } }) =>
      listCsv(
        "tokens",
        TOKEN,
        (page) => gateway.admin.tokens.list({ accountId, ...page }),
      ),
  ),
  accountPageRoute("manage", "POST", "/console/access/tokens", issueToken, {
    again: accessPage,
  }),
  accountPageRoute(
    "manage",
    "POST",
    "/console/access/tokens/revoke",
    askingFirst(revokeToken, () => ({
      title: "Revoke the token",
      text: "It is refused at once and for ever, and its sessions end.",
      back: "/console/access",
    })),
  ),
  accountPageRoute(
    "manage",
    "POST",
    "/console/access/sessions/end",
    endSession,
  ),
];

async function accessPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const { gateway } = context;
  const { accountId, kind } = visit.holder;
  const { data: tokens } = await gateway.admin.tokens.list({
    accountId,
    limit: 1000,
  });
  const sessions = await gateway.admin.sessions.list(accountId);
  const webhook = await gateway.admin.webhooks.get(accountId);
  const shared = {
    visit,
    nowMs: gateway.now(),
    mayManage: isPermitted(kind, "manage"),
  };
  return page(
    context,
    visit,
    {
      title: "Access",
      about:
        "Account tokens open this console and the API under /v1/account. They cannot call models.",
    },
    <>
      <Tokens {...shared} context={context} tokens={tokens} />
      <Sessions {...shared} sessions={sessions} />
      <Warnings webhook={webhook} />
    </>,
  );
}

/** What the lists of tokens and sessions share. */
interface ListProps {
  readonly visit: AccountVisit;
  readonly nowMs: number;
  readonly mayManage: boolean;
}

function Tokens(
  { context, visit, nowMs, mayManage, tokens }: ListProps & {
    readonly context: RouteContext;
    readonly tokens: readonly TokenRecord[];
  },
): JSX.Element {
  return (
    <section class="card">
      <div class="head">
        <h2>Account tokens</h2>
        <a href="/console/access/tokens.csv">CSV</a>
      </div>
      {tokens.length === 0 ? <p class="soft">None yet.</p> : (
        <DataTable
          name="Account tokens"
          {...sortedList<TokenRecord, Column<TokenRecord>>(context, tokens, [
            {
              name: "Name",
              order: { name: "name", of: ({ name }) => name },
              isFirst: true,
              wraps: true,
              cell: (one) => <Foreign text={one.name || "(no name)"} />,
            },
            { name: "Token", cell: (one) => <code>{one.hint}</code> },
            {
              name: "Scope",
              order: { name: "scope", of: ({ scope }) => scope },
              cell: (one) => one.scope,
            },
            {
              name: "Made",
              order: {
                name: "made",
                largest: "first",
                of: ({ createdAtMs }) => createdAtMs,
              },
              cell: (one) => <Moment atMs={one.createdAtMs} />,
            },
            {
              name: "Last used",
              order: {
                name: "used",
                largest: "first",
                of: ({ lastUsedAtMs }) => lastUsedAtMs,
              },
              cell: (one) => <LastUsed atMs={one.lastUsedAtMs} nowMs={nowMs} />,
            },
            {
              name: "State",
              order: {
                name: "ends",
                of: ({ revokedAtMs, expiresAtMs }) =>
                  revokedAtMs ?? expiresAtMs,
              },
              cell: (one) => <TokenState item={one} nowMs={nowMs} />,
            },
            ...(mayManage
              ? [{
                name: "",
                cell: (one: TokenRecord) => (
                  <RevokeToken
                    visit={visit}
                    token={one}
                    nowMs={nowMs}
                    action="/console/access/tokens/revoke"
                    field="id"
                  />
                ),
              }]
              : []),
          ], "-made")}
        />
      )}
      {mayManage
        ? (
          <form class="row" method="post" action="/console/access/tokens">
            <FormToken visit={visit} />
            <OnceField />
            <TextField
              visit={visit}
              name="name"
              title="New token with the scope read"
              help="The person or program that it is for"
              maxLength={200}
              required
            />
            <button type="submit">Make the token</button>
          </form>
        )
        : null}
      <p class="soft">
        A token with the scope manage comes from the gateway's operator.
      </p>
    </section>
  );
}

function Sessions(
  { visit, nowMs, mayManage, sessions }: ListProps & {
    readonly sessions: readonly SessionRecord[];
  },
): JSX.Element {
  return (
    <section class="card">
      <h2>Sessions</h2>
      <DataTable
        name="Sessions"
        rows={sessions}
        columns={[
          {
            name: "Who",
            isFirst: true,
            wraps: true,
            cell: ({ name }) =>
              name === undefined
                ? <span class="soft">no name</span>
                : <Foreign text={name} />,
          },
          { name: "With", cell: sessionText },
          { name: "Since", cell: (one) => <Moment atMs={one.madeAtMs} /> },
          {
            name: "Last seen",
            cell: (one) => <Distance atMs={one.seenAtMs} nowMs={nowMs} />,
          },
          {
            name: "Ends",
            cell: (one) => <Distance atMs={one.endsAtMs} nowMs={nowMs} />,
          },
          {
            name: "",
            cell: (one) =>
              one.id === visit.session.id
                ? <span class="tag ok">this one</span>
                : mayManage
                ? <EndSession item={one} visit={visit} />
                : null,
          },
        ]}
      />
    </section>
  );
}

function Warnings(
  { webhook }: { readonly webhook: Webhook },
): JSX.Element {
  return (
    <section class="card">
      <h2>Warnings by webhook</h2>
      {webhook.url === undefined
        ? (
          <p class="soft">
            None: the gateway's operator can have warnings of limits and of the
            balance sent to an address.
          </p>
        )
        : (
          <>
            <p>
              Sent to <Foreign text={new URL(webhook.url).host} />;{" "}
              {countText(webhook.pending)} waiting
              {webhook.lastError === undefined ? "." : (
                <>
                  , the last attempt failed:{" "}
                  <Foreign text={webhook.lastError} />
                </>
              )}
            </p>
            {webhook.deliveries.length === 0 ? null : (
              <DataTable
                name="Warnings that were sent"
                rows={webhook.deliveries}
                columns={[
                  {
                    name: "Time (UTC)",
                    cell: ({ atMs }) => <Moment atMs={atMs} />,
                  },
                  {
                    name: "Message",
                    cell: ({ type }) => <code>{type}</code>,
                  },
                  {
                    name: "Outcome",
                    cell: ({ error }) =>
                      error === undefined ? "delivered" : "given up",
                  },
                ]}
              />
            )}
          </>
        )}
    </section>
  );
}

function EndSession(
  { item, visit }: {
    readonly item: SessionRecord;
    readonly visit: AccountVisit;
  },
) {
  return (
    <form method="post" action="/console/access/sessions/end">
      <FormToken visit={visit} />
      <input type="hidden" name="id" value={item.id} />
      <button class="link" type="submit">End</button>
    </form>
  );
}

/** Whether a token opens anything, and until when. */
export function TokenState(
  { item, nowMs }: {
    readonly item: Pick<TokenRecord, "revokedAtMs" | "expiresAtMs">;
    readonly nowMs: number;
  },
): JSX.Element {
  if (item.revokedAtMs !== undefined) {
    return <span class="tag bad">revoked</span>;
  }
  return item.expiresAtMs <= nowMs
    ? <span class="tag bad">ended</span>
    : (
      <span class="tag ok">
        ends <Distance atMs={item.expiresAtMs} nowMs={nowMs} />
      </span>
    );
}

async function issueToken(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const { token } = await runAccountOperation(
    context,
    visit,
    "issueAccountToken",
    operationInput(visit, { name: visit.form.get("name") ?? "" }),
  );
  return page(
    context,
    visit,
    { title: "New account token", nav: "/console/access" },
    <NewSecret
      text={typeof token === "string" ? token : undefined}
      noun="token"
      done="/console/access"
    />,
  );
}

async function revokeToken(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  await runAccountOperation(
    context,
    visit,
    "revokeAccountToken",
    operationInput(visit, {}, visit.form.get("id") ?? ""),
  );
  return seeOther("/console/access");
}

async function endSession(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const id = visit.form.get("id") ?? "";
  const { sessions } = administrationOf(context, visit);
  if (!await sessions.endOf(visit.holder.accountId, id)) {
    throw new ApiError("not_found", "there is no such session", {
      retryable: false,
    });
  }
  return seeOther("/console/access");
}
