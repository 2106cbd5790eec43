/**
 * Credentials that are AWS keys: each attempt is signed with the current ones.
 */
import {
  type AuthHeaders,
  type Credential,
  type CredentialCall,
  type CredentialContext,
  noCredential,
} from "./credential.ts";
import type { AwsKeys } from "./credential_plan.ts";
import { signedHeaders } from "./sigv4.ts";
import { type Token, TokenHolder } from "./token_holder.ts";

/** Temporary keys, which are replaced together; the id is the access key's. */
export interface AwsToken extends Token {
  /** The three parts belong together. */
  readonly keys: AwsKeys;
}

/**
 * Services refuse a signature that is five minutes off. A difference that small is not corrected:
 * the refusal has another cause.
 */
const MAX_SKEW_MS = 4 * 60_000;

/** A credential of keys that a source gives, renewed before they expire. */
export function awsCredential(
  obtain: () => Promise<AwsToken>,
  clock: CredentialContext,
): Credential {
  const holder = new TokenHolder(obtain, clock);
  /** How far the service's clock is ahead of this machine's. */
  let skewMs = 0;
  const sign = (
    { url, body, auth }: CredentialCall,
    keys: AwsKeys,
  ): Promise<AuthHeaders> =>
    auth.service === undefined
      ? Promise.reject(noCredential("the host takes no AWS credential"))
      : signedHeaders({
        url,
        body,
        service: auth.service,
        region: auth.region,
        nowMs: clock.now() + skewMs,
      }, keys);
  return {
    async headers(call) {
      return await sign(call, (await holder.token()).keys);
    },
    refused(sent, refusal) {
      const offMs = skewOf(sent, refusal.header("date"));
      if (offMs !== undefined && Math.abs(offMs) > MAX_SKEW_MS) {
        // Another call may have learned it already: then the next signature is right.
        const sentSkewMs = signedAtMs(sent) - clock.now();
        if (Math.abs(sentSkewMs - skewMs) < MAX_SKEW_MS) skewMs += offMs;
        return Promise.resolve(true);
      }
      const type = refusal.header("x-amzn-errortype") ?? "";
      // Other keys of the same identity have the same permissions.
      if (type.startsWith("AccessDenied")) return Promise.resolve(false);
      return holder.refused(accessKeyOf(sent));
    },
    secrets: () =>
      holder.known().flatMap(({ keys }) => [
        keys.secretAccessKey,
        ...(keys.sessionToken === undefined ? [] : [keys.sessionToken]),
      ]),
    state: () => holder.state(),
    start: () => holder.start(),
    close: () => holder.close(),
  };
}

/** A source of keys that do not change. */
export function constantKeys(keys: AwsKeys): () => Promise<AwsToken> {
  const token = { id: keys.accessKeyId, keys, expiresAtMs: Infinity };
  return () => Promise.resolve(token);
}

/** How far the service's `date` is ahead of the signature's; undefined: one cannot be read. */
function skewOf(
  sent: AuthHeaders,
  date: string | undefined,
): number | undefined {
  const offMs = Date.parse(date ?? "") - signedAtMs(sent);
  return Number.isNaN(offMs) ? undefined : offMs;
}

/** The time of `x-amz-date`, which is `20261122T190000Z`. */
function signedAtMs(sent: AuthHeaders): number {
  return Date.parse(
    (sent["x-amz-date"] ?? "").replace(
      /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
      "$1-$2-$3T$4:$5:$6Z",
    ),
  );
}

function accessKeyOf(sent: AuthHeaders): string {
  return /Credential=([^/]+)\//.exec(sent["authorization"] ?? "")?.[1] ?? "";
}
