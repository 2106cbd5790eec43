/**
 * The open credentials of the vendors that can be called. A vendor that stays the same when the
 * configuration changes keeps its credential, with its tokens.
 */
import type { VendorAccess } from "../settings/config.ts";
import {
  type CredentialSources,
  openCredential,
} from "./credentials/open_credential.ts";
import type { Catalogue } from "./catalogue/catalogue.ts";
import type { Credential, HostAuth } from "./credentials/credential.ts";
import { keyCredential } from "./credentials/key_credential.ts";
import type { Credentials } from "./catalogue/model_registry.ts";
import type { Way } from "./http/way.ts";

/** The source of a vendor's credential has begun to fail, or works again. */
export type CredentialEvent =
  | {
    readonly type: "credential_fails";
    readonly vendor: string;
    /** Contains no secret. */
    readonly reason: string;
  }
  | { readonly type: "credential_works"; readonly vendor: string };

interface OpenCredential {
  /** The settings from which it was opened, as text. */
  readonly settings: string;
  readonly credential: Credential;
}

/** What the credentials are opened with. */
interface SetSources extends Omit<CredentialSources, "fetch"> {
  /** Calls token endpoints, by a vendor's own way if it has one. */
  readonly fetchBy: (way: Way | undefined) => typeof fetch;
}

export class CredentialSet {
  readonly #sources: SetSources;
  readonly #onEvent: (event: CredentialEvent) => void;
  readonly #open = new Map<string, OpenCredential>();
  /** Replaced credentials that calls under way may still use. */
  readonly #replaced: Credential[] = [];

  /** Opens none yet. */
  constructor(
    sources: SetSources,
    onEvent: (event: CredentialEvent) => void = () => {},
  ) {
    this.#sources = sources;
    this.#onEvent = onEvent;
  }

  /**
   * The credentials by vendor. Those whose settings are new are started: sources that are out of
   * reach are retried.
   */
  open(
    vendors: Readonly<Record<string, VendorAccess>>,
    catalogue: Catalogue,
  ): Credentials {
    return Object.fromEntries(
      Object.entries(vendors).map(([name, access]) => {
        const auth = firstAuth(catalogue, name);
        const settings = JSON.stringify([access, auth]);
        const present = this.#open.get(name);
        if (present?.settings === settings) return [name, present.credential];
        const credential = this.#opened(name, access, auth);
        if (present !== undefined) this.#replaced.push(present.credential);
        this.#open.set(name, { settings, credential });
        void credential.start();
        return [name, credential];
      }),
    );
  }

  /** Closes the credentials of other vendors, and those that were replaced. */
  closeOthers(vendors: Readonly<Record<string, VendorAccess>>): void {
    for (const replaced of this.#replaced.splice(0)) replaced.close();
    for (const [name, { credential }] of this.#open) {
      if (vendors[name] !== undefined) continue;
      credential.close();
      this.#open.delete(name);
    }
  }

  #opened(
    vendor: string,
    { apiKey, credential: plan, way }: VendorAccess,
    auth: HostAuth | undefined,
  ): Credential {
    if (plan === undefined) {
      return keyCredential(apiKey === undefined ? [] : [apiKey]);
    }
    return openCredential(
      plan,
      {
        ...this.#sources,
        fetch: this.#sources.fetchBy(way),
        onChange: ({ failure }) =>
          this.#onEvent(
            failure === undefined
              ? { type: "credential_works", vendor }
              : { type: "credential_fails", vendor, reason: failure.reason },
          ),
      },
      auth,
    );
  }
}

function firstAuth(catalogue: Catalogue, name: string): HostAuth | undefined {
  return catalogue.vendors.find((vendor) => vendor.name === name)?.dialects[0]
    ?.auth;
}
