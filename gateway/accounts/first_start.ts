/**
 * What a store must have before anybody can call: a plan, an account and a key. Made where they are not there.
 *
 * @module
 */
import { DEFAULT_PLAN } from "./account_register.ts";
import { DEFAULT_ACCOUNT } from "./callers.ts";
import { make } from "./key_register.ts";
import type { Store } from "./store.ts";

/**
 * Makes the plan that allows everything, the default account on it and, unless a key is configured or there has ever been one, a
 * first key. Gives the key's text, which cannot be shown again. Of several processes that start at once one makes it.
 */
export async function furnish(
  store: Store,
  nowMs: number,
  hasConfiguredKey: boolean,
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
    return (await make(sql, request, nowMs)).text;
  });
}
