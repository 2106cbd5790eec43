/**
 * What the routes need of the accounts beside the pipeline's interface: the registers, and who may use them.
 *
 * @module
 */
import type { Admin } from "../accounts/admin.ts";
import { type AdminGate, openGate } from "./gate.ts";

/** Where operators, and holders of keys, are served. */
export interface Desk {
  /** What operators do. */
  readonly admin: Admin;
  /** Absent where no token is configured: then there is no admin API. */
  readonly gate?: AdminGate;
}

/** Opens the desk. */
export function openDesk(
  admin: Admin,
  token: string | undefined,
  now: () => number,
): Desk {
  return {
    admin,
    ...(token === undefined ? {} : { gate: openGate(token, now) }),
  };
}
