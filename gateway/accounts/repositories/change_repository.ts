/**
 * Reads the changes that people and programs made, and records those that no other repository
 * writes: refused sign-ins and the configuration.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import { invalidField } from "../../../translate/model/error.ts";
import { type JsonObject, parseJson } from "../../../translate/bytes/json.ts";
import { isObject } from "../../../translate/bytes/json.ts";
import {
  type Action,
  type ActorKind,
  CHANGE,
  type Change,
  type ChangeRecord,
  difference,
  firstChangeId,
} from "../changes/change.ts";
import { allPages } from "../reports/all_pages.ts";
import { recordFrom } from "../rows/record_rows.ts";
import { textOf } from "../store/store.ts";
import {
  type ListPage,
  listPage,
  pageLimit,
  type PageRequest,
} from "./list_page.ts";
import {
  type Changed,
  conditionsOf,
  readReport,
  type RepositoryContext,
  writeChange,
} from "./repository.ts";

/** Which changes. An absent filter matches all. */
export interface ChangeQuery extends PageRequest {
  /** Id of the account that they belong to. */
  readonly accountId?: string;
  /** What was done. */
  readonly action?: Action;
  /** Id of the changed record. */
  readonly target?: string;
  /** Kind of the credential that made them. */
  readonly actorKind?: ActorKind;
  /** Id of the key, token or sign-in link that made them. */
  readonly actorId?: string;
  /** True: without sign-ins and sign-outs, also refused ones. */
  readonly isWithoutSignIns?: boolean;
  /** At or after this Unix time in milliseconds. */
  readonly fromMs?: number;
  /** Before this Unix time in milliseconds. */
  readonly toMs?: number;
}

export interface ChangeRepository {
  /**
   * One page, newest first. The cursor is the last change's id.
   *
   * @throws {ApiError} `invalid_request` for an invalid cursor; `unavailable`
   */
  list(query?: ChangeQuery): Promise<ListPage<ChangeRecord>>;
  /** All matching changes, page by page; for exports. */
  all(query: ChangeQuery): AsyncGenerator<readonly ChangeRecord[], void, void>;
  /** Records a sign-in that was refused. */
  signInRefused(refusal: {
    /** Id of a key that the store knows; absent: the credential is unknown. */
    readonly key?: { readonly keyId: string; readonly accountId: string };
    readonly area: string;
    /** What kind of credential it looks like. */
    readonly credential: string;
    /** The recognisable end of the credential; absent if its checksum is wrong. */
    readonly hint?: string;
    /** Why, where the credential does not show it. */
    readonly reason?: string;
  }): Promise<void>;
  /**
   * Records the configuration in force, unless it is the one that was recorded last, by any
   * process, and `changed` names no secret that is another than before. Neither contains one.
   */
  configurationLoaded(
    hash: string,
    state: JsonObject,
    changed?: readonly string[],
  ): Promise<void>;
  /**
   * Records that the command line wrote cards from a price table into the configuration file whose
   * version is `hash`: `before` and `after` have the amounts that differ.
   */
  pricesImported(
    hash: string,
    origin: { readonly source: string; readonly from: string },
    before: JsonObject,
    after: JsonObject,
  ): Promise<void>;
  /** Records a configuration file that was refused; `reason` contains no secret. */
  configurationRefused(hash: string, reason: string): Promise<void>;
}

export function changeRepository(context: RepositoryContext): ChangeRepository {
  const list = async (
    query: ChangeQuery,
  ): Promise<ListPage<ChangeRecord>> => {
    const limit = pageLimit(query);
    const { fromMs, toMs } = query;
    const { where, values } = conditionsOf([
      ["id <", cursorOf(query.after)],
      ["id >=", fromMs === undefined ? undefined : firstChangeId(fromMs)],
      ["id <", toMs === undefined ? undefined : firstChangeId(toMs)],
      ["account_id =", query.accountId],
      ["action =", query.action],
      ["target =", query.target],
      ["actor_kind =", query.actorKind],
      ["actor_id =", query.actorId],
    ]);
    const more = query.isWithoutSignIns === true ? "AND signs_in IS NULL" : "";
    const rows = await readReport(
      context,
      `SELECT * FROM changes WHERE ${where} ${more} ORDER BY id DESC LIMIT $${
        values.length + 1
      }`,
      [...values, limit + 1],
    );
    return listPage(
      rows.map((row) => recordFrom(CHANGE, row)),
      limit,
      ({ id }) => id,
    );
  };
  const record = (change: Change, actor?: Changed<void>["actor"]) =>
    writeChange<void>(context, () =>
      Promise.resolve({
        reply: undefined,
        changes: [change],
        ...compact({ actor }),
      }));
  return {
    list: (query = {}) => list(query),
    all: (query) =>
      allPages(
        (page) => list({ ...query, ...page }),
        compact({ after: query.after }),
      ),
    signInRefused: ({ key, area, credential, hint, reason }) =>
      record({
        action: "session.refuse",
        target: key?.keyId ?? "",
        ...compact({ accountId: key?.accountId }),
        after: { door: area, credential, ...compact({ hint, reason }) },
      }, { kind: "unknown" }),
    configurationLoaded: (hash, state, changed = []) =>
      writeChange(context, async (sql) => {
        const [row] = await sql.all(
          "SELECT state FROM recorded_configuration WHERE id = 1",
        );
        const before = row === undefined
          ? undefined
          : parseJson(textOf(row, "state"));
        const text = JSON.stringify(state);
        const isSame = row !== undefined && textOf(row, "state") === text;
        if (isSame && changed.length === 0) {
          return { reply: undefined, changes: [] };
        }
        const { after, ...differing } = difference(
          isObject(before) ? before : undefined,
          state,
        );
        await sql.all(
          "INSERT INTO recorded_configuration (id, state) VALUES (1, $1) " +
            "ON CONFLICT (id) DO UPDATE SET state = excluded.state",
          [text],
        );
        return {
          reply: undefined,
          changes: [{
            action: "configuration.load",
            target: hash,
            ...differing,
            after: {
              ...after,
              ...Object.fromEntries(changed.map((name) => [name, "changed"])),
            },
          }],
        };
      }),
    pricesImported: (hash, { source, from }, before, after) =>
      record({
        action: "prices.import",
        target: hash,
        before,
        after: { source, from, ...after },
      }),
    configurationRefused: (hash, reason) =>
      record({
        action: "configuration.refuse",
        target: hash,
        after: { reason },
      }),
  };
}

/** Above every id. */
const ABOVE = "change_~";

function cursorOf(after: string | undefined): string {
  if (after === undefined) return ABOVE;
  if (!/^change_[0-9a-z]{13}$/.test(after)) {
    throw invalidField(
      "after",
      "is not the cursor that an earlier page of the changes ended with",
    );
  }
  return after;
}
