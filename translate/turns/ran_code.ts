/**
 * Marks code that an upstream of another format ran, in the blocks and items that clients of a
 * format know for it. Requests bring them back, and no upstream knows them.
 */
import { objectOr } from "../bytes/json.ts";

const MARK = "gwran";

/** An id with the prefix of its format, unique in the reply. */
export function ranCodeId(prefix: string, seed: string, at: number): string {
  return `${prefix}_${MARK}${seed.slice(0, 24)}${at.toString(36)}`;
}

/** Whether a block or an item has an id by {@linkcode ranCodeId}. */
export function isRanCode(part: unknown): boolean {
  const { id, tool_use_id: used } = objectOr(part);
  return [id, used].some((one) =>
    typeof one === "string" && one.split("_")[1]?.startsWith(MARK) === true
  );
}
