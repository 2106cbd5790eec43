/**
 * Which operations accept the right key. The refusal of a wrong key proves something only on these.
 */
import type { Exchange } from "../../evidence/exchange.ts";
import { outcome } from "../../suite/evidence.ts";
import { NotTestable } from "../../suite/finding.ts";

/** The operation of an exchange: the first part of its label. */
function operationOf({ label }: Exchange): string {
  return label.split("/")[0] ?? "";
}

/**
 * The exchanges of those operations that served every request with the right key.
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
    `the right key is refused as well: ${outcome(first)}`,
    first,
  );
}
