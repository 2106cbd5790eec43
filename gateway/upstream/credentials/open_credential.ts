/**
 * Makes a credential from its plan.
 */
import { chainKeys } from "./aws_chain.ts";
import { awsCredential, constantKeys } from "./aws_credential.ts";
import { bearerCredential } from "./bearer_credential.ts";
import type { Credential, CredentialContext, HostAuth } from "./credential.ts";
import type { CredentialPlan, PlannedKey } from "./credential_plan.ts";
import { entraToken } from "./entra.ts";
import { googleToken } from "./google.ts";
import { keyCredential, NO_AUTH } from "./key_credential.ts";
import { type Files, KeyFile } from "./key_file.ts";

/** What credentials reach, passed in so that tests can replace it. */
export interface CredentialSources extends CredentialContext {
  /** Reads key and token files. */
  readonly files: Files;
  /** Calls token endpoints. */
  readonly fetch: typeof fetch;
  /** Calls services of the machine itself, which no proxy may see: metadata servers and the like. */
  readonly machineFetch: typeof fetch;
}

/**
 * Makes the credential. Nothing is called or loaded before its first use.
 *
 * @param auth the credentials that the vendor's host takes; `start()` obtains a token for it
 */
export function openCredential(
  plan: CredentialPlan,
  sources: CredentialSources,
  auth: HostAuth = NO_HOST,
): Credential {
  switch (plan.type) {
    case "none":
      return NO_AUTH;
    case "keys":
      return keyCredential(
        plan.keys.map((key) => keySource(key, sources)),
        sources.now,
      );
    case "aws_keys":
      return awsCredential(constantKeys(plan.keys), sources);
    case "aws_chain":
      return awsCredential(
        () => chainKeys(plan.env, sources),
        sources,
      );
    case "entra_secret":
    case "entra_federated":
      return bearerCredential(
        (scope) => entraToken(plan, scope, sources),
        sources,
        auth,
      );
    case "entra_managed":
      return bearerCredential(
        (scope) => entraToken(plan, scope, onMachine(sources)),
        sources,
        auth,
      );
    case "google_metadata":
      return bearerCredential(
        () => googleToken(plan, onMachine(sources)),
        sources,
        auth,
      );
    case "google_file":
      return bearerCredential(() => googleToken(plan, sources), sources, auth);
  }
}

/** For a credential that the machine itself gives. */
function onMachine(sources: CredentialSources): CredentialSources {
  return { ...sources, fetch: sources.machineFetch };
}

/** A host without a scope of its own. */
const NO_HOST: HostAuth = { schemes: [] };

function keySource(
  planned: PlannedKey,
  sources: CredentialSources,
): string | KeyFile {
  return "variable" in planned
    ? planned.key
    : new KeyFile(planned.file, planned.key, sources.files, sources);
}

export const SYSTEM_FILES: Files = {
  text: (path) => Deno.readTextFile(path),
  version: async (path) => (await Deno.stat(path)).mtime?.getTime() ?? 0,
};
