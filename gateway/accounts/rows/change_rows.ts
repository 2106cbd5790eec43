/**
 * Writes the changes that people and programs make: rows of `changes`.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import {
  type Action,
  type Actor,
  CHANGE,
  type Change,
  changeId,
  changeNumber,
  type ChangeRecord,
  firstChangeId,
} from "../changes/change.ts";
import { insertRow, rowOf } from "./record_rows.ts";
import { credentialName } from "./credential_name.ts";
import { type Sql, textOf, textOrUndefined } from "../store/store.ts";

/**
 * Sign-ins that are kept of one credential: a program that signs in again and again must not fill
 * the store. Every other change is kept for good.
 */
export const KEPT_SIGN_INS = 1000;
/** Refused sign-ins that are kept, of all callers. */
const KEPT_REFUSALS = 10_000;

const SIGN_INS: ReadonlySet<Action> = new Set<Action>([
  "session.start",
  "session.end",
  "session.refuse",
  "sign_in_link.use",
]);

/** Records changes in the write that makes them. */
export async function insertChanges(
  sql: Sql,
  actor: Actor,
  atMs: number,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return;
  const name = actor.name ?? await nameOf(sql, actor);
  const [last] = await sql.all(
    "SELECT id FROM changes WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT 1",
    [firstChangeId(atMs), firstChangeId(atMs + 1)],
  );
  let nth = last === undefined ? 0 : changeNumber(textOf(last, "id")) + 1;
  for (const { action, target, accountId, before, after } of changes) {
    const record: ChangeRecord = {
      id: changeId(atMs, nth++),
      atMs,
      action,
      target,
      ...compact({ accountId }),
      actorKind: actor.kind,
      ...compact({
        actorId: actor.id,
        actorName: name,
        session: actor.session,
      }),
      via: actor.via,
      ...compact({ requestId: actor.requestId, before, after }),
    };
    const signsIn = SIGN_INS.has(action) ? actor.id ?? actor.kind : null;
    await insertRow(sql, "changes", {
      ...rowOf(CHANGE, record),
      signs_in: signsIn,
    });
    if (signsIn !== null) {
      await sql.all(
        "DELETE FROM changes WHERE signs_in = $1 AND id <= (SELECT id FROM changes " +
          "WHERE signs_in = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)",
        [signsIn, actor.kind === "unknown" ? KEPT_REFUSALS : KEPT_SIGN_INS],
      );
    }
  }
}

/** Name and hint of the key or token, or the name of the person that a link was for. */
async function nameOf(sql: Sql, { id, session }: Actor): Promise<
  string | undefined
> {
  if (id === undefined) return undefined;
  if (id.startsWith("link_") || id.startsWith("person_")) {
    const name = await credentialName(sql, id);
    if (name !== undefined || session === undefined) return name;
    // A used code is deleted; its session is not.
    const [row] = await sql.all(
      "SELECT name FROM console_sessions WHERE id = $1",
      [session],
    );
    return row === undefined ? undefined : textOrUndefined(row, "name");
  }
  const table = id.startsWith("token_")
    ? "account_tokens"
    : id.startsWith("optoken_")
    ? "operator_tokens"
    : id.startsWith("key_")
    ? "keys"
    : undefined;
  if (table === undefined) return undefined;
  const [row] = await sql.all(
    `SELECT name, hint FROM ${table} WHERE id = $1`,
    [id],
  );
  return row === undefined
    ? undefined
    : `${textOf(row, "name")} ${textOf(row, "hint")}`.trim();
}
