/**
 * Makes a credential from its plan.
 *
 * @module
 */
import { chainKeys } from "./aws_chain.ts";
import { awsCredential, constantKeys } from "./aws_credential.ts";
import type { Clock, Credential } from "./credential.ts";
import type { CredentialPlan, PlannedKey } from "./credential_plan.ts";
import { keyCredential, NO_AUTH } from "./key_credential.ts";
import { type Files, KeyFile } from "./key_file.ts";

/** What credentials reach, passed in so that tests can replace it. */
export interface CredentialSources extends Clock {
  /** Reads key and token files. */
  readonly files: Files;
  /** Calls token endpoints and metadata servers. */
  readonly fetch: typeof fetch;
}

/** Makes the credential. Nothing is called or loaded before its first use. */
export function openCredential(
  plan: CredentialPlan,
  sources: CredentialSources,
): Credential {
  switch (plan.type) {
    case "none":
      return NO_AUTH;
    case "keys":
      return keyCredential(plan.keys.map((key) => keySource(key, sources)));
    case "aws_keys":
      return awsCredential(constantKeys(plan.keys), sources);
    case "aws_chain":
      return awsCredential(() => chainKeys(plan.env, sources.fetch), sources);
    default:
      throw new Error(`not implemented: ${plan.type}`);
  }
}

function keySource(
  planned: PlannedKey,
  { files, now }: CredentialSources,
): string | KeyFile {
  return "variable" in planned
    ? planned.key
    : new KeyFile(planned.file, planned.key, files, now);
}

/** The system's files. */
export const SYSTEM_FILES: Files = {
  text: (path) => Deno.readTextFile(path),
  version: async (path) => (await Deno.stat(path)).mtime?.getTime() ?? 0,
};
