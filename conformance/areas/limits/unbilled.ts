/** Judges that a refused request cost nothing. */
import { factOf, type Finding } from "../../suite/finding.ts";
import type { Exchange } from "../../evidence/exchange.ts";

/**
 * No vendor answered the request: none was called, or each refused it too, since a gateway may
 * leave validation to its vendors.
 */
export function unbilled(x: Exchange): Finding {
  const billed = x.upstream.filter(({ status }) => status === 200);
  return factOf("calls that an upstream answered", `${billed.length}`, x)
    .mustBe(
      "none for a request that should be refused",
      billed.length === 0,
    );
}
