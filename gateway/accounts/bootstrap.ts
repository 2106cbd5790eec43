/**
 * Seeds an empty store with what the first call needs: a plan, an account and a key.
 *
 * @module
 */
import { DEFAULT_PLAN } from "./repositories/account_repository.ts";
import { DEFAULT_ACCOUNT } from "./authenticator.ts";
import { createKey } from "./repositories/key_repository.ts";
import type { Store } from "./store/store.ts";

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
    await sql.all(
      "INSERT INTO plans (id, created_at_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING",
      [DEFAULT_PLAN, nowMs],
    );
    await sql.all(
      "INSERT INTO accounts (id, name, status, billing, plan_id, created_at_ms) " +
        "VALUES ($1, $2, 'active', 'postpaid', $3, $4) ON CONFLICT DO NOTHING",
      [DEFAULT_ACCOUNT, DEFAULT_ACCOUNT, DEFAULT_PLAN, nowMs],
    );
    if (hasConfiguredKey) return undefined;
    const keys = await sql.all("SELECT id FROM keys LIMIT 1");
    if (keys.length > 0) return undefined;
    const request = { accountId: DEFAULT_ACCOUNT, name: "first key" };
    const { text } = await createKey(sql, request, nowMs);
    if (text !== undefined) show(text);
    return text;
  });
}
