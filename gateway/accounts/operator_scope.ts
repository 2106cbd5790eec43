/**
 * What an operator token may do beside reading everything in the operator's area and under
 * `/admin/v1`. This table is the only place that grants it; the admin token may do everything.
 */
import { ApiError } from "../../translate/model/error.ts";

export const OPERATOR_SCOPES = [
  "read",
  "keys",
  "billing",
  "administer",
] as const;

export type OperatorScope = typeof OPERATOR_SCOPES[number];

/** Operations by the scope that they need; those that change something and are not here: `administer`. */
const NEEDED: Readonly<Record<string, OperatorScope>> = {
  reconcile: "read",
  issueKey: "keys",
  updateKey: "keys",
  rotateKey: "keys",
  revokeKey: "keys",
  revokeAllKeys: "keys",
  issueToken: "keys",
  revokeToken: "keys",
  createSignInLink: "keys",
  createPlan: "billing",
  updatePlan: "billing",
  updateAccount: "billing",
  topUpAccount: "billing",
};

/** The scope that an operation of the admin API needs. */
export function scopeOf(
  operationId: string,
  method: "GET" | "POST",
): OperatorScope {
  return method === "GET" ? "read" : NEEDED[operationId] ?? "administer";
}

/**
 * Refuses an operator without a scope. `administer` has all, and each has `read`.
 *
 * @throws {ApiError} `permission`, with the scopes that would do
 */
export function requireScope(held: OperatorScope, needed: OperatorScope): void {
  if (held === "administer" || needed === "read" || held === needed) return;
  const enough = needed === "administer" ? needed : `${needed} or administer`;
  throw new ApiError(
    "permission",
    `an operator token with the scope ${held} may not do this; one with the scope ${enough} may`,
    { code: "operator_scope", retryable: false },
  );
}
