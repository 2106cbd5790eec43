/**
 * What an operator changes of one account: its settings, its balance, and who may enter.
 */
import { z } from "zod";
import { compact } from "../../../translate/bytes/compact.ts";
import type { JSX } from "../jsx.d.ts";
import { recordJson } from "../../../gateway/accounts/field.ts";
import { ACCOUNT } from "../../../gateway/accounts/records.ts";
import { displayName, microUsd } from "../../../gateway/accounts/values.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { newKeyBody, NewKeyForm, newKeyPage } from "../pages/keys.tsx";
import { type Choice, SelectField, TextField } from "../forms/field.tsx";
import { askingFirst, type Question } from "../forms/ask_first.tsx";
import { FormButtons } from "../forms/form_buttons.tsx";
import { Moment } from "../parts/moment.tsx";
import { baseUrl } from "../http/base_url.ts";
import { Foreign } from "../parts/data_table.tsx";
import { Facts } from "../parts/facts.tsx";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { Money } from "../parts/money.tsx";
import { NewSecret } from "../forms/new_secret.tsx";
import { fieldBody, inParts } from "../http/form_faults.ts";
import { operationInput } from "../http/operation_input.ts";
import { runAdminOperation } from "../http/operations.ts";
import { microUsdOf } from "../../../gateway/admin/dollars.ts";
import { recordBody, RecordInputs } from "../forms/record_form.tsx";
import { seeOther } from "../http/see_other.ts";
import { accountPage } from "./account_page.tsx";
import { planChoices } from "./plan_choices.ts";
import { ScopeField } from "./scope_field.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

const NAV = "/console/operator/accounts";
const SCOPE = z.enum(["read", "manage"]);
const DAY_MS = 24 * 60 * 60 * 1000;
const { id: _id, status: _status, ...CHANGEABLE } = ACCOUNT;

/** Change, suspend, top up, sign-in links, tokens and keys. */
export const ACCOUNT_CHANGE_PAGES: readonly OperatorPageRoute[] = [
  operatorPageRoute("GET", `${NAV}/change/:id`, changePage),
  operatorPageRoute("POST", `${NAV}/change/:id`, async (context, visit) => {
    const account = await context.gateway.admin.accounts.get(idOf(context));
    const before = recordJson(ACCOUNT, account);
    return await change(
      context,
      visit,
      recordBody(CHANGEABLE, visit.form, { before }),
    );
  }, { scope: "billing", again: changePage }),
  operatorPageRoute(
    "POST",
    `${NAV}/status/:id`,
    askingFirst(
      (context, visit) =>
        change(context, visit, { status: visit.form.get("status") ?? "" }),
      (context) => ({
        title: `Suspend ${idOf(context)}`,
        text: "Its calls are refused from now on, until it is resumed.",
        back: pathOf(context),
      }),
    ),
    { scope: "billing", again: accountPage },
  ),
  operatorPageRoute(
    "POST",
    `${NAV}/top-up/:id`,
    askingFirst(topUp, topUpQuestion),
    { scope: "billing", again: accountPage },
  ),
  operatorPageRoute("POST", `${NAV}/link/:id`, makeLink, {
    scope: "keys",
    again: accountPage,
  }),
  operatorPageRoute("GET", `${NAV}/token/:id`, tokenPage),
  operatorPageRoute("POST", `${NAV}/token/:id`, makeToken, {
    scope: "keys",
    again: tokenPage,
  }),
  operatorPageRoute(
    "POST",
    `${NAV}/revoke-token/:id`,
    askingFirst(
      async (context, visit) => {
        await runAdminOperation(
          context,
          visit,
          "revokeToken",
          operationInput(visit, {}, visit.form.get("token") ?? ""),
        );
        return seeOther(pathOf(context));
      },
      (context) => ({
        title: `Revoke the token of ${idOf(context)}`,
        text: "It is refused at once and for ever, and its sessions end.",
        back: pathOf(context),
      }),
    ),
    { scope: "keys" },
  ),
  operatorPageRoute("GET", `${NAV}/revoke-keys/:id`, revokeKeysPage),
  operatorPageRoute("POST", `${NAV}/revoke-keys/:id`, revokeKeys, {
    scope: "keys",
    again: revokeKeysPage,
  }),
  operatorPageRoute("GET", `${NAV}/key/:id`, keyFormPage),
  operatorPageRoute("POST", `${NAV}/key/:id`, makeKey, {
    scope: "keys",
    again: keyFormPage,
  }),
];

function idOf({ parameters }: RouteContext): string {
  return parameters["id"] ?? "";
}

/** The page of the account. */
function pathOf(context: RouteContext): string {
  return `${NAV}/${encodeURIComponent(idOf(context))}`;
}

async function change(
  context: RouteContext,
  visit: Visit,
  body: Readonly<Record<string, unknown>>,
): Promise<HttpReply> {
  await runAdminOperation(
    context,
    visit,
    "updateAccount",
    operationInput(visit, body, idOf(context)),
  );
  return seeOther(pathOf(context));
}

async function changePage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { admin } = context.gateway;
  const account = await admin.accounts.get(idOf(context));
  const id = encodeURIComponent(account.id);
  return page(
    context,
    visit,
    { title: `Change ${account.id}`, nav: NAV },
    <form class="card form" method="post" action={`${NAV}/change/${id}`}>
      <FormToken visit={visit} />
      <OnceField />
      <RecordInputs
        visit={visit}
        fields={CHANGEABLE}
        values={recordJson(ACCOUNT, account)}
        choices={{ plan: await planChoices(admin) }}
      />
      <FormButtons text="Change" cancel={`${NAV}/${id}`} />
    </form>,
  );
}

async function topUpQuestion(
  context: RouteContext,
  { form }: Visit,
): Promise<Question> {
  const account = await context.gateway.admin.accounts.get(idOf(context));
  const { micro_usd, note = "none" } = topUpBody(form);
  const amount = Number(micro_usd);
  return {
    title: `Top up ${account.id}`,
    text: (
      <Facts
        of={{
          "Balance now": (
            <Money microUsd={account.balanceMicroUsd} decimals={6} />
          ),
          "Top-up": <Money microUsd={amount} decimals={6} />,
          "Balance then": (
            <Money microUsd={account.balanceMicroUsd + amount} decimals={6} />
          ),
          Note: <Foreign text={`${note}`} />,
        }}
      />
    ),
    back: pathOf(context),
    button: "Confirm",
  };
}

/** Amount and note, for the operation. */
function topUpBody(form: URLSearchParams): Readonly<Record<string, unknown>> {
  return inParts(
    () => {
      const amount = microUsdOf("usd", form.get("usd")?.trim() ?? "");
      if (amount === 0) throw invalidField("usd", "must not be $0");
      return fieldBody("micro_usd", microUsd, amount);
    },
    () => nameBody(form, "note"),
  );
}

/** A text for people; an empty one is left out. */
function nameBody(
  form: URLSearchParams,
  field: string,
): Readonly<Record<string, unknown>> {
  const text = form.get(field)?.trim() ?? "";
  return text === "" ? {} : fieldBody(field, displayName, text);
}

function scopeBody(form: URLSearchParams): Readonly<Record<string, unknown>> {
  return fieldBody("scope", SCOPE, form.get("scope") ?? "read");
}

async function topUp(context: RouteContext, visit: Visit): Promise<HttpReply> {
  await runAdminOperation(
    context,
    visit,
    "topUpAccount",
    operationInput(visit, topUpBody(visit.form), idOf(context)),
  );
  return seeOther(pathOf(context));
}

async function revokeKeysPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { id: account } = await context.gateway.admin.accounts.get(
    idOf(context),
  );
  const id = encodeURIComponent(account);
  return page(
    context,
    visit,
    { title: `Revoke all keys of ${account}`, nav: NAV },
    <form class="card form" method="post" action={`${NAV}/revoke-keys/${id}`}>
      <FormToken visit={visit} />
      <OnceField />
      <p>
        Calls with every key of the account are refused at once, and for ever.
        Its usage stays in the books.
      </p>
      <TextField
        visit={visit}
        name="account"
        title="Id of the account"
        help={
          <>
            To confirm: <code>{account}</code>
          </>
        }
        required
        autofocus
        autocomplete="off"
        spellcheck={false}
      />
      <div class="acts">
        <button class="danger" type="submit">Revoke all keys</button>
        <a class="button" href={`${NAV}/${id}`}>Cancel</a>
      </div>
    </form>,
  );
}

async function revokeKeys(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const id = idOf(context);
  if (visit.form.get("account")?.trim() !== id) {
    throw invalidField("account", `must be ${id}`);
  }
  await runAdminOperation(
    context,
    visit,
    "revokeAllKeys",
    operationInput(visit, {}, id),
  );
  return seeOther(pathOf(context));
}

async function makeLink(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const id = idOf(context);
  const { form } = visit;
  const name = form.get("name")?.trim() ?? "";
  const reply = await runAdminOperation(
    context,
    visit,
    "createSignInLink",
    operationInput(visit, {
      account: id,
      ...inParts(() => nameBody(form, "name"), () => scopeBody(form)),
    }),
  );
  return shownOnce(
    context,
    visit,
    "sign-in link",
    `${baseUrl(context)}${reply["path"]}`,
    <>
      Give it to {name === "" ? "the person" : <Foreign text={name} />}{" "}
      alone: it opens the account <Foreign text={id} /> once, until{" "}
      <Moment atMs={Date.parse(String(reply["expires_at"]))} />, to{" "}
      {reply["scope"] === "manage" ? "look and to manage its keys" : "look"}.
      Whoever opens it first is in.
    </>,
  );
}

async function tokenPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const account = await context.gateway.admin.accounts.get(idOf(context));
  const id = encodeURIComponent(account.id);
  return page(
    context,
    visit,
    {
      title: `Account token for ${account.id}`,
      about:
        "It opens the console and the API under /v1/account until it ends.",
      nav: NAV,
    },
    <form class="card form" method="post" action={`${NAV}/token/${id}`}>
      <FormToken visit={visit} />
      <OnceField />
      <TextField
        visit={visit}
        name="name"
        title="Name"
        help="The person or program that it is for"
        maxLength={200}
        required
        autofocus
      />
      <ScopeField visit={visit} />
      <SelectField
        visit={visit}
        name="days"
        title="Ends"
        value="90"
        choices={TOKEN_AGES}
      />
      <FormButtons text="Make the token" cancel={`${NAV}/${id}`} />
    </form>,
  );
}

const TOKEN_AGES: readonly Choice[] = [
  ["7", "in 7 days"],
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in a year"],
];

async function makeToken(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { form } = visit;
  const todayMs = Math.floor(context.gateway.now() / DAY_MS) * DAY_MS;
  const { token } = await runAdminOperation(
    context,
    visit,
    "issueToken",
    operationInput(visit, {
      account: idOf(context),
      ...inParts(
        () => fieldBody("name", displayName, form.get("name")?.trim() ?? ""),
        () => scopeBody(form),
        () => {
          const days = form.get("days") ?? "90";
          if (!TOKEN_AGES.some(([age]) => age === days)) {
            throw invalidField("days", "choose one");
          }
          return {
            expires_at: new Date(todayMs + (Number(days) + 1) * DAY_MS)
              .toISOString(),
          };
        },
      ),
    }),
  );
  return shownOnce(context, visit, "account token", token);
}

async function keyFormPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const account = await context.gateway.admin.accounts.get(idOf(context));
  const back = `${NAV}/${encodeURIComponent(account.id)}`;
  return page(
    context,
    visit,
    { title: `API key for ${account.id}`, nav: NAV },
    <NewKeyForm
      context={context}
      visit={visit}
      action={`${NAV}/key/${encodeURIComponent(account.id)}`}
      back={back}
    />,
  );
}

async function makeKey(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const account = idOf(context);
  const reply = await runAdminOperation(
    context,
    visit,
    "issueKey",
    operationInput(visit, {
      account,
      ...newKeyBody(visit.form, context.gateway.now()),
    }),
  );
  return newKeyPage(context, visit, "New key", reply, {
    list: "/console/operator/keys",
    done: `${NAV}/${encodeURIComponent(account)}`,
  });
}

/** The page of a new secret, which cannot be shown again. */
function shownOnce(
  context: RouteContext,
  visit: Visit,
  noun: string,
  text: unknown,
  about?: JSX.Element,
): HttpReply {
  return page(
    context,
    visit,
    { title: `New ${noun}`, nav: NAV },
    <NewSecret
      text={typeof text === "string" ? text : undefined}
      noun={noun}
      {...compact({ about })}
      done={pathOf(context)}
    />,
  );
}
