/** The button that revokes a token, in the lists of both consoles. */
import type { TokenRecord } from "../../../gateway/accounts/repositories/token_repository.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { JSX } from "../jsx.d.ts";
import { FormToken } from "../parts/layout.tsx";
import { AskFirst } from "./ask_first.tsx";

/** Nothing where the token has ended. `field`: the name by which the form has the token's id. */
export function RevokeToken({ visit, token, nowMs, action, field }: {
  readonly visit: Visit;
  readonly token: Pick<
    TokenRecord,
    "id" | "hint" | "revokedAtMs" | "expiresAtMs"
  >;
  readonly nowMs: number;
  readonly action: string;
  readonly field: string;
}): JSX.Element | null {
  if (token.revokedAtMs !== undefined || token.expiresAtMs <= nowMs) {
    return null;
  }
  return (
    <form method="post" action={action}>
      <FormToken visit={visit} />
      <AskFirst />
      <input type="hidden" name={field} value={token.id} />
      <button class="link" type="submit">Revoke {token.hint.slice(-4)}</button>
    </form>
  );
}
