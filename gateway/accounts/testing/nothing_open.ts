import type { Store } from "../store/store.ts";

/** Resolves when the calls of processes that were killed are settled; looks every `pauseMs`. */
export async function nothingOpen(
  store: Store,
  pauseMs: number,
): Promise<void> {
  for (;;) {
    const rows = await store.read(
      "SELECT request_id FROM open_calls LIMIT 1",
    );
    if (rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
