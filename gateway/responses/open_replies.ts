import type { Store } from "../accounts/mod.ts";
import { startTimer } from "../accounts/timer.ts";
import type { Config } from "../settings/config.ts";
import { startPurge } from "./purge.ts";
import { type StoredReplies, storedReplies } from "./stored_replies.ts";

/** Stored replies that are in use. */
interface OpenedReplies {
  /** Absent where the settings switch storing off; what was stored before still expires. */
  readonly replies?: StoredReplies;
  /** Waits for the writes under way. Called before the store is closed. */
  close(): Promise<void>;
}

/** Opens the stored replies and starts to remove those that expire. */
export function openReplies(
  config: Config,
  store: Store,
  now: () => number,
): OpenedReplies {
  const common = { store, maxAgeMs: config.responsesAgeMs, now };
  const purge = startPurge({ ...common, timer: startTimer });
  const replies = config.storeResponses
    ? storedReplies({ ...common, maxBytes: config.responsesBytes })
    : undefined;
  return {
    ...(replies === undefined ? {} : { replies }),
    async close() {
      await purge.stop();
      await replies?.close();
    },
  };
}
