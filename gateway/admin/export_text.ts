/**
 * The text of an export, made in pieces: building the lines of many records at once would keep the
 * event loop from every stream.
 */
import { nextTurn } from "../accounts/next_turn.ts";

/** How long one turn of the event loop builds lines. */
const PIECE_MS = 3;

/**
 * The lines of all items. The first piece begins with `head` and comes after the first read, so
 * that a read that fails at once fails before anything is sent. A piece is empty where a slice has
 * no lines: between two pieces the reader can end the export.
 *
 * @param head the first line with its end; may be empty
 * @param slices items, as they are read from the store
 * @param lineOf an item's lines with their ends
 */
export async function* exportText<T>(
  head: string,
  slices: AsyncIterable<readonly T[]> | Iterable<readonly T[]>,
  lineOf: (item: T) => string,
): AsyncGenerator<string, void, void> {
  let text = head;
  let isFirst = true;
  for await (const slice of slices) {
    let startedMs = performance.now();
    for (const item of slice) {
      text += lineOf(item);
      if (performance.now() - startedMs < PIECE_MS) continue;
      yield text;
      text = "";
      isFirst = false;
      await nextTurn();
      startedMs = performance.now();
    }
    yield text;
    text = "";
    isFirst = false;
    await nextTurn();
  }
  if (isFirst) yield text;
}
