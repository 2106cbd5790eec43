/**
 * Errors of hosts.
 *
 * @module
 */

/** Whose error form a host uses beside its dialect's. */
export type HostErrors = "aws" | "azure" | "google";
