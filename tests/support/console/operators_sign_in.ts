/**
 * The operators' area behind a proxy: addresses that must stay inside, however they are written.
 */
import assert from "node:assert/strict";

/** Addresses of the operators' area. */
export const OPERATOR_PATHS: readonly string[] = [
  "/console/operator",
  "/console/operator/",
  "/console/operator/sign-in",
  "//console/operator/sign-in",
  "/console//operator/sign-in",
  "/console/%6fperator/sign-in",
  "/console/./operator/sign-in",
  "/v1/../console/operator/sign-in",
  "/CONSOLE/OPERATOR/sign-in",
];

/** Fails unless the gateway serves the operators' sign-in: only then a 404 is the proxy's. */
export async function assertOperatorsSignIn(gatewayUrl: string): Promise<void> {
  const response = await fetch(`${gatewayUrl}/console/operator/sign-in`);
  await response.body?.cancel();
  assert.equal(response.status, 200);
}
