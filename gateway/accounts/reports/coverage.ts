/**
 * From which day on the roll-ups of the ledger are complete. After an upgrade from a version
 * without them, they are filled in the background, newest entries first.
 */
import {
  readRows,
  type RepositoryContext,
} from "../repositories/repository.ts";
import { intOf } from "../store/store.ts";

/** How far the roll-ups reach. */
export interface Coverage {
  /** First day whose sums are complete, counted from 1970; 0: all days. */
  readonly fromDay: number;
  /** Entries up to this one are missing; 0: none. */
  readonly missingSeq: number;
}

/** Reads the present coverage. */
export async function coverage(context: RepositoryContext): Promise<Coverage> {
  const [row] = await readRows(
    context,
    "SELECT next_seq, from_day FROM roll_up_backfill WHERE id = 1",
  );
  return row === undefined ? { fromDay: 0, missingSeq: 0 } : {
    fromDay: intOf(row, "from_day"),
    missingSeq: intOf(row, "next_seq"),
  };
}
