/**
 * Rotating and revoking keys, and the page of the key that a session belongs to.
 */
import type { JSX } from "../jsx.d.ts";
import { recordJson } from "../../../gateway/accounts/field.ts";
import {
  KEY,
  KEY_CHANGES,
  type KeyRecord,
} from "../../../gateway/accounts/records.ts";
import type { AccountVisit, Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { OperationInput } from "../../../gateway/admin/operation.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import { ApiError, invalidField } from "../../../translate/model/error.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { Foreign } from "../parts/data_table.tsx";
import { Facts } from "../parts/facts.tsx";
import { type Choice, SelectField, TextField } from "../forms/field.tsx";
import { FormButtons } from "../forms/form_buttons.tsx";
import { KeyState, newKeyPage } from "./keys.tsx";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { Moment } from "../parts/moment.tsx";
import { operationInput } from "../http/operation_input.ts";
import { runAccountOperation } from "../http/operations.ts";
import { recordBody, RecordInputs } from "../forms/record_form.tsx";
import { seeOther } from "../http/see_other.ts";
import { accountPageRoute } from "../http/page_route.ts";

const OVERLAPS: readonly Choice[] = [
  ["86400", "for 24 hours more"],
  ["3600", "for an hour more"],
  ["604800", "for 7 days more"],
  ["0", "not at all: it ends at once"],
];

/** Where keys are changed: in the area of their account, or of operators. */
interface KeyPlace<V extends Visit> {
  readonly list: string;
  find(context: RouteContext, visit: V): Promise<KeyRecord>;
  run(
    context: RouteContext,
    visit: V,
    change: "update" | "rotate" | "revoke",
    input: OperationInput,
  ): Promise<JsonObject>;
  /** Address to go on to after a change. */
  changed(key: KeyRecord, change: "update" | "revoke"): string;
}

/** A form that changes a key, and its submission. */
interface KeyForm<V extends Visit> {
  /** The last part of its path. */
  readonly name: "limits" | "rotate" | "revoke";
  readonly show: (context: RouteContext, visit: V) => Promise<HttpReply>;
  readonly send: (context: RouteContext, visit: V) => Promise<HttpReply>;
}

/** The forms that change the keys of a place. */
export function keyForms<V extends Visit>(
  place: KeyPlace<V>,
): readonly KeyForm<V>[] {
  const { list } = place;
  const actionOf = (name: KeyForm<V>["name"], { id }: KeyRecord): string =>
    `${list}/${name}/${id}`;
  return [
    {
      name: "limits",
      async show(context, visit) {
        const key = await place.find(context, visit);
        return page(
          context,
          visit,
          {
            title: "Name and limits of a key",
            about:
              "They apply beside the plan's. An empty field is no limit; days, weeks and months are in UTC.",
            nav: list,
          },
          <form
            class="card form"
            method="post"
            action={actionOf("limits", key)}
          >
            <FormToken visit={visit} />
            <OnceField />
            <RecordInputs
              visit={visit}
              fields={KEY_CHANGES}
              values={recordJson(KEY, key)}
            />
            <FormButtons text="Change" cancel={`${list}/${key.id}`} />
          </form>,
        );
      },
      async send(context, visit) {
        const key = await place.find(context, visit);
        await place.run(
          context,
          visit,
          "update",
          operationInput(
            visit,
            recordBody(KEY_CHANGES, visit.form, {
              before: recordJson(KEY, key),
            }),
            key.id,
          ),
        );
        return seeOther(place.changed(key, "update"));
      },
    },
    {
      name: "rotate",
      async show(context, visit) {
        const key = await place.find(context, visit);
        return page(
          context,
          visit,
          { title: "Rotate a key", nav: list },
          <form
            class="card form"
            method="post"
            action={actionOf("rotate", key)}
          >
            <FormToken visit={visit} />
            <OnceField />
            <p>
              A new key replaces <KeyName item={key} />{" "}
              with the same models. Both work during the overlap.
            </p>
            <SelectField
              visit={visit}
              name="overlap_seconds"
              title="The old key works"
              value="86400"
              choices={OVERLAPS}
              autofocus
            />
            <FormButtons text="Rotate" cancel={list} />
          </form>,
        );
      },
      async send(context, visit) {
        const old = await place.find(context, visit);
        const seconds = Number(visit.form.get("overlap_seconds") ?? "0");
        const reply = await place.run(
          context,
          visit,
          "rotate",
          operationInput(visit, { overlap_seconds: seconds }, old.id),
        );
        const { expiresAtMs } = await place.find(context, visit);
        return newKeyPage(context, visit, "Rotated", reply, {
          list,
          until: expiresAtMs === undefined
            ? undefined
            : (
              <p class="note" role="status">
                The old key <code>{old.hint}</code>{" "}
                {seconds === 0 ? "no longer works." : (
                  <>
                    works until <Moment atMs={expiresAtMs} />.
                  </>
                )}
              </p>
            ),
        });
      },
    },
    {
      name: "revoke",
      async show(context, visit) {
        const key = await place.find(context, visit);
        return page(
          context,
          visit,
          { title: "Revoke a key", nav: list },
          <RevokeForm
            item={key}
            visit={visit}
            action={actionOf("revoke", key)}
            back={list}
          />,
        );
      },
      async send(context, visit) {
        const key = await place.find(context, visit);
        if (visit.form.get("last_four")?.trim() !== key.hint.slice(-4)) {
          throw invalidField(
            "last_four",
            `must be the last four characters of the key, as ${key.hint} shows them`,
          );
        }
        await place.run(
          context,
          visit,
          "revoke",
          operationInput(visit, {}, key.id),
        );
        return seeOther(place.changed(key, "revoke"));
      },
    },
  ];
}

const ACCOUNT_FORMS = keyForms<AccountVisit>({
  list: "/console/keys",
  find: ownKey,
  run: (context, visit, change, input) =>
    runAccountOperation(context, visit, `${change}AccountKey`, input),
  changed: ({ id }, change) =>
    change === "revoke" ? `/console/keys?revoked=${id}` : "/console/keys",
});

/** A token changes every key of its account, a key only itself. */
export const KEY_CHANGE_ROUTES: readonly AccountPageRoute[] = [
  ...ACCOUNT_FORMS.flatMap(({ name, show, send }): AccountPageRoute[] => {
    const route = {
      access: "page",
      area: "account",
      permission: "manage",
      path: `/console/keys/${name}/:id`,
    } as const;
    return [
      { ...route, method: "GET", handle: show },
      { ...route, method: "POST", handle: send, again: show },
    ];
  }),
  accountPageRoute("revoke_itself", "GET", "/console/key", ownKeyPage),
  accountPageRoute("revoke_itself", "POST", "/console/key/revoke", revokeOwn, {
    again: ownKeyPage,
  }),
];

/** Asks for the last four characters: a page, no dialogue. */
function RevokeForm(
  { item, visit, action, back }: {
    readonly item: KeyRecord;
    readonly visit: Visit;
    readonly action: string;
    readonly back: string;
  },
): JSX.Element {
  return (
    <form class="card form" method="post" action={action}>
      <FormToken visit={visit} />
      <OnceField />
      <p>
        Calls with <KeyName item={item} />{" "}
        are refused at once, and for ever. Its usage stays in the books.
      </p>
      <TextField
        visit={visit}
        name="last_four"
        title="The key's last four characters"
        help={
          <>
            To confirm: <code>{item.hint}</code>
          </>
        }
        maxLength={4}
        required
        autofocus
        autocomplete="off"
        spellcheck={false}
      />
      <div class="acts">
        <button class="danger" type="submit">Revoke</button>
        <a class="button" href={back}>Cancel</a>
      </div>
    </form>
  );
}

function KeyName({ item }: { readonly item: KeyRecord }): JSX.Element {
  return (
    <>
      <b>
        <Foreign text={item.name || "the key"} />
      </b>{" "}
      (<code>{item.hint}</code>)
    </>
  );
}

/**
 * The account's key of the path.
 *
 * @throws {ApiError} `not_found`, also for another account's
 */
export async function ownKey(
  { gateway, parameters }: RouteContext,
  { holder }: AccountVisit,
): Promise<KeyRecord> {
  const id = parameters["id"] ?? "";
  const key = await gateway.admin.keys.get(id);
  if (key.accountId === holder.accountId) return key;
  throw new ApiError("not_found", `there is no key ${id}`, {
    code: "key_not_found",
    retryable: false,
  });
}

async function ownKeyPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const { gateway } = context;
  if (visit.holder.id === "configured") {
    return page(
      context,
      visit,
      { title: "This key" },
      <p class="card">
        This key is the setting GATEWAY_KEY. The gateway's operator changes it
        there.
      </p>,
    );
  }
  const key = await gateway.admin.keys.get(visit.holder.id);
  return page(
    context,
    visit,
    {
      title: "This key",
      about:
        "A key may look at its own usage, and end itself if it has leaked.",
    },
    <>
      <section class="card">
        <Facts
          of={{
            Name: <Foreign text={key.name || "(no name)"} />,
            Key: <code>{key.hint}</code>,
            Made: <Moment atMs={key.createdAtMs} />,
            State: <KeyState item={key} nowMs={gateway.now()} />,
          }}
        />
      </section>
      <h2>Revoke this key</h2>
      <RevokeForm
        item={key}
        visit={visit}
        action="/console/key/revoke"
        back="/console/"
      />
    </>,
  );
}

async function revokeOwn(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  await runAccountOperation(
    context,
    visit,
    "revokeOwnKey",
    operationInput(visit, {
      last_four: visit.form.get("last_four")?.trim() ?? "",
    }),
  );
  // Its session ended with it.
  return seeOther("/console/sign-in?revoked=1");
}
