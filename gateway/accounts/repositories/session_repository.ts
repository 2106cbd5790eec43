/**
 * Sessions of the console. The cookie's value is random and is no credential of any API; the store
 * has its hash. Every look-up checks the credential behind the session again.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { Actor } from "../changes/change.ts";
import type { CredentialKind } from "../credential_kind.ts";
import { hashesEqual, keyHash, randomText } from "../key.ts";
import { OPERATOR_SCOPES, type OperatorScope } from "../operator_scope.ts";
import { insertRow, recordFrom, rowOf } from "../rows/record_rows.ts";
import {
  field,
  fields,
  oneOf,
  optional,
  type RecordOf,
  TEXT,
  TIME,
} from "../field.ts";
import { credentialName } from "../rows/credential_name.ts";
import { intOrUndefined, type SqlRow, textOf } from "../store/store.ts";
import {
  newId,
  readRows,
  type RepositoryContext,
  writeChange,
  writeUse,
} from "./repository.ts";

const SESSION = fields({
  id: field(TEXT),
  kind: field(oneOf<CredentialKind>("key", "read", "manage", "operator")),
  // Id of the key, token, sign-in link, or person of the company's issuer; see ADMIN_TOKEN_ID.
  subject: field(TEXT),
  // Absent for an operator.
  accountId: field(optional(TEXT)),
  // Name of the key or token, or of the person that the link is for; absent: not known.
  name: field(optional(TEXT)),
  madeAtMs: field(TIME),
  seenAtMs: field(TIME, { describe: "exact to the minute" }),
  endsAtMs: field(TIME),
});

/** A session's metadata. */
export interface SessionRecord extends RecordOf<typeof SESSION> {
  /** What the operator token permits; absent: another credential opened the session. */
  readonly scope?: OperatorScope;
}

/** Credentials that are settings, not rows of the store. */
export interface ConfiguredCredentials {
  /** `GATEWAY_KEY`. */
  readonly key?: string;
  /** `GATEWAY_ADMIN_TOKEN`. */
  readonly operator?: string;
  /**
   * The rows of the company sign-in's table, as texts; a session is valid while its row is among
   * them.
   */
  readonly company?: readonly string[];
}

/** A key, token, sign-in link, person or operator who opens a session. */
interface SessionHolder {
  readonly kind: CredentialKind;
  readonly id: string;
  readonly accountId?: string;
  /** Name of the holder; absent: the store knows it, if there is one. */
  readonly name?: string;
}

/** How a session is opened. */
interface SessionOptions {
  /** The text of a credential that is a setting, or of what a company's sign-in rests on. */
  readonly credential?: string;
  /** The cookie's value so far. */
  readonly replaces?: string;
  /** Longest duration in milliseconds; absent: that of its kind. */
  readonly maxMs?: number;
}

export interface SessionRepository {
  /**
   * Opens a session and ends the one that it replaces, and those of the same key, token or
   * operator beyond the hundred newest.
   *
   * @throws {ApiError} `unavailable`
   */
  open(
    holder: SessionHolder,
    options?: SessionOptions,
  ): Promise<{ readonly secret: string; readonly session: SessionRecord }>;
  /**
   * Finds the session of a cookie; undefined if it ended, was idle for too long, or its credential
   * is no longer valid. `isUse`: false for a look that a person did not cause, which does not keep
   * an idle session open.
   *
   * @throws {ApiError} `unavailable`
   */
  find(
    secret: string,
    configured: ConfiguredCredentials,
    isUse?: boolean,
  ): Promise<SessionRecord | undefined>;
  /** Ends the session of a cookie. */
  end(secret: string): Promise<void>;
  /** Ends a session of an account; false if there is none with this id. */
  endOf(accountId: string, id: string): Promise<boolean>;
  /** The sessions of an account that have not ended, newest first. At most 100. */
  list(accountId: string): Promise<readonly SessionRecord[]>;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Longest silence and longest life, in milliseconds. */
const SESSION_LIMITS = {
  operator: { idleMs: 30 * MINUTE_MS, maxMs: 8 * HOUR_MS },
  account: { idleMs: 2 * HOUR_MS, maxMs: 12 * HOUR_MS },
};

/** Sessions of one credential: a program that signs in again and again must not fill the store. */
const MAX_SESSIONS = 100;

/** About 256 bits. */
const SECRET_CHARS = 43;

function limitsOf(kind: CredentialKind) {
  return SESSION_LIMITS[kind === "operator" ? "operator" : "account"];
}

/** Whether the session has neither ended nor been idle for too long. */
export function isLive(
  { kind, seenAtMs, endsAtMs }: SessionRecord,
  nowMs: number,
): boolean {
  return nowMs < endsAtMs && nowMs < seenAtMs + limitsOf(kind).idleMs;
}

/**
 * Proves that a session was opened with a credential. It reveals nothing about the credential
 * without the cookie, which is not stored.
 */
function proofOf(secret: string, credential: string): string {
  return keyHash(`${secret}:${credential}`);
}

export function sessionRepository(
  context: RepositoryContext,
): SessionRepository {
  /** Ends the session that a condition names; false if there is none. */
  const end = (
    condition: string,
    values: readonly string[],
    isOwn: boolean,
  ): Promise<boolean> =>
    writeChange(context, async (sql) => {
      const [row] = await sql.all(
        `DELETE FROM console_sessions WHERE ${condition} RETURNING *`,
        values,
      );
      if (row === undefined) return { reply: false, changes: [] };
      const session = recordFrom(SESSION, row);
      return {
        reply: true,
        changes: [{
          action: "session.end",
          target: session.id,
          ...compact({ accountId: session.accountId }),
          before: { kind: session.kind, subject: session.subject },
        }],
        ...(isOwn ? { actor: actorOf(session) } : {}),
      };
    });
  return {
    async open(
      { kind, id, accountId, name: givenName },
      { credential, replaces, maxMs = limitsOf(kind).maxMs } = {},
    ) {
      const nowMs = context.now();
      const secret = randomText(SECRET_CHARS);
      const made: SessionRecord = {
        id: newId("session", nowMs),
        kind,
        subject: id,
        ...compact({ accountId }),
        madeAtMs: nowMs,
        seenAtMs: nowMs,
        endsAtMs: nowMs + maxMs,
      };
      const session = await writeChange(context, async (sql) => {
        const name = givenName ?? await credentialName(sql, id);
        const session = { ...made, ...compact({ name }) };
        await sql.all("DELETE FROM console_sessions WHERE ends_at_ms <= $1", [
          nowMs,
        ]);
        const replaced = await sql.all(
          "DELETE FROM console_sessions WHERE hash = $1 RETURNING id",
          [replaces === undefined ? "" : keyHash(replaces)],
        );
        const ofSubject = accountId === undefined
          ? "account_id IS NULL AND subject = $1"
          : "account_id = $2 AND subject = $1";
        const surplus = await sql.all(
          `DELETE FROM console_sessions WHERE ${ofSubject} AND id NOT IN ` +
            `(SELECT id FROM console_sessions WHERE ${ofSubject} ORDER BY id DESC LIMIT ${
              MAX_SESSIONS - 1
            }) RETURNING id`,
          accountId === undefined ? [id] : [id, accountId],
        );
        await insertRow(sql, "console_sessions", {
          ...rowOf(SESSION, session),
          hash: keyHash(secret),
          proof: credential === undefined ? "" : proofOf(secret, credential),
        });
        const ended = [...replaced, ...surplus].map((row) => textOf(row, "id"));
        return {
          reply: session,
          changes: [{
            action: "session.start",
            target: session.id,
            ...compact({ accountId }),
            after: {
              kind,
              subject: id,
              ends_at: new Date(session.endsAtMs).toISOString(),
              ...(ended.length === 0 ? {} : { ended_sessions: ended }),
            },
          }],
          actor: actorOf(session),
        };
      });
      return { secret, session };
    },
    async find(secret, configured, isUse = true) {
      const [row] = await readRows(
        context,
        "SELECT s.*, COALESCE(k.id, t.id, o.id, c.id) AS found, o.scope AS operator_scope, " +
          "COALESCE(k.revoked_at_ms, t.revoked_at_ms, o.revoked_at_ms) AS revoked_at_ms, " +
          "COALESCE(k.expires_at_ms, t.expires_at_ms, o.expires_at_ms) AS expires_at_ms " +
          "FROM console_sessions s LEFT JOIN keys k ON k.id = s.subject " +
          "LEFT JOIN account_tokens t ON t.id = s.subject " +
          "LEFT JOIN operator_tokens o ON o.id = s.subject " +
          "LEFT JOIN accounts c ON c.id = s.account_id AND s.kind <> 'key' " +
          "WHERE s.hash = $1",
        [keyHash(secret)],
      );
      if (row === undefined) return undefined;
      const session: SessionRecord = {
        ...recordFrom(SESSION, row),
        ...compact({
          scope: OPERATOR_SCOPES.find((one) => one === row["operator_scope"]),
        }),
      };
      const nowMs = context.now();
      if (
        !isLive(session, nowMs) ||
        !isCredentialValid(row, secret, configured, nowMs)
      ) return undefined;
      if (isUse && session.seenAtMs + MINUTE_MS <= nowMs) {
        await writeUse(
          context,
          "UPDATE console_sessions SET seen_at_ms = $2 WHERE id = $1",
          [session.id, nowMs],
        );
      }
      return session;
    },
    async end(secret) {
      await end("hash = $1", [keyHash(secret)], true);
    },
    endOf: (accountId, id) =>
      end("account_id = $1 AND id = $2", [accountId, id], false),
    async list(accountId) {
      const rows = await readRows(
        context,
        "SELECT * FROM console_sessions WHERE account_id = $1 ORDER BY id DESC LIMIT 100",
        [accountId],
      );
      const nowMs = context.now();
      return rows.map((row) => recordFrom(SESSION, row))
        .filter((session) => isLive(session, nowMs));
    },
  };
}

/** The subject of sessions that the admin token opened. */
export const ADMIN_TOKEN_ID = "operator";

/** What the session of an operator permits: that of a token at most what the token does. */
export function operatorScopeOf(
  { subject, scope }: SessionRecord,
): OperatorScope {
  return scope ??
    (subject === ADMIN_TOKEN_ID || isPerson(subject) ? "administer" : "read");
}

/** Who makes a change in a session. The admin token has no id. */
export function actorOf(
  { id, kind, subject }: SessionRecord,
): Pick<Actor, "kind" | "id" | "session"> {
  return {
    kind,
    session: id,
    ...(subject === ADMIN_TOKEN_ID ? {} : { id: subject }),
  };
}

/** Whether a session's subject is a person of the company's issuer. */
export function isPerson(subject: string): boolean {
  return subject.startsWith("person_");
}

/** Whether the key, token, link or configured credential behind a session is still valid. */
function isCredentialValid(
  row: SqlRow,
  secret: string,
  configured: ConfiguredCredentials,
  nowMs: number,
): boolean {
  const proof = textOf(row, "proof");
  const hasAccount = row["found"] !== null;
  if (isPerson(textOf(row, "subject"))) {
    const isAllowed = configured.company?.some((text) =>
      hashesEqual(proof, proofOf(secret, text))
    );
    return isAllowed === true &&
      (hasAccount || textOf(row, "kind") === "operator");
  }
  if (proof !== "") {
    const credential = textOf(row, "kind") === "operator"
      ? configured.operator
      : configured.key;
    return credential !== undefined &&
      hashesEqual(proof, proofOf(secret, credential));
  }
  return hasAccount &&
    intOrUndefined(row, "revoked_at_ms") === undefined &&
    nowMs < (intOrUndefined(row, "expires_at_ms") ?? Infinity);
}
