/**
 * The interface of a credential: what authenticates the gateway's calls to an upstream. The kinds
 * are in the files beside this one; `open_credential.ts` chooses between them.
 */
import { ApiError } from "../../../translate/model/error.ts";
import type { Timers } from "../../timers.ts";

/** How a host takes a credential. */
export type AuthScheme =
  | "bearer"
  | "header"
  | "sigv4"
  | "entra"
  | "google"
  | "none";

/** The credentials of a host in one dialect, one object each: headers are cached by it. */
export interface HostAuth {
  /** A key is sent in every form of `bearer` and `header` that is listed. */
  readonly schemes: readonly AuthScheme[];
  /** Lower-case name of the header of a key, for `header`. */
  readonly header?: string;
  /** Service name of the signature, for `sigv4`. */
  readonly service?: string;
  /** Region of the signature if the host's name contains none, for `sigv4`. */
  readonly region?: string;
  /** Scope of the token, for `entra`. */
  readonly scope?: string;
  /** For operators whose key was refused: what its kind is limited to. Absent: nothing to add. */
  readonly keyHint?: string;
}

/** Headers that authenticate one call; their names are in lower case. */
export type AuthHeaders = Readonly<Record<string, string>>;

/** What a credential depends on. The body is final: a signature covers it. */
export interface CredentialCall {
  /** The whole address, with its query. The method is POST. */
  readonly url: string;
  /** The body as it is sent. Its content type is `application/json`. */
  readonly body: Uint8Array;
  readonly auth: HostAuth;
}

/** The part of an upstream's refusal that a credential reads: a header by its lower-case name. */
interface Refusal {
  /** Undefined if absent. */
  header(name: string): string | undefined;
}

/** Whether calls can be made. */
export interface CredentialState {
  /** False: {@linkcode Credential.headers} fails at present. */
  readonly usable: boolean;
  /** The source has failed since then; the previous token may still be valid. Absent: it works. */
  readonly failure?: {
    /** Unix time in milliseconds of the first failure in a row. */
    readonly sinceMs: number;
    /** For operators. Contains no secret. */
    readonly reason: string;
  };
}

/** Authenticates calls to one vendor. */
export interface Credential {
  /**
   * The headers for one attempt, to be computed last: a signature is valid for five minutes. Not a
   * promise while the credential is fresh.
   *
   * @throws {ApiError} `upstream`, see {@linkcode noCredential}; also as a rejection
   */
  headers(call: CredentialCall): AuthHeaders | Promise<AuthHeaders>;
  /**
   * The upstream refused these headers (401, 403, or an expired request). Drops exactly the key or
   * token that they carry, and resolves to whether the next `headers()` differ, so that one more
   * attempt at the same candidate makes sense.
   */
  refused(sent: AuthHeaders, refusal: Refusal): Promise<boolean>;
  /**
   * The upstream refused the account of these headers' key, or limits it: another key is used for
   * some time. Returns whether there is one. Absent: the credential is no list of keys.
   */
  rest?(sent: AuthHeaders, ms: number): boolean;
  /** Number of keys, of a list; absent: it is none. */
  readonly keyCount?: number;
  /** Every text that must not appear outside of calls: current and previous keys or tokens. */
  secrets(): readonly string[];
  /** Whether calls can be made, and why not. */
  state(): CredentialState;
  /** Obtains the first token. Never rejects: a failure is in the state, and is retried. */
  start(): Promise<void>;
  /** Stops retries. */
  close(): void;
}

/** What sources run in; clock and timers are passed in so that tests can replace them. */
export interface CredentialContext {
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** For retries after a failure. */
  readonly timers: Timers;
  /** Called when a source begins to fail, and when it works again. */
  readonly onChange?: (state: CredentialState) => void;
}

/** Why a source gave no token. The message is for operators and contains no secret. */
export class CredentialError extends Error {
  /** `message` names the source and its state. */
  constructor(message: string) {
    super(message);
    this.name = "CredentialError";
  }
}

/** The error of a call without a credential: no call is made, another candidate may be called. */
export function noCredential(reason: string): ApiError {
  return new ApiError(
    "upstream",
    "the gateway has no valid credential for the upstream",
    { code: "no_credential", retryable: false, note: reason },
  );
}

/** Text for operators about any error of a source, without the library's: it may repeat a token. */
export function credentialReason(error: unknown): string {
  if (error instanceof CredentialError) return error.message;
  if (!(error instanceof Error)) return "unknown failure";
  const code = "code" in error && typeof error.code === "string"
    ? ` ${error.code}`
    : "";
  return `${error.name}${code}`;
}
