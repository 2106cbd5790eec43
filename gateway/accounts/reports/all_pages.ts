/**
 * A whole list, read page by page, so that at most one page is in memory.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import { nextTurn } from "../next_turn.ts";
import type { ListPage, PageRequest } from "../repositories/list_page.ts";

/** Default number of items of a page. */
const PAGE_LENGTH = 100;

/**
 * The items of every page that is not empty.
 *
 * @param read reads one page
 * @param from the cursor to begin after, and the length of a page
 */
export async function* allPages<T>(
  read: (page: PageRequest) => Promise<ListPage<T>>,
  from: PageRequest = {},
): AsyncGenerator<readonly T[], void, void> {
  const { limit = PAGE_LENGTH } = from;
  for (let { after } = from;;) {
    const page: ListPage<T> = await read({
      limit,
      ...compact({ after }),
    });
    if (page.data.length > 0) yield page.data;
    if (page.next === undefined) return;
    after = page.next;
    await nextTurn();
  }
}
