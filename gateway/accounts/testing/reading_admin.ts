import { type Admin, createAdmin } from "../repositories/admin.ts";
import type { Store } from "../store/store.ts";

/** The administration of a store that no process serves: for tests that read its books. */
export function readingAdmin(
  store: Store,
  now: () => number = Date.now,
  flushCalls?: () => Promise<void>,
): Admin {
  return createAdmin({
    store,
    now,
    onChange: () => {},
    knowsModel: () => true,
  }, flushCalls);
}
