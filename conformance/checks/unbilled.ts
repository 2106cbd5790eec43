/** Judges that a request which was refused cost nothing. */
import type { Exchange } from "../evidence/exchange.ts";
import { fact, type Finding } from "../suite/finding.ts";

/** No vendor answered: none was called, or each refused too, as a gateway may leave that to its vendors. */
export function unbilled(x: Exchange): Finding {
  const billed = x.upstream.filter(({ status }) => status === 200);
  return fact(
    billed.length === 0,
    "calls that an upstream answered",
    "none for a request that is to be refused",
    `${billed.length}`,
    x,
  );
}
