/** Which operations let the right key in: a refusal of a wrong key says something only beside that. */
import type { Exchange } from "../evidence/exchange.ts";
import { outcome } from "../suite/evidence.ts";
import { NotTestable } from "../suite/finding.ts";

/** The operation that an exchange is for: the first part of its label. */
function operationOf({ label }: Exchange): string {
  return label.split("/")[0] ?? "";
}

/**
 * The exchanges of the operations whose requests with the right key were all served.
 * @throws {NotTestable} when there is no such operation
 */
export function besideRightKey(
  controls: readonly Exchange[],
  exchanges: readonly Exchange[],
): readonly Exchange[] {
  const bad = controls.filter(({ head }) => head?.status !== 200);
  const closed = new Set(bad.map(operationOf));
  const found = exchanges.filter((x) => !closed.has(operationOf(x)));
  const [first] = bad;
  if (found.length > 0 || first === undefined) return found;
  throw new NotTestable(
    `the right key is not served either: ${outcome(first)}`,
    first,
  );
}
