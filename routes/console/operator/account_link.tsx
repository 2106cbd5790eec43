import type { JSX } from "../jsx.d.ts";
import { Foreign } from "../parts/data_table.tsx";

/** The account's id, as a link to its page in the operators' area. */
export function AccountLink(
  { accountId }: { readonly accountId: string },
): JSX.Element {
  return (
    <a href={`/console/operator/accounts/${encodeURIComponent(accountId)}`}>
      <Foreign text={accountId} />
    </a>
  );
}
