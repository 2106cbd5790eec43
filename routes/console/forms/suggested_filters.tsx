/**
 * Filters for accounts, keys and models: with suggestions, and by any part of an id or a name.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { JSX } from "../jsx.d.ts";
import type { AccountScope } from "../../../gateway/admin/account_scope.ts";
import { credentialHints } from "../../../gateway/console/credential_hints.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { RouteContext } from "../../route.ts";
import { seeOther } from "../http/see_other.ts";
import { Foreign } from "../parts/data_table.tsx";
import { TextField } from "./field.tsx";

/** Filters for which a page suggests values. */
export type SuggestedName = "account" | "key" | "model";

interface Suggestion {
  readonly value: string;
  /** What people call it. */
  readonly name: string;
}

/** Filters whose values are looked up. */
type MeantName = SuggestedName | "user";

/** Suggestions of a list: a page has a bounded size. */
const MOST = 100;

/** The filters of a page that are not ids yet. */
interface MeantFilters {
  /** The page with the ids that were meant; absent: nothing has to be replaced. */
  readonly redirect?: HttpReply;
  /** What a filter may mean, where it is several things or none. */
  readonly note: JSX.Element | null;
}

/** Finds what the filters of the address mean. */
export async function meantFilters(
  context: RouteContext,
  scope: Partial<AccountScope>,
  names: readonly MeantName[],
): Promise<MeantFilters> {
  const { query, path } = context;
  const meant = new URLSearchParams(query);
  const notes: JSX.Element[] = [];
  for (const name of names) {
    const text = query.get(name)?.trim() ?? "";
    if (text === "") continue;
    const found = await meanings(context, scope, name, text);
    if (found === undefined) continue;
    const [only, another] = found;
    // An id that looks like a credential stands in no address, which would lead back here.
    if (
      only !== undefined && another === undefined &&
      credentialHints(only.value) === only.value
    ) {
      meant.set(name, only.value);
      continue;
    }
    notes.push(
      <p class="note warn" role="status">
        {found.length === 0 ? `There is no ${name} like ` : `Which ${name}? `}
        {found.length === 0 ? <Foreign text={text} /> : null}
        {found.map(({ value, name: shown }, at) => {
          const search = new URLSearchParams(query);
          search.set(name, value);
          return (
            <>
              {at === 0 ? "" : ", "}
              <a href={`${path}?${search}`}>
                <Foreign text={shown} />
              </a>
            </>
          );
        })}
      </p>,
    );
  }
  return {
    ...(`${meant}` === `${query}`
      ? {}
      : { redirect: seeOther(`${path}?${meant}`) }),
    note: notes.length === 0 ? null : <>{notes}</>,
  };
}

/** What a filter may mean; undefined: it is used as it is, as an id. */
async function meanings(
  { gateway: { admin, models } }: RouteContext,
  scope: Partial<AccountScope>,
  name: MeantName,
  text: string,
): Promise<readonly Suggestion[] | undefined> {
  if (name === "model") {
    if (models.models.some(({ id }) => id === text)) return undefined;
    const part = text.toLowerCase();
    const found = models.models.filter(({ id }) =>
      id.toLowerCase().includes(part)
    );
    // A model that is no longer configured still has calls.
    return found.length === 0
      ? undefined
      : found.slice(0, 20).map(({ id }) => ({ value: id, name: id }));
  }
  if (name === "key") {
    if (/^key_\w{12,}$/.test(text) || text === "configured") return undefined;
    const { keys } = await admin.find(text, scope);
    return keys.map((key) => ({
      value: key.id,
      name: `${key.name || "(no name)"} ${key.hint}`,
    }));
  }
  if (name === "user") {
    // A hint of what was entered: ids of end users are often as random as credentials.
    if (!text.includes("…")) return undefined;
    const { users } = await admin.find(text, scope);
    return [...new Set(users.map(({ user }) => user))]
      .map((user) => ({ value: user, name: user }));
  }
  const { accounts } = await admin.find(text, scope);
  return accounts.some(({ id }) => id === text)
    ? undefined
    : accounts.map(({ id, name: shown }) => ({
      value: id,
      name: shown === id ? id : `${id}: ${shown}`,
    }));
}

/** The lists of suggestions that {@linkcode SuggestedInput} refers to. */
export async function suggestionLists(
  { gateway: { admin, models } }: RouteContext,
  scope: Partial<AccountScope>,
  names: readonly SuggestedName[],
): Promise<JSX.Element> {
  const lists: Record<SuggestedName, readonly Suggestion[]> = {
    model: names.includes("model")
      ? models.models.slice(0, MOST).map(({ id }) => ({ value: id, name: "" }))
      : [],
    key: names.includes("key")
      ? (await admin.keys.list({
        limit: MOST,
        newestFirst: true,
        ...compact({ accountId: scope.accountId }),
      })).data.map(({ id, name, hint }) => ({
        value: id,
        name: `${name} ${hint}`.trim(),
      }))
      : [],
    account: names.includes("account")
      ? (await admin.accounts.list({ limit: MOST })).data.map((
        { id, name },
      ) => ({ value: id, name: name === id ? "" : name }))
      : [],
  };
  return (
    <>
      {names.map((name) => (
        <datalist id={`list-${name}`}>
          {lists[name].map(({ value, name: shown }) => (
            <option key={value} value={value}>{shown}</option>
          ))}
        </datalist>
      ))}
    </>
  );
}

/** A filter with suggestions; any part of an id or a name will do. */
export function SuggestedInput(
  { visit, name, value }: {
    readonly visit: Visit;
    readonly name: SuggestedName;
    readonly value: string;
  },
): JSX.Element {
  return (
    <TextField
      visit={visit}
      name={name}
      title={`${name[0]?.toUpperCase()}${name.slice(1)}`}
      value={value}
      placeholder="all"
      list={`list-${name}`}
      autocomplete="off"
    />
  );
}
