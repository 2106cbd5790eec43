/**
 * Admin operations on the changes that people and programs made.
 */
import { z } from "zod";
import { compact } from "../../translate/bytes/compact.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { recordJson, replyShape } from "../accounts/field.ts";
import {
  type Action,
  ACTIONS,
  ACTOR_KINDS,
  CHANGE,
  type ChangeRecord,
} from "../accounts/changes/change.ts";
import type { ChangeQuery } from "../accounts/repositories/change_repository.ts";
import { timestampOrDay } from "../accounts/values.ts";
import { check } from "../../translate/model/schema.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import { type AdminOperation, query } from "./operation.ts";
import { listJson, listOf, PAGE_FIELDS, pageOf, timeMs } from "./pages.ts";

/** JSON form of a change. */
const changeReply: z.ZodType = z.object({
  object: z.literal("change"),
  ...replyShape(CHANGE),
});

/** A change as the API replies with it. */
export function changeJson(change: ChangeRecord): JsonObject {
  return { object: "change", ...recordJson(CHANGE, change) };
}

/** The filters of the list, of the page and of its file. */
export const CHANGE_FILTERS = {
  account: z.string().max(64).optional(),
  action: z.enum<readonly Action[]>(ACTIONS).optional(),
  target: z.string().max(200).optional().describe(
    "id of what was changed, such as a plan or a key",
  ),
  actor: z.enum(ACTOR_KINDS).optional().describe("kind of the credential"),
  actor_id: z.string().max(64).optional().describe(
    "id of the key, token or sign-in link that made the change",
  ),
  from: timestampOrDay.optional().describe("changes at or after this time"),
  to: timestampOrDay.optional().describe("changes before this time"),
};

const filters = z.strictObject(CHANGE_FILTERS);

/**
 * The filters as a query of the repository.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function changeQuery(fields: JsonObject): ChangeQuery {
  return queryOf(check(filters, fields));
}

/**
 * A change as the account sees that it belongs to: of an operator, of the command line and of the
 * gateway it has the kind alone, without the person's name and session.
 */
export function ownChange(change: ChangeRecord): ChangeRecord {
  const { actorKind } = change;
  if (
    actorKind !== "operator" && actorKind !== "command_line" &&
    actorKind !== "gateway"
  ) return change;
  const { actorId: _id, actorName: _name, session: _session, ...shown } =
    change;
  return shown;
}

const { account: _, ...OWN_FILTERS } = CHANGE_FILTERS;

export const ownChangesQuery: z.ZodObject<
  typeof PAGE_FIELDS & typeof OWN_FILTERS,
  z.core.$strict
> = z.strictObject({ ...PAGE_FIELDS, ...OWN_FILTERS });

/** JSON form of a page of changes. */
export const changeListReply: z.ZodType = listOf(changeReply);

/**
 * One page of the changes that belong to an account, newest first.
 *
 * @throws {ApiError} `invalid_request` for an invalid cursor; `unavailable`
 */
export async function ownChanges(
  admin: Admin,
  accountId: string,
  { limit, after, ...filters }: z.infer<typeof ownChangesQuery>,
): Promise<JsonObject> {
  return listJson(
    await admin.changes.list({
      ...queryOf({ ...filters, account: accountId }),
      ...pageOf({ limit, after }),
    }),
    (change) => changeJson(ownChange(change)),
  );
}

function queryOf(query: z.infer<typeof filters>): ChangeQuery {
  const { account, action, target, actor, actor_id, from, to } = query;
  return compact({
    accountId: account,
    action,
    target,
    actorKind: actor,
    actorId: actor_id,
    fromMs: timeMs(from),
    toMs: timeMs(to),
  });
}

export const CHANGE_OPERATIONS: readonly AdminOperation[] = [
  query({
    operationId: "listChanges",
    summary:
      "List who changed what, newest first: by page, API and command line, with the values before and after",
    path: "/admin/v1/changes",
    query: z.strictObject({ ...PAGE_FIELDS, ...CHANGE_FILTERS }),
    reply: listOf(changeReply),
    run: async (admin, { limit, after, ...rest }) =>
      listJson(
        await admin.changes.list({
          ...queryOf(rest),
          ...pageOf({ limit, after }),
        }),
        changeJson,
      ),
  }),
];
