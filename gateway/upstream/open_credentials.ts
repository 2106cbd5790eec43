/**
 * Opens the credentials of the vendors that can be called.
 *
 * @module
 */
import type { VendorAccess } from "../config.ts";
import {
  type CredentialSources,
  openCredential,
} from "./credentials/open_credential.ts";
import { keyCredential } from "./credentials/key_credential.ts";
import type { Credentials } from "./model_registry.ts";

/** The credentials by vendor, started: sources that are out of reach are retried. Close them when they are no longer needed. */
export function openCredentials(
  vendors: Readonly<Record<string, VendorAccess>>,
  sources: CredentialSources,
): Credentials {
  return Object.fromEntries(
    Object.entries(vendors).map(([name, { apiKey, credential: plan }]) => {
      const credential = plan === undefined
        ? keyCredential(apiKey === undefined ? [] : [apiKey])
        : openCredential(plan, sources);
      void credential.start();
      return [name, credential];
    }),
  );
}
