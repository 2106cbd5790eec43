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
import type { Catalogue } from "./catalogue.ts";
import type { HostAuth } from "./credentials/credential.ts";
import { keyCredential } from "./credentials/key_credential.ts";
import type { Credentials } from "./model_registry.ts";

/** The source of a vendor's credential has begun to fail, or works again. */
export type CredentialEvent =
  | {
    readonly type: "credential_fails";
    readonly vendor: string;
    /** Contains no secret. */
    readonly reason: string;
  }
  | { readonly type: "credential_works"; readonly vendor: string };

/** The credentials by vendor, started: sources that are out of reach are retried. Close them when they are no longer needed. */
export function openCredentials(
  vendors: Readonly<Record<string, VendorAccess>>,
  catalogue: Catalogue,
  sources: CredentialSources,
  onEvent: (event: CredentialEvent) => void = () => {},
): Credentials {
  return Object.fromEntries(
    Object.entries(vendors).map(([name, { apiKey, credential: plan }]) => {
      const credential = plan === undefined
        ? keyCredential(apiKey === undefined ? [] : [apiKey])
        : openCredential(
          plan,
          {
            ...sources,
            onChange: ({ failure }) =>
              onEvent(
                failure === undefined
                  ? { type: "credential_works", vendor: name }
                  : {
                    type: "credential_fails",
                    vendor: name,
                    reason: failure.reason,
                  },
              ),
          },
          firstAuth(catalogue, name),
        );
      void credential.start();
      return [name, credential];
    }),
  );
}

function firstAuth(catalogue: Catalogue, name: string): HostAuth | undefined {
  return catalogue.vendors.find((vendor) => vendor.name === name)?.dialects[0]
    ?.auth;
}
