/**
 * Seeds an empty store with what the first call needs: a plan, an account and a key.
 */
import { compact } from "../../translate/bytes/compact.ts";
import { DEFAULT_PLAN } from "./repositories/account_repository.ts";
import { DEFAULT_ACCOUNT } from "./authenticator.ts";
import { type Change, GATEWAY } from "./changes/change.ts";
import { createKey, issuedChange } from "./repositories/key_repository.ts";
import { insertChanges } from "./rows/change_rows.ts";
import type { Sql, Store } from "./store/store.ts";

/**
 * Inserts the unlimited plan, the default account on it and, unless a key is configured or
 * one exists, a first key. Returns the text of the new key, which cannot be shown again. If
 * several processes start at once, one of them makes the key.
 *
 * `show` runs inside the write, before the commit: a process that ends in between leaves a
 * key that was shown but not stored, never one that was stored but not shown. The next
 * start then makes another.
 */
export async function seedDefaults(
  store: Store,
  nowMs: number,
  hasConfiguredKey: boolean,
  show: (key: string) => void = () => {},
): Promise<string | undefined> {
  return await store.write(async (sql) => {
    const changes: Change[] = [];
    const plans = await sql.all(
      "INSERT INTO plans (id, created_at_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id",
      [DEFAULT_PLAN, nowMs],
    );
    if (plans.length > 0) {
      changes.push({
        action: "plan.create",
        target: DEFAULT_PLAN,
        after: { id: DEFAULT_PLAN },
      });
    }
    const accounts = await sql.all(
      "INSERT INTO accounts (id, name, status, billing, plan_id, created_at_ms) " +
        "VALUES ($1, $2, 'active', 'postpaid', $3, $4) ON CONFLICT DO NOTHING RETURNING id",
      [DEFAULT_ACCOUNT, DEFAULT_ACCOUNT, DEFAULT_PLAN, nowMs],
    );
    if (accounts.length > 0) {
      changes.push({
        action: "account.create",
        target: DEFAULT_ACCOUNT,
        accountId: DEFAULT_ACCOUNT,
        after: { id: DEFAULT_ACCOUNT, billing: "postpaid", plan: DEFAULT_PLAN },
      });
    }
    const { text, change } = hasConfiguredKey ? {} : await firstKey(sql, nowMs);
    if (change !== undefined) changes.push(change);
    await insertChanges(sql, GATEWAY, nowMs, changes);
    if (text !== undefined) show(text);
    return text;
  });
}

/** Creates a key if there is none. */
async function firstKey(
  sql: Sql,
  nowMs: number,
): Promise<{ readonly text?: string; readonly change?: Change }> {
  const keys = await sql.all("SELECT id FROM keys LIMIT 1");
  if (keys.length > 0) return {};
  const request = { accountId: DEFAULT_ACCOUNT, name: "first key" };
  const { text, record } = await createKey(sql, request, nowMs);
  return {
    ...compact({ text }),
    change: issuedChange(record),
  };
}
