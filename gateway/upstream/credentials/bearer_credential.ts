/**
 * Credentials that are bearer tokens of a limited life.
 */
import type {
  AuthHeaders,
  Credential,
  CredentialContext,
  HostAuth,
} from "./credential.ts";
import { type Token, TokenHolder } from "./token_holder.ts";

/** A token; the id is its text. */
export interface BearerToken extends Token {
  /** Made once. */
  readonly headers: AuthHeaders;
}

export function bearerToken(text: string, expiresAtMs: number): BearerToken {
  return {
    id: text,
    expiresAtMs,
    headers: { authorization: `Bearer ${text}` },
  };
}

/**
 * A credential of tokens that a source gives, renewed before they expire: one for each scope that
 * hosts want, `""` where they name none. `start()` obtains that of `first`.
 */
export function bearerCredential(
  obtain: (scope: string) => Promise<BearerToken>,
  clock: CredentialContext,
  first?: HostAuth,
): Credential {
  const holders = new Map<string, TokenHolder<BearerToken>>();
  let isClosed = false;
  const holderOf = ({ scope = "" }: HostAuth): TokenHolder<BearerToken> => {
    let holder = holders.get(scope);
    if (holder === undefined) {
      holder = new TokenHolder(() => obtain(scope), clock);
      if (isClosed) holder.close();
      holders.set(scope, holder);
    }
    return holder;
  };
  return {
    headers({ auth }) {
      const token = holderOf(auth).token();
      return token instanceof Promise
        ? token.then(({ headers }) => headers)
        : token.headers;
    },
    refused(sent) {
      const text = (sent["authorization"] ?? "").replace(/^Bearer /, "");
      for (const holder of holders.values()) {
        if (holder.known().some(({ id }) => id === text)) {
          return holder.refused(text);
        }
      }
      // A token from before the last refresh.
      return Promise.resolve(true);
    },
    secrets: () =>
      [...holders.values()].flatMap((holder) =>
        holder.known().map(({ id }) => id)
      ),
    state() {
      const states = [...holders.values()].map((holder) => holder.state());
      return states.find(({ usable }) => !usable) ??
        states.find(({ failure }) => failure !== undefined) ??
        { usable: true };
    },
    async start() {
      if (first !== undefined) await holderOf(first).start();
    },
    close() {
      isClosed = true;
      for (const holder of holders.values()) holder.close();
    },
  };
}
