import { type Sql, textOrUndefined } from "../store/store.ts";

const TABLES: Readonly<Record<string, string>> = {
  token: "account_tokens",
  optoken: "operator_tokens",
  key: "keys",
  link: "sign_in_codes",
};

/** The name of a key or token, or of the person that a sign-in link is for; undefined: none. */
export async function credentialName(
  sql: Sql,
  id: string,
): Promise<string | undefined> {
  const table = TABLES[id.slice(0, id.indexOf("_"))];
  if (table === undefined) return undefined;
  const [row] = await sql.all(`SELECT name FROM ${table} WHERE id = $1`, [id]);
  return row === undefined
    ? undefined
    : textOrUndefined(row, "name") || undefined;
}
