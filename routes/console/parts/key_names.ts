/**
 * How keys are called on pages: by their name, or by their hint.
 */
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type { AccountScope } from "../../../gateway/admin/account_scope.ts";

/** The names of these keys; none for a session of a key, whose pages show no other key. */
export async function keyNames(
  admin: Admin,
  { accountId, keyId }: Partial<AccountScope>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (keyId !== undefined) return new Map();
  return await admin.keys.names(
    [...new Set(ids)],
    accountId === undefined ? {} : { accountId },
  );
}
