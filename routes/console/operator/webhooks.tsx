/**
 * Webhooks: where the warnings of accounts are sent, whether they arrive, and the forms that change
 * it.
 */
import type { Children, JSX } from "../jsx.d.ts";
import type {
  Delivery,
  Webhook,
} from "../../../gateway/accounts/repositories/webhook_repository.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { operationInput } from "../http/operation_input.ts";
import { runAdminOperation } from "../http/operations.ts";
import { seeOther } from "../http/see_other.ts";
import { DataTable, Foreign } from "../parts/data_table.tsx";
import { Facts } from "../parts/facts.tsx";
import { AskFirst, askingFirst } from "../forms/ask_first.tsx";
import { TextField } from "../forms/field.tsx";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { countText } from "../parts/money.tsx";
import { Distance, Moment } from "../parts/moment.tsx";
import { sortingOf, sortRows } from "../parts/sorting.ts";
import { NewSecret } from "../forms/new_secret.tsx";
import { AccountLink } from "./account_link.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

const NAV = "/console/operator/webhooks";
const ORDERS = ["account", "host", "waiting", "last"] as const;

/** The list, and the webhook of an account. */
export const WEBHOOKS_PAGES: readonly OperatorPageRoute[] = [
  operatorPageRoute("GET", NAV, listPage, { query: ["sort"] }),
  operatorPageRoute("GET", `${NAV}/:id`, webhookPage),
  operatorPageRoute("POST", `${NAV}/set/:id`, set, { again: webhookPage }),
  ...(["test", "remove"] as const).map((
    name,
  ) =>
    operatorPageRoute(
      "POST",
      `${NAV}/${name}/:id`,
      askingFirst(
        async (context, visit) => {
          const id = idOf(context);
          await runAdminOperation(
            context,
            visit,
            `${name}Webhook`,
            operationInput(visit, {}, id),
          );
          return seeOther(`${NAV}/${encodeURIComponent(id)}`);
        },
        (context) => ({
          title: `Remove the webhook of ${idOf(context)}`,
          text: "Its secret and the messages that wait are lost.",
          back: `${NAV}/${encodeURIComponent(idOf(context))}`,
        }),
      ),
      { again: webhookPage },
    )
  ),
];

function idOf({ parameters }: RouteContext): string {
  return parameters["id"] ?? "";
}

async function listPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { admin, now } = context.gateway;
  const sorting = sortingOf(context, ORDERS, "account");
  const webhooks = sortRows(await admin.webhooks.list(), sorting, {
    account: ({ accountId }) => accountId,
    host: ({ url = "" }) => hostOf(url),
    waiting: ({ pending }) => pending,
    last: ({ deliveries: [last] }) => last?.atMs,
  });
  const nowMs = now();
  return page(
    context,
    visit,
    {
      title: "Webhooks",
      about:
        "Warnings at 80 % and 100 % of a limit, and for a low balance, are sent to these addresses.",
    },
    <section class="card">
      {webhooks.length === 0
        ? (
          <p>
            No account has a webhook yet; the page of an account leads to it.
          </p>
        )
        : (
          <DataTable
            name="Webhooks"
            rows={webhooks}
            columns={[
              {
                name: "Account",
                sort: sorting.link("account"),
                isFirst: true,
                wraps: true,
                cell: ({ accountId }) => (
                  <a href={`${NAV}/${encodeURIComponent(accountId)}`}>
                    <Foreign text={accountId} />
                  </a>
                ),
              },
              {
                name: "State",
                isFirst: true,
                cell: (one) => <State webhook={one} />,
              },
              {
                name: "Host",
                sort: sorting.link("host"),
                wraps: true,
                cell: ({ url = "" }) => <Foreign text={hostOf(url)} />,
              },
              {
                name: "Waiting",
                sort: sorting.link("waiting", "first"),
                number: true,
                cell: ({ pending }) => countText(pending),
              },
              {
                name: "Last message",
                sort: sorting.link("last", "first"),
                cell: ({ deliveries: [last] }) =>
                  last === undefined
                    ? <span class="soft">none yet</span>
                    : <Distance atMs={last.atMs} nowMs={nowMs} />,
              },
            ]}
          />
        )}
    </section>,
  );
}

/** The path of an address often contains a secret. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

function State(
  { webhook: { url, lastError, deliveries: [last] } }: {
    readonly webhook: Webhook;
  },
): JSX.Element {
  if (url === undefined) return <span class="soft">no webhook</span>;
  if (lastError !== undefined) return <span class="tag bad">failing</span>;
  return last === undefined
    ? <span class="soft">not used yet</span>
    : last.error === undefined
    ? <span class="tag ok">delivers</span>
    : <span class="tag bad">given up</span>;
}

async function webhookPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const webhook = await context.gateway.admin.webhooks.get(idOf(context));
  const { accountId, url, pending, lastError, deliveries } = webhook;
  const id = encodeURIComponent(accountId);
  return page(
    context,
    visit,
    {
      title: `Webhook of ${accountId}`,
      about: (
        <>
          Account <AccountLink accountId={accountId} />
        </>
      ),
      nav: NAV,
    },
    <>
      <section class="card">
        <Facts
          of={{
            State: <State webhook={webhook} />,
            Address: url === undefined ? "none" : <Foreign text={url} />,
            Waiting: (
              <>
                {countText(pending)} {lastError === undefined ? "" : (
                  <>
                    ; the last attempt ended with <Foreign text={lastError} />
                  </>
                )}
              </>
            ),
          }}
        />
        {url === undefined ? null : (
          <div class="acts">
            <SmallForm visit={visit} action={`${NAV}/test/${id}`}>
              <button type="submit">Send a test</button>
            </SmallForm>
            <SmallForm visit={visit} action={`${NAV}/remove/${id}`}>
              <AskFirst />
              <button class="danger" type="submit">Remove it</button>
            </SmallForm>
          </div>
        )}
      </section>
      <section class="card">
        <h2>{url === undefined ? "Set an address" : "Replace the secret"}</h2>
        <form class="form" method="post" action={`${NAV}/set/${id}`}>
          <FormToken visit={visit} />
          <OnceField />
          <TextField
            visit={visit}
            name="url"
            title="Address"
            help="https://…; each time that it is set, messages are signed with a new secret"
            value={url ?? ""}
            type="url"
            maxLength={2000}
            required
          />
          <div>
            <button class="main" type="submit">
              {url === undefined ? "Set it" : "Set it, with a new secret"}
            </button>
          </div>
        </form>
      </section>
      <section class="card">
        <h2>Messages that were sent</h2>
        {deliveries.length === 0
          ? <p class="soft">None yet.</p>
          : (
            <DataTable<Delivery>
              name="Messages"
              rows={deliveries}
              columns={[
                {
                  name: "Time (UTC)",
                  cell: ({ atMs }) => <Moment atMs={atMs} />,
                },
                { name: "Message", cell: ({ type }) => <code>{type}</code> },
                {
                  name: "Outcome",
                  wraps: true,
                  cell: ({ error }) =>
                    error === undefined
                      ? <span class="tag ok">delivered</span>
                      : (
                        <>
                          <span class="tag bad">given up</span>{" "}
                          <Foreign text={error} />
                        </>
                      ),
                },
                {
                  name: "Attempts",
                  number: true,
                  cell: ({ attempts }) => countText(attempts),
                },
                {
                  name: "Id",
                  cell: ({ id: message }) => <code>{message}</code>,
                },
              ]}
            />
          )}
      </section>
    </>,
  );
}

function SmallForm(
  { visit, action, children }: {
    readonly visit: Visit;
    readonly action: string;
    readonly children: Children;
  },
): JSX.Element {
  return (
    <form method="post" action={action}>
      <FormToken visit={visit} />
      <OnceField />
      {children}
    </form>
  );
}

async function set(context: RouteContext, visit: Visit): Promise<HttpReply> {
  const id = idOf(context);
  const { secret } = await runAdminOperation(
    context,
    visit,
    "setWebhook",
    operationInput(visit, { url: visit.form.get("url")?.trim() ?? "" }, id),
  );
  return page(
    context,
    visit,
    { title: "New webhook secret", nav: NAV },
    <NewSecret
      text={typeof secret === "string" ? secret : undefined}
      noun="secret"
      about={<>The receiver verifies the signatures of messages with it.</>}
      done={`${NAV}/${encodeURIComponent(id)}`}
    />,
  );
}
