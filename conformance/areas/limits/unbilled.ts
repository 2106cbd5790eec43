/** Judges that a refused request cost nothing. */
import type { Exchange } from "../../evidence/exchange.ts";
import { fact, type Finding } from "../../suite/finding.ts";

/**
 * No vendor answered the request: none was called, or each refused it too, since a gateway may
 * leave validation to its vendors.
 */
export function unbilled(x: Exchange): Finding {
  const billed = x.upstream.filter(({ status }) => status === 200);
  return fact(
    billed.length === 0,
    "calls that an upstream answered",
    "none for a request that should be refused",
    `${billed.length}`,
    x,
  );
}
