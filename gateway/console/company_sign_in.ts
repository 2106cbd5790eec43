/**
 * Sign-in at a company's issuer by OpenID Connect: authorization code with PKCE. Keeps nothing
 * between the way there and the way back; the browser brings the ticket.
 */
import { Buffer } from "node:buffer";
import type { Configuration, CustomFetchOptions } from "openid-client";
import { ApiError } from "../../translate/model/error.ts";
import {
  isObject,
  type JsonObject,
  parseJson,
} from "../../translate/bytes/json.ts";
import { keyHash } from "../accounts/key.ts";
import { isLoopback } from "../loopback.ts";
import { limitedText } from "../upstream/http/limited_text.ts";
import { isLeftOut, leftOutGroups } from "./left_out_groups.ts";
import { claimOf, type SignInSettings } from "./sign_in_settings.ts";

/** Where a person wants to go. */
export interface Wanted {
  /** The area; `door` in addresses and tickets. */
  readonly door: "account" | "operator";
  /** The account; absent: the only one that is permitted. */
  readonly account?: string;
  /** The page of the console to open. */
  readonly next?: string;
}

/** The way to the issuer. */
interface Departure {
  /** The issuer's page. */
  readonly url: string;
  /** What the browser keeps in a cookie and brings back. */
  readonly ticket: string;
}

/** A person whom the issuer knows. */
export interface Person {
  /**
   * Begins with `person_`; the same at every sign-in; nothing of the person can be read from it.
   */
  readonly id: string;
  /** As the issuer reports it. */
  readonly name: string;
  /**
   * Claims of the ID token and, where that lacks one that a rule needs, of the issuer's user info.
   */
  readonly claims: JsonObject;
  /** Why claims that the issuer left out could not be asked for; absent: nothing to add. */
  readonly failure?: string;
  readonly wanted: Wanted;
}

/** Signs persons in at the issuer. */
export interface CompanySignIn {
  /**
   * Begins a sign-in that ends at `callback`.
   *
   * @throws {ApiError} `unavailable` while the issuer does not answer
   */
  begin(wanted: Wanted, callback: string): Promise<Departure>;
  /**
   * Ends a sign-in: `search` is the query with which the issuer sent the browser to `callback`.
   *
   * @throws {ApiError} `authentication`; `unavailable` while the issuer does not answer
   */
  end(
    search: string,
    ticket: string | undefined,
    callback: string,
  ): Promise<Person>;
  /**
   * Where the browser ends its session at the issuer; undefined where the issuer has no such page.
   */
  logout(returnTo: string): Promise<string | undefined>;
}

interface Ticket extends Wanted {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** An issuer that does not answer within so many seconds counts as away. */
const TIMEOUT_SECONDS = 10;
/** Seconds by which the clocks of gateway and issuer may differ. */
const CLOCK_TOLERANCE_SECONDS = 60;
/**
 * Conversations with the issuer at once: while it is slow, strangers must leave room for other
 * pages.
 */
const MAX_CONVERSATIONS = 4;
/** The longest reply of an issuer that is read; keys of all its clients may be in it. */
const MAX_REPLY_BYTES = 1024 * 1024;
/** How long what the issuer states of itself is used for the way there. */
const METADATA_MS = 5 * 60_000;
const ID_CHARS = 24;
const NAME_CHARS = 200;

/** Loaded with the first sign-in. */
const library = () => import("openid-client");

/** What the sign-in uses. */
interface SignInSources {
  /** Calls the issuer. */
  readonly fetch: typeof fetch;
  readonly now: () => number;
}

/** Creates the sign-in. `secret`: of the client; absent: a public client. */
export function companySignIn(
  settings: SignInSettings,
  secret: string | undefined,
  { now, fetch: httpFetch }: SignInSources,
): CompanySignIn {
  const { issuer, client_id: clientId, scopes } = settings;
  let known:
    | { readonly at: number; readonly configuration: Configuration }
    | undefined;

  let conversations = 0;
  /** @throws {ApiError} `overloaded` while too many others run */
  const conversation = async <T>(run: () => Promise<T>): Promise<T> => {
    if (conversations >= MAX_CONVERSATIONS) {
      throw new ApiError(
        "overloaded",
        "too many people are signing in at once; try again in a second",
        { retryAfterSeconds: 1 },
      );
    }
    conversations++;
    try {
      return await reach(issuer, run);
    } finally {
      conversations--;
    }
  };

  const discoverIssuer = async (): Promise<Configuration> => {
    const client = await library();
    const configuration = await client.discovery(
      new URL(issuer),
      clientId,
      { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      secret === undefined ? client.None() : (server, ...rest) => {
        const methods = server.token_endpoint_auth_methods_supported;
        const authenticate =
          methods !== undefined && !methods.includes("client_secret_basic")
            ? client.ClientSecretPost(secret)
            : client.ClientSecretBasic(secret);
        return authenticate(server, ...rest);
      },
      {
        [client.customFetch]: (url, options) =>
          fetchBounded(httpFetch, url, options),
        timeout: TIMEOUT_SECONDS,
        execute: [
          client.enableNonRepudiationChecks,
          ...(isLoopback(new URL(issuer).hostname)
            ? [client.allowInsecureRequests]
            : []),
        ],
      },
    );
    known = { at: now(), configuration };
    return configuration;
  };
  const current = async (): Promise<Configuration> =>
    known !== undefined && now() - known.at < METADATA_MS
      ? known.configuration
      : await discoverIssuer();

  const personOf = async (
    configuration: Configuration,
    tokens: { claims(): object | undefined; readonly access_token: string },
    wanted: Wanted,
  ): Promise<Person> => {
    let claims: JsonObject = { ...tokens.claims() };
    const subject = String(claims["sub"]);
    const lacksOne = settings.rules.some(({ claim }) =>
      claimOf(claims, claim) === undefined
    );
    if (
      lacksOne && configuration.serverMetadata().userinfo_endpoint !== undefined
    ) {
      const client = await library();
      const more = await client.fetchUserInfo(
        configuration,
        tokens.access_token,
        subject,
      );
      claims = { ...more, ...claims };
    }
    const asked =
      settings.rules.some(({ claim }) =>
          claim === "groups" && isLeftOut(claims, claim)
        )
        ? await leftOutGroups(issuer, tokens.access_token, httpFetch)
        : undefined;
    if (asked !== undefined && "groups" in asked) {
      claims = { ...claims, groups: asked.groups };
    }
    const name = [settings.name_claim, "email", "preferred_username", "name"]
      .map((claim) => claimOf(claims, claim))
      .find((value) => typeof value === "string" && value.trim() !== "");
    return {
      id: `person_${keyHash(`${issuer}\n${subject}`).slice(0, ID_CHARS)}`,
      name: String(name ?? subject).slice(0, NAME_CHARS),
      claims,
      ...(asked !== undefined && "failure" in asked ? asked : {}),
      wanted,
    };
  };

  return {
    begin: (wanted, callback) =>
      conversation(async () => {
        const client = await library();
        const configuration = await current();
        const ticket: Ticket = {
          ...wanted,
          state: client.randomState(),
          nonce: client.randomNonce(),
          verifier: client.randomPKCECodeVerifier(),
        };
        const url = client.buildAuthorizationUrl(configuration, {
          redirect_uri: callback,
          scope: scopes.join(" "),
          state: ticket.state,
          nonce: ticket.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(
            ticket.verifier,
          ),
          code_challenge_method: "S256",
        });
        return { url: url.href, ticket: written(ticket) };
      }),
    async end(search, text, callback) {
      const ticket = read(text);
      if (ticket === undefined) {
        throw new ApiError(
          "authentication",
          "this sign-in was begun in another browser, or more than ten minutes ago; begin again",
          { retryable: false },
        );
      }
      const { state, nonce, verifier, ...wanted } = ticket;
      return await conversation(async () => {
        const client = await library();
        // The issuer's keys may have changed since the last sign-in.
        const configuration = await discoverIssuer();
        const tokens = await client.authorizationCodeGrant(
          configuration,
          new URL(`${callback}${search}`),
          {
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: verifier,
            idTokenExpected: true,
          },
        );
        const issuedAt = tokens.claims()?.iat ?? 0;
        if (issuedAt > now() / 1000 + CLOCK_TOLERANCE_SECONDS) {
          throw signInError(
            `the issuer ${
              new URL(issuer).host
            } dates its reply into the future`,
          );
        }
        return await personOf(configuration, tokens, wanted);
      });
    },
    async logout(returnTo) {
      try {
        const client = await library();
        const configuration = await current();
        if (configuration.serverMetadata().end_session_endpoint === undefined) {
          return undefined;
        }
        return client.buildEndSessionUrl(configuration, {
          post_logout_redirect_uri: returnTo,
        }).href;
      } catch {
        // The session here has ended; the issuer's is not reached now.
        return undefined;
      }
    },
  };
}

/**
 * Runs a conversation with the issuer; its failures are errors for the person, without the issuer's
 * text.
 */
async function reach<T>(issuer: string, run: () => Promise<T>): Promise<T> {
  const client = await library();
  try {
    return await run();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const host = `the issuer ${new URL(issuer).host}`;
    if (error instanceof client.AuthorizationResponseError) {
      throw signInError(`${host} refused: ${word(error.error)}`);
    }
    if (error instanceof client.ResponseBodyError && error.status < 500) {
      throw signInError(
        `${host} did not accept this sign-in: ${word(error.error)}`,
      );
    }
    if (error instanceof client.ClientError && !isOutage(error)) {
      throw signInError(
        `the reply of ${host} could not be verified (${word(error.code)})`,
      );
    }
    throw new ApiError(
      "unavailable",
      `${host} cannot be reached, so nobody can sign in there now; a key, a token or the admin token still opens the console`,
      { retryAfterSeconds: 5 },
    );
  }
}

/**
 * Whether the library's error is that of the connection, or of a page that is no reply of the
 * protocol.
 */
function isOutage({ code }: { readonly code?: string }): boolean {
  return code === undefined || code === "OAUTH_TIMEOUT" ||
    code === "OAUTH_ABORT" ||
    code === "OAUTH_RESPONSE_IS_NOT_CONFORM" || code === "OAUTH_PARSE_ERROR" ||
    code === "OAUTH_RESPONSE_IS_NOT_JSON";
}

/**
 * `fetch`, with the whole body. What the issuer states of itself names the addresses: without TLS,
 * the code and the client's secret go to this machine alone.
 */
async function fetchBounded(
  httpFetch: typeof fetch,
  url: string,
  options: CustomFetchOptions,
): Promise<Response> {
  const { protocol, hostname } = new URL(url);
  if (protocol !== "https:" && !isLoopback(hostname)) {
    throw new Error("the issuer names an address without TLS");
  }
  // The library's types name fewer kinds of bodies than `fetch` has.
  const response = await httpFetch(url, options as RequestInit);
  const text = await limitedText(response, MAX_REPLY_BYTES);
  if (text === undefined) throw new Error("the issuer's reply is too long");
  return new Response(text === "" ? null : text, response);
}

function signInError(text: string): ApiError {
  return new ApiError("authentication", text, { retryable: false });
}

/** A code of the protocol; other text of the issuer is not shown. */
function word(code: string | undefined): string {
  return code !== undefined && /^\w{1,60}$/.test(code)
    ? code
    : "unknown reason";
}

function written(ticket: Ticket): string {
  return Buffer.from(JSON.stringify(ticket)).toString("base64url");
}

function read(text: string | undefined): Ticket | undefined {
  if (text === undefined) return undefined;
  const value = parseJson(Buffer.from(text, "base64url").toString());
  if (!isObject(value)) return undefined;
  const { state, nonce, verifier, door, account, next } = value;
  if (
    typeof state !== "string" || typeof nonce !== "string" ||
    typeof verifier !== "string"
  ) return undefined;
  return {
    state,
    nonce,
    verifier,
    door: door === "operator" ? "operator" : "account",
    ...(typeof account === "string" ? { account } : {}),
    ...(typeof next === "string" ? { next } : {}),
  };
}
