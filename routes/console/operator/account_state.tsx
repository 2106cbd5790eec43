import type { JSX } from "../jsx.d.ts";
import type { Account } from "../../../gateway/accounts/records.ts";

/** A tag: active or suspended. */
export function AccountState(
  { account }: { readonly account: Pick<Account, "status"> },
): JSX.Element {
  return account.status === "active"
    ? <span class="tag ok">active</span>
    : <span class="tag bad">suspended</span>;
}
