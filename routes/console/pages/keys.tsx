/**
 * The keys of an account: list, issue, rotate, revoke.
 */
import { generates } from "../../../gateway/upstream/catalogue/models.ts";
import type { JSX } from "../jsx.d.ts";
import {
  KEY,
  KEY_CHANGES,
  type KeyRecord,
  LIMITS,
} from "../../../gateway/accounts/records.ts";
import {
  KEY_ORDERS,
  type KeyOrder,
} from "../../../gateway/accounts/reports/key_list.ts";
import { accountModels } from "../../../gateway/console/account_models.ts";
import { isPermitted } from "../../../gateway/accounts/credential_kind.ts";
import type { KeyState as State } from "../../../gateway/accounts/ledger/key_state.ts";
import { limitLevels } from "../../../gateway/accounts/limits/limit_levels.ts";
import type { AccountVisit, Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { baseUrl } from "../http/base_url.ts";
import { type Choice, SelectField, TextField } from "../forms/field.tsx";
import { NarrowForm } from "../forms/narrowing.tsx";
import { ModelChoice } from "../forms/model_choice.tsx";
import { type Column, DataTable, Foreign } from "../parts/data_table.tsx";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { ledgerLink } from "../parts/figure_links.ts";
import { LimitMeter } from "../parts/limit_cards.tsx";
import { listCsv } from "../csv/list_csv.ts";
import { countText, decimalsOf, Money } from "../parts/money.tsx";
import { Distance, LastUsed, Moment } from "../parts/moment.tsx";
import { NewSecret } from "../forms/new_secret.tsx";
import { inParts } from "../http/form_faults.ts";
import { operationInput } from "../http/operation_input.ts";
import { runAccountOperation } from "../http/operations.ts";
import { recordBody, RecordInputs } from "../forms/record_form.tsx";
import { Snippet } from "../parts/snippet.tsx";
import { offsetOf, type Sorting, sortingOf } from "../parts/sorting.ts";
import { accountPageRoute } from "../http/page_route.ts";

export const KEYS_ROUTES: readonly AccountPageRoute[] = [
  accountPageRoute("see_account", "GET", "/console/keys", listPage, {
    query: ["q", "sort", "page", "revoked"],
  }),
  accountPageRoute(
    "see_account",
    "GET",
    "/console/keys.csv",
    ({ gateway }, { holder: { accountId } }) =>
      listCsv(
        "keys",
        KEY,
        (page) => gateway.admin.keys.list({ accountId, ...page }),
      ),
  ),
  accountPageRoute("manage", "GET", "/console/keys/new", newPage),
  accountPageRoute("manage", "POST", "/console/keys/new", issue, {
    again: newPage,
  }),
];

const PAGE_LENGTH = 100;
const DAY_MS = 24 * 60 * 60 * 1000;

async function listPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const { gateway, query } = context;
  const sorting = sortingOf(context, KEY_ORDERS, "-made");
  const pages = offsetOf(context, PAGE_LENGTH);
  const part = query.get("q")?.trim() ?? "";
  const { data: keys, hasMore } = await gateway.admin.listKeys({
    accountId: visit.holder.accountId,
    part,
    order: sorting.by,
    isDescending: sorting.isDescending,
    ...pages.range,
  });
  const nowMs = gateway.now();
  const day = (atMs: number): string =>
    new Date(atMs).toISOString().slice(0, 10);
  const days = { from: day(nowMs - 29 * DAY_MS), to: day(nowMs) };
  const spent = await gateway.admin.costOfKeys({
    accountId: visit.holder.accountId,
    keyIds: keys.map(({ id }) => id),
    fromDay: days.from,
    toDay: days.to,
  });
  const states = await gateway.admin.keyStates(keys.map(({ id }) => id));
  const mayManage = isPermitted(visit.holder.kind, "manage");
  const done = query.get("revoked");
  return page(
    context,
    visit,
    {
      title: "Keys",
      about:
        "API keys call models. Only a key's first and last characters are kept.",
      actions: (
        <>
          <a class="button" href="/console/keys.csv">CSV</a>
          {mayManage
            ? <a class="button main" href="/console/keys/new">New key</a>
            : null}
        </>
      ),
    },
    <>
      {done === null ? null : (
        <p class="note" role="status">
          The key is revoked: from now on its calls are refused.
        </p>
      )}
      <NarrowForm
        address={context}
        visit={visit}
        title={KEY_PART.title}
        count={keys.length}
      />
      <section class="card">
        {keys.length === 0 && part !== "" ? <p>No keys match.</p> : null}
        {keys.length === 0
          ? part !== "" ? null : (
            <p>
              No keys yet. A program needs one to call models. {mayManage
                ? <a href="/console/keys/new">Make the first key</a>
                : null}
            </p>
          )
          : (
            <DataTable
              name="Keys"
              rows={keys}
              columns={keyColumns(
                nowMs,
                mayManage,
                days,
                spent,
                states,
                new Set(keys.map(({ replaces = "" }) => replaces)),
                sorting,
              )}
            />
          )}
        {hasMore
          ? (
            <p>
              <a href={pages.next}>More keys</a>
            </p>
          )
          : null}
      </section>
    </>,
  );
}

function keyColumns(
  nowMs: number,
  mayManage: boolean,
  days: { readonly from: string; readonly to: string },
  spent: ReadonlyMap<string, number>,
  states: ReadonlyMap<string, State>,
  /** Ids of keys that others on the page replace. */
  replaced: ReadonlySet<string>,
  sorting: Sorting<KeyOrder>,
): readonly Column<KeyRecord>[] {
  return [
    {
      name: "Name",
      sort: sorting.link("name"),
      isFirst: true,
      wraps: true,
      cell: (key) => <KeyName list="/console/keys" item={key} />,
    },
    {
      name: "Models",
      cell: (key) =>
        key.models === undefined ? "all" : countText(key.models.length),
    },
    {
      name: "Made",
      sort: sorting.link("made", "first"),
      cell: (key) => <Moment atMs={key.createdAtMs} of="day" />,
    },
    {
      name: "Last used",
      sort: sorting.link("used", "first"),
      cell: (key) => <LastUsed atMs={key.lastUsedAtMs} nowMs={nowMs} />,
    },
    {
      name: "30 days",
      number: true,
      cell: ({ id }) => (
        <a href={ledgerLink("/console", { ...days, key: id })}>
          <Money
            microUsd={spent.get(id) ?? 0}
            decimals={decimalsOf([...spent.values()])}
          />
        </a>
      ),
    },
    {
      name: "Limits of its own",
      cell: ({ id }) => <KeyMeters state={states.get(id)} nowMs={nowMs} />,
    },
    {
      name: "State",
      isFirst: true,
      cell: (key) => (
        <KeyState item={key} nowMs={nowMs} isReplaced={replaced.has(key.id)} />
      ),
    },
    ...(mayManage
      ? [{
        name: "",
        cell: (key: KeyRecord) =>
          isUsable(key, nowMs)
            ? (
              <span class="acts">
                <a href={`/console/keys/limits/${key.id}`}>Limits</a>
                <a href={`/console/keys/rotate/${key.id}`}>Rotate</a>
                <a href={`/console/keys/revoke/${key.id}`}>Revoke</a>
              </span>
            )
            : null,
      }]
      : []),
  ];
}

/** A key's name, with the way to its page, and its hint. */
export function KeyName(
  { list, item: { id, name, hint } }: {
    readonly list: string;
    readonly item: KeyRecord;
  },
): JSX.Element {
  return (
    <>
      <a href={`${list}/${id}`}>
        <Foreign text={name || "(no name)"} />
      </a>
      <code class="id">{hint}</code>
    </>
  );
}

/** Finds keys by a part of their name or hint. */
export const KEY_PART = {
  of: "text",
  name: "q",
  title: "Name or key",
} as const;

/** Whether a key is neither revoked nor at its end. */
export function isUsable(key: KeyRecord, nowMs: number): boolean {
  return key.revokedAtMs === undefined &&
    (key.expiresAtMs === undefined || nowMs < key.expiresAtMs);
}

/** How full the limits of a key are; `state` is absent if it has none. */
export function KeyMeters(
  { state, nowMs }: {
    readonly state: State | undefined;
    readonly nowMs: number;
  },
): JSX.Element {
  return state === undefined ? <span class="soft">none</span> : (
    <>
      {limitLevels("key", state.use, state.limits, nowMs).map((level) => (
        <LimitMeter level={level} nowMs={nowMs} />
      ))}
    </>
  );
}

/** Whether a key works, and until when. */
export function KeyState(
  { item, nowMs, isReplaced = false }: {
    readonly item: KeyRecord;
    readonly nowMs: number;
    /** Whether another key replaces it. */
    readonly isReplaced?: boolean;
  },
): JSX.Element {
  const { revokedAtMs, expiresAtMs } = item;
  if (revokedAtMs !== undefined) {
    return (
      <span class="tag bad">
        revoked <Moment atMs={revokedAtMs} of="day" />
      </span>
    );
  }
  if (expiresAtMs === undefined) return <span class="tag ok">works</span>;
  return expiresAtMs <= nowMs
    ? (
      <span class="tag bad">
        ended <Moment atMs={expiresAtMs} of="day" />
      </span>
    )
    : (
      <span class="tag warn">
        {isReplaced ? "replaced" : "works"}, ends{" "}
        <Distance atMs={expiresAtMs} nowMs={nowMs} />
      </span>
    );
}

const EXPIRIES: readonly Choice[] = [
  ["", "never"],
  ["7", "in 7 days"],
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in a year"],
];

function newPage(context: RouteContext, visit: AccountVisit): HttpReply {
  return page(
    context,
    visit,
    { title: "New key", nav: "/console/keys" },
    <NewKeyForm
      context={context}
      visit={visit}
      action="/console/keys/new"
      back="/console/keys"
    />,
  );
}

export function NewKeyForm(
  { context, visit, action, back }: {
    readonly context: RouteContext;
    readonly visit: Visit;
    readonly action: string;
    readonly back: string;
  },
): JSX.Element {
  return (
    <form class="card form" method="post" action={action}>
      <FormToken visit={visit} />
      <OnceField />
      <TextField
        visit={visit}
        name="name"
        title="Name"
        help="Where it is used: a program, a machine, a person"
        maxLength={200}
        autofocus
        required
      />
      <SelectField visit={visit} name="days" title="Ends" choices={EXPIRIES} />
      <ModelChoice
        context={context}
        visit={visit}
        help="None chosen: every model of the plan"
      />
      <details open={visit.problem !== undefined}>
        <summary>Limits of this key, beside the plan's</summary>
        <div class="form">
          <RecordInputs visit={visit} fields={LIMITS} />
        </div>
      </details>
      <div class="acts">
        <button class="main" type="submit">Make the key</button>
        <a class="button" href={back}>Cancel</a>
      </div>
    </form>
  );
}

/** The settings of a new key from its form. */
export function newKeyBody(
  form: URLSearchParams,
  nowMs: number,
): Readonly<Record<string, unknown>> {
  const days = form.get("days") ?? "";
  const models = form.getAll("models");
  // A form that is sent again must be the same request, so the day's start is counted from.
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return inParts(
    () => ({
      name: "",
      ...recordBody({ name: KEY_CHANGES.name }, form),
    }),
    () => {
      if (!/^\d{0,3}$/.test(days)) {
        throw invalidField("days", "must be a number");
      }
      return days === "" ? {} : {
        expires_at: new Date(todayMs + (Number(days) + 1) * DAY_MS)
          .toISOString(),
      };
    },
    () => models.length === 0 ? {} : { models },
    () => recordBody(LIMITS, form),
  );
}

async function issue(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const reply = await runAccountOperation(
    context,
    visit,
    "issueAccountKey",
    operationInput(visit, newKeyBody(visit.form, context.gateway.now())),
  );
  return newKeyPage(context, visit, "New key", reply, {
    list: "/console/keys",
  });
}

/** The page with a new key, whose `key` is null if the form was sent before. */
export async function newKeyPage(
  context: RouteContext,
  visit: Visit,
  title: string,
  { id, account, key: text }: JsonObject,
  { list, done = list, until }: {
    /** Address of the list of keys. */
    readonly list: string;
    /** Address to go on to; absent: the list. */
    readonly done?: string;
    /** How long the old key works. */
    readonly until?: JSX.Element | undefined;
  },
): Promise<HttpReply> {
  const key = typeof text === "string" ? text : undefined;
  const url = baseUrl(context);
  const { admin, models, now } = context.gateway;
  const callable = await accountModels(admin, models, {
    kind: "key",
    id: String(id),
    accountId: String(account),
  }, now());
  const model =
    callable.find(({ model, refusal }) =>
      refusal === undefined && generates(model)
    )?.model.id ?? "MODEL";
  return page(
    context,
    visit,
    { title, nav: list },
    <>
      {until}
      <NewSecret text={key} noun="key" done={done}>
        {key === undefined ? null : (
          <>
            <Snippet
              id="first-call"
              title="A first call"
              text={`curl ${url}/v1/messages -H 'x-api-key: ${key}' \\
  -H 'content-type: application/json' \\
  -d '{"model": "${model}", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}'`}
            />
            {visit.session.kind === "operator" ? null : (
              <p class="soft">
                Lines for programs and coding agents are under{" "}
                <a
                  href={typeof id === "string"
                    ? `/console/connect?key=${encodeURIComponent(id)}`
                    : "/console/connect"}
                >
                  Connect
                </a>, which also shows when the first call arrives.
              </p>
            )}
          </>
        )}
      </NewSecret>
    </>,
  );
}
