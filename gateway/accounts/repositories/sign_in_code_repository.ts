/**
 * Codes of sign-in links. A code opens one console session within fifteen minutes.
 */
import type { Holder } from "../credential_kind.ts";
import { isWellFormed, keyHash, newCredential } from "../key.ts";
import { insertRow } from "../rows/record_rows.ts";
import { textOf } from "../store/store.ts";
import {
  newId,
  readRows,
  type RepositoryContext,
  writeChange,
} from "./repository.ts";
import { requireAccount } from "./token_repository.ts";

interface SignInCode {
  readonly id: string;
  /** The code itself. It is not stored. */
  readonly text: string;
  /** The account that it opens. */
  readonly accountId: string;
  /** What its session may do. */
  readonly scope: "read" | "manage";
  /** Who it is for; absent: not known. */
  readonly name?: string;
  /** Unix time in milliseconds. */
  readonly expiresAtMs: number;
}

export interface SignInCodeRepository {
  /**
   * Creates a code.
   *
   * @throws {ApiError} `not_found` for the account; `unavailable`
   */
  create(
    request: {
      readonly accountId: string;
      readonly scope: "read" | "manage";
      /** Who it is for, for the records of what they do. */
      readonly name?: string;
    },
  ): Promise<SignInCode>;
  /**
   * Uses a code up; undefined if it is unknown, used or expired.
   *
   * @throws {ApiError} `unavailable`
   */
  redeem(text: string): Promise<Holder | undefined>;
}

const MAX_AGE_MS = 15 * 60 * 1000;

export function signInCodeRepository(
  context: RepositoryContext,
): SignInCodeRepository {
  return {
    async create({ accountId, scope, name }) {
      const nowMs = context.now();
      const text = newCredential("code");
      const id = newId("link", nowMs);
      const expiresAtMs = nowMs + MAX_AGE_MS;
      const named = name === undefined ? {} : { name };
      return await writeChange(context, async (sql) => {
        await requireAccount(sql, accountId);
        await sql.all("DELETE FROM sign_in_codes WHERE expires_at_ms < $1", [
          nowMs,
        ]);
        await insertRow(sql, "sign_in_codes", {
          id,
          account_id: accountId,
          scope,
          ...named,
          hash: keyHash(text),
          created_at_ms: nowMs,
          expires_at_ms: expiresAtMs,
        });
        return {
          reply: { id, text, accountId, scope, ...named, expiresAtMs },
          changes: [{
            action: "sign_in_link.create",
            target: id,
            accountId,
            after: {
              scope,
              ...named,
              expires_at: new Date(expiresAtMs).toISOString(),
            },
          }],
        };
      });
    },
    async redeem(text) {
      if (!isWellFormed(text, "code")) return undefined;
      const nowMs = context.now();
      const hash = keyHash(text);
      // Guessed codes cost a read, not a write.
      const [known] = await readRows(
        context,
        "SELECT id FROM sign_in_codes WHERE hash = $1 AND used_at_ms IS NULL AND expires_at_ms > $2",
        [hash, nowMs],
      );
      if (known === undefined) return undefined;
      return await writeChange(context, async (sql) => {
        // One statement: of two requests with the same code, one gets the row.
        const [row] = await sql.all(
          "UPDATE sign_in_codes SET used_at_ms = $2 WHERE hash = $1 AND used_at_ms IS NULL AND expires_at_ms > $2 RETURNING id, account_id, scope",
          [hash, nowMs],
        );
        if (row === undefined) return { reply: undefined, changes: [] };
        const id = textOf(row, "id");
        const accountId = textOf(row, "account_id");
        const kind = textOf(row, "scope") === "manage" ? "manage" : "read";
        return {
          reply: { kind, id, accountId },
          changes: [{
            action: "sign_in_link.use",
            target: id,
            accountId,
            after: { used_at: new Date(nowMs).toISOString() },
          }],
          actor: { kind, id },
        };
      });
    },
  };
}
