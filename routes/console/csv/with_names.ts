/**
 * Names beside the ids of a file: of keys and accounts, looked up slice by slice.
 */
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";

/** The ids of a line whose names the file has, too. */
interface Ids {
  readonly key?: string | undefined;
  readonly account?: string | undefined;
}

/** An item with the columns `key_name` and `account_name`. */
interface Named<T> {
  readonly item: T;
  readonly names: JsonObject;
}

export async function* withNames<T>(
  admin: Admin,
  slices: AsyncIterable<readonly T[]>,
  idsOf: (item: T) => Ids,
): AsyncGenerator<readonly Named<T>[], void, void> {
  for await (const slice of slices) {
    const ids = slice.map(idsOf);
    const keys = await admin.keys.names(
      distinct(ids.map(({ key }) => key)),
    );
    const accounts = await admin.accounts.names(
      distinct(ids.map(({ account }) => account)),
    );
    yield slice.map((item, at) => {
      const { key, account } = ids[at] ?? {};
      return {
        item,
        names: {
          key_name: key === undefined ? null : keys.get(key) ?? null,
          account_name: account === undefined
            ? null
            : accounts.get(account) ?? null,
        },
      };
    });
  }
}

function distinct(ids: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(ids.filter((id) => id !== undefined))];
}
