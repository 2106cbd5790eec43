/**
 * Opens a store that may not be reachable yet, as when a database starts later than the gateway.
 */
import { READ_ONLY, UNREACHABLE } from "./accounts/store/store.ts";
import type { AccountsEvent } from "./accounts/mod.ts";

const PAUSE_MS = 500;

/**
 * Opens the store, again and again while it cannot be reached, for `waitMs` at most.
 *
 * @throws {Error} of `open`: at once for what waiting does not fix, such as a wrong password
 */
export async function openWhenThere<T>(
  open: () => Promise<T>,
  waitMs: number,
  onEvent: (
    event: Extract<AccountsEvent, { type: "store_down" | "store_up" }>,
  ) => void,
): Promise<T> {
  const endMs = performance.now() + waitMs;
  let isDown = false;
  for (;;) {
    try {
      const opened = await open();
      if (isDown) onEvent({ type: "store_up" });
      return opened;
    } catch (error) {
      if (!isAway(error) || performance.now() >= endMs) throw error;
      if (!isDown) onEvent({ type: "store_down", error });
      isDown = true;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/** SQLSTATE of a server that is not reached, full, starting or ending, or a standby. */
const AWAY = new RegExp(`^(?:08|53|57P|${READ_ONLY})`);
/** Codes and texts of what stays as it is: the server's other answers, and certificates. */
const LASTING = /^\d|CERT|TLS|SSL|issuer|channel_binding/i;

function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { cause = error } = error;
  const code = cause instanceof Error && "code" in cause
    ? String(cause.code)
    : "";
  if (AWAY.test(code)) return true;
  return error.message.startsWith(UNREACHABLE) && !LASTING.test(code) &&
    !LASTING.test(error.message);
}
