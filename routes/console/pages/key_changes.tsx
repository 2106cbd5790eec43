/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * Rotating and revoking keys, and the page of the key that a session belongs to.
 *
 * @module
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
import { ApiError, invalidField } from "../../../translate/model/error.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { Foreign } from "../parts/data_table.tsx";
import { KeyState, newKeyPage } from "./keys.tsx";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { Moment } from "../parts/moment.tsx";
import { operationInput } from "../http/operation_input.ts";
import { runAccountOperation } from "../http/operations.ts";
import { recordBody, RecordInputs } from "../parts/record_form.tsx";
import { seeOther } from "../http/see_other.ts";

/** A token changes every key of its account, a key only itself. */
export const KEY_CHANGE_ROUTES: readonly AccountPageRoute[] = [
  {
    access: "page",
    area: "account",
    permission: "manage",
    method: "GET",
    path: "/console/keys/limits/:id",
    handle: limitsPage,
  },
  {
    access: "page",
    area: "account",
    permission: "manage",
    method: "POST",
    path: "/console/keys/limits/:id",
    async handle(context, visit) {
      await runAccountOperation(
        context,
        visit,
        "updateAccountKey",
        operationInput(
          visit,
          recordBody(KEY_CHANGES, visit.form, { clears: true }),
          context.parameters["id"],
        ),
      );
      return seeOther("/console/keys");
    },
  },
  {
    access: "page",
    area: "account",
    permission: "manage",
    method: "GET",
    path: "/console/keys/rotate/:id",
    handle: rotatePage,
  },
  {
    access: "page",
    area: "account",
    permission: "manage",
    method: "POST",
    path: "/console/keys/rotate/:id",
    handle: rotate,
  },
  {
    access: "page",
    area: "account",
    permission: "manage",
    method: "GET",
    path: "/console/keys/revoke/:id",
    handle: revokePage,
  },
  {
    access: "page",
    area: "account",
    permission: "manage",
    method: "POST",
    path: "/console/keys/revoke/:id",
    handle: revoke,
  },
  {
    access: "page",
    area: "account",
    permission: "revoke_itself",
    method: "GET",
    path: "/console/key",
    handle: ownKeyPage,
  },
  {
    access: "page",
    area: "account",
    permission: "revoke_itself",
    method: "POST",
    path: "/console/key/revoke",
    handle: revokeOwn,
  },
];

async function limitsPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const key = await ownKey(context, visit);
  return page(
    context,
    visit,
    {
      title: "Name and limits of a key",
      about:
        "They apply beside the plan's. An empty field is no limit; days, weeks and months are in UTC.",
      nav: "/console/keys",
    },
    <form
      class="card form"
      method="post"
      action={`/console/keys/limits/${key.id}`}
    >
      <FormToken visit={visit} />
      <OnceField />
      <RecordInputs fields={KEY_CHANGES} values={recordJson(KEY, key)} />
      <div class="acts">
        <button class="main" type="submit">Change</button>
        <a class="button" href="/console/keys">Cancel</a>
      </div>
    </form>,
  );
}

const OVERLAPS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, "for 24 hours more"],
  [3600, "for an hour more"],
  [604_800, "for 7 days more"],
  [0, "not at all: it ends at once"],
];

async function rotatePage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const key = await ownKey(context, visit);
  return page(
    context,
    visit,
    { title: "Rotate a key", nav: "/console/keys" },
    <form
      class="card form"
      method="post"
      action={`/console/keys/rotate/${key.id}`}
    >
      <FormToken visit={visit} />
      <OnceField />
      <p>
        A new key replaces <KeyName item={key} />{" "}
        with the same models. Both work during the overlap.
      </p>
      <label>
        The old key works
        <select name="overlap_seconds" autofocus>
          {OVERLAPS.map(([seconds, name]) => (
            <option value={String(seconds)}>{name}</option>
          ))}
        </select>
      </label>
      <div class="acts">
        <button class="main" type="submit">Rotate</button>
        <a class="button" href="/console/keys">Cancel</a>
      </div>
    </form>,
  );
}

async function rotate(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const old = await ownKey(context, visit);
  const seconds = Number(visit.form.get("overlap_seconds") ?? "0");
  const reply = await runAccountOperation(
    context,
    visit,
    "rotateAccountKey",
    operationInput(visit, { overlap_seconds: seconds }, old.id),
  );
  const { expiresAtMs } = await ownKey(context, visit);
  return newKeyPage(
    context,
    visit,
    "Rotated",
    reply,
    expiresAtMs === undefined ? undefined : (
      <p class="note" role="status">
        The old key <code>{old.hint}</code>{" "}
        {seconds === 0 ? "no longer works." : (
          <>
            works until <Moment atMs={expiresAtMs} />.
          </>
        )}
      </p>
    ),
  );
}

async function revokePage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const key = await ownKey(context, visit);
  return page(
    context,
    visit,
    { title: "Revoke a key", nav: "/console/keys" },
    <RevokeForm
      item={key}
      visit={visit}
      action={`/console/keys/revoke/${key.id}`}
      back="/console/keys"
    />,
  );
}

async function revoke(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const key = await ownKey(context, visit);
  if (visit.form.get("last_four")?.trim() !== key.hint.slice(-4)) {
    throw invalidField(
      "last_four",
      "must be the last four characters of the key, as the list shows them",
    );
  }
  await runAccountOperation(
    context,
    visit,
    "revokeAccountKey",
    operationInput(visit, {}, key.id),
  );
  return seeOther(`/console/keys?revoked=${key.id}`);
}

/** Asks for the last four characters: a page, no dialogue. */
export function RevokeForm(
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
      <label>
        The key's last four characters
        <small>
          To confirm: <code>{item.hint}</code>
        </small>
        <input
          name="last_four"
          maxLength={4}
          required
          autofocus
          autocomplete="off"
          spellcheck={false}
        />
      </label>
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
        <dl>
          <dt>Name</dt>
          <dd>
            <Foreign text={key.name || "(no name)"} />
          </dd>
          <dt>Key</dt>
          <dd>
            <code>{key.hint}</code>
          </dd>
          <dt>Made</dt>
          <dd>
            <Moment atMs={key.createdAtMs} />
          </dd>
          <dt>State</dt>
          <dd>
            <KeyState item={key} nowMs={gateway.now()} />
          </dd>
        </dl>
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
