/**
 * Sign-in to the console: a credential is exchanged for a session, and a cookie for its session.
 */
import { compact } from "../../translate/bytes/compact.ts";
import { ApiError } from "../../translate/model/error.ts";
import { type Accounts, RefusedKey } from "../accounts/accounts.ts";
import { CONFIGURED_KEY_ID } from "../accounts/authenticator.ts";
import type { Holder } from "../accounts/credential_kind.ts";
import {
  type CredentialPrefix,
  hashesEqual,
  isWellFormed,
  keyHash,
  keyHint,
} from "../accounts/key.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import {
  ADMIN_TOKEN_ID,
  type ConfiguredCredentials,
  isLive,
  type SessionRecord,
} from "../accounts/repositories/session_repository.ts";
import type { Config } from "../settings/config.ts";
import {
  type CompanySignIn,
  companySignIn,
  type Person,
} from "./company_sign_in.ts";
import { grantsOf, refusalReason, ruleText } from "./sign_in_settings.ts";
import { type WrongAttempts, wrongAttempts } from "./wrong_attempts.ts";

/** A new session. */
interface SignedIn {
  /** The cookie's value. */
  readonly secret: string;
  /** Its metadata; the store has it. */
  readonly session: SessionRecord;
}

/** The two areas of the console. A session of one opens nothing in the other. */
export type Area = "account" | "operator";

export interface Console {
  /** Whether there is an operator's area. */
  readonly hasOperatorArea: boolean;
  /**
   * Exchanges a key, an account token, a sign-in code or, in the operators' area, the admin token
   * or an operator token for a session. `replaces` is the cookie's value so far. Sign-ins, refused ones too, are
   * recorded as changes.
   *
   * @throws {ApiError} `authentication`; `rate_limit` after many wrong credentials; `unavailable`
   */
  signIn(
    area: Area,
    credential: string,
    replaces: string | undefined,
    requestId: string,
  ): Promise<SignedIn>;
  /**
   * The session of a cookie; undefined if it is not valid. `isUse`: false for a look that a person
   * did not cause, which does not keep an idle session open.
   *
   * @throws {ApiError} `unavailable`
   */
  session(
    area: Area,
    secret: string,
    isUse?: boolean,
  ): Promise<SessionRecord | undefined>;
  /** Company sign-in; undefined where it is not configured. */
  company(): Company | undefined;
  /**
   * Opens a session for a person whom the company's issuer knows, as the table of the configuration
   * permits. Sign-ins, refused ones too, are recorded as changes.
   *
   * @throws {ApiError} `permission` where the table permits nothing, or not what is wanted;
   *   `unavailable`
   */
  enterAs(
    person: Person,
    replaces: (area: Area) => string | undefined,
    requestId: string,
  ): Promise<Entered>;
  signOut(secret: string, requestId: string): Promise<void>;
  /**
   * Counts a page that is being made; the returned function ends it.
   *
   * @throws {ApiError} `overloaded` while there are too many: pages must not slow calls down
   */
  enter(): () => void;
}

/** Company sign-in as it is configured. */
export interface Company {
  /** For the button: the company's or the issuer's name. */
  readonly name: string;
  /** The areas that the table can open. */
  readonly areas: ReadonlySet<Area>;
  readonly signIn: CompanySignIn;
}

/** What became of a person's sign-in: a session, or several accounts to choose from. */
type Entered =
  | { readonly area: Area; readonly secret: string }
  | { readonly accounts: readonly string[] };

interface ConsoleParts {
  /** The settings in force. */
  readonly config: () => Pick<
    Config,
    "console" | "adminToken" | "gatewayKey" | "signIn"
  >;
  /** Verifies keys. */
  readonly accounts: Pick<Accounts, "authenticate">;
  /** Tokens, codes and sessions. */
  readonly admin: Admin;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Calls the company's issuer. */
  readonly fetch: typeof fetch;
}

/** Pages that are made at once. */
const MAX_PAGES = 8;

/** Sessions of operators that this process remembers, for the time that the store is down. */
const MAX_REMEMBERED = 100;

/** What is recorded of a refused credential: never its text. */
interface Presented {
  readonly credential: string;
  readonly hint?: string;
  readonly key?: RefusedKey["holder"];
}

/** Anybody may send any text: a hint is recorded only of what has the checksum of a credential. */
function presentedText(
  noun: string,
  prefix: CredentialPrefix,
  text: string,
): Presented {
  return isWellFormed(text, prefix)
    ? { credential: noun, hint: keyHint(text) }
    : { credential: "no credential of this gateway" };
}

export function createConsole(parts: ConsoleParts): Console {
  const { config, accounts, admin, now } = parts;
  const credentials = (): ConfiguredCredentials => {
    const { gatewayKey, adminToken, signIn } = config();
    return {
      ...(signIn === undefined ? {} : {
        company: signIn.settings.rules.map((rule) =>
          ruleText(signIn.settings, rule)
        ),
      }),
      ...compact({ key: gatewayKey, operator: adminToken }),
    };
  };
  const wrong: Readonly<Record<Area, WrongAttempts>> = {
    account: wrongAttempts("key, token or code", now),
    operator: wrongAttempts("admin token", now),
  };
  /** Keyed by the hash of the cookie's value. */
  const remembered = new Map<string, SessionRecord>();
  let pages = 0;

  let company: Company | undefined;
  let companyOf: Config["signIn"];
  /** Made again when the configuration is another one. */
  const currentCompany = (): Company | undefined => {
    const { signIn } = config();
    if (signIn !== companyOf) {
      companyOf = signIn;
      company = signIn && {
        name: signIn.settings.name ?? new URL(signIn.settings.issuer).host,
        areas: new Set(
          signIn.settings.rules.map(({ operator }) =>
            operator ? "operator" : "account"
          ),
        ),
        signIn: companySignIn(signIn.settings, signIn.secret, parts),
      };
    }
    return company;
  };

  const as = (requestId: string): Admin =>
    admin.as({ kind: "unknown", via: "page", requestId });

  const refuse = async (
    area: Area,
    { changes }: Admin,
    text: string,
    presented: Presented,
  ): Promise<never> => {
    wrong[area].count();
    await changes.signInRefused({ area, ...presented });
    throw new ApiError("authentication", text, { retryable: false });
  };

  const holderOf = async (
    admin: Admin,
    credential: string,
  ): Promise<Holder> => {
    if (credential.startsWith("code-")) {
      return await admin.signInCodes.redeem(credential) ??
        await refuse(
          "account",
          admin,
          "this code is unknown, was used, or is older than 15 minutes; ask for a new link",
          { credential: "sign-in code" },
        );
    }
    if (credential.startsWith("at-")) {
      return await admin.tokens.verify(credential) ??
        await refuse(
          "account",
          admin,
          "this account token is unknown, revoked or expired",
          presentedText("account token", "at", credential),
        );
    }
    try {
      const { accountId, keyId } = await accounts.authenticate([credential]);
      return { kind: "key", id: keyId, accountId };
    } catch (error) {
      if (!(error instanceof ApiError && error.kind === "authentication")) {
        throw error;
      }
      return await refuse(
        "account",
        admin,
        "this is no valid key, token or code: it is unknown, revoked or expired, or was changed in copying",
        {
          ...presentedText("API key", "sk", credential),
          ...(error instanceof RefusedKey ? { key: error.holder } : {}),
        },
      );
    }
  };

  const remember = (secret: string, session: SessionRecord): void => {
    if (session.kind !== "operator") return;
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(keyHash(secret), session);
  };

  return {
    hasOperatorArea: config().console === "all" &&
      config().adminToken !== undefined,
    async signIn(area, credential, replaces, requestId) {
      const admin = as(requestId);
      const before = replaces === undefined ? {} : { replaces };
      if (area === "account") {
        const holder = await holderOf(admin, credential);
        return await admin.sessions.open(holder, {
          ...before,
          ...(holder.id === CONFIGURED_KEY_ID ? { credential } : {}),
        });
      }
      if (credential.startsWith("op-")) {
        const token = await admin.operatorTokens.verify(credential) ??
          await refuse(
            area,
            admin,
            "this operator token is unknown, revoked or expired",
            presentedText("operator token", "op", credential),
          );
        const { secret, session } = await admin.sessions.open(
          { kind: "operator", id: token.id, name: token.name },
          before,
        );
        const scoped = { ...session, scope: token.scope };
        remember(secret, scoped);
        return { secret, session: scoped };
      }
      const { adminToken } = config();
      if (
        adminToken === undefined ||
        !hashesEqual(keyHash(credential), keyHash(adminToken))
      ) {
        return await refuse(
          area,
          admin,
          "this is neither the admin token (the value of GATEWAY_ADMIN_TOKEN) nor an operator token",
          { credential: "admin token" },
        );
      }
      const signedIn = await admin.sessions.open(
        { kind: "operator", id: ADMIN_TOKEN_ID },
        { ...before, credential },
      );
      remember(signedIn.secret, signedIn.session);
      return signedIn;
    },
    company: currentCompany,
    async enterAs({ id, name, claims, failure, wanted }, replaces, requestId) {
      const { signIn } = config();
      const admin = as(requestId);
      const grants = signIn === undefined
        ? []
        : grantsOf(signIn.settings, claims);
      const { door: area, account } = wanted;
      const fitting = grants.filter((grant) =>
        grant.kind === "operator" ? area === "operator" : area === "account" &&
          (account === undefined || account === grant.accountId)
      );
      const [grant, ...others] = fitting;
      if (signIn === undefined || grant === undefined) {
        const reason = [
          signIn && refusalReason(signIn.settings, claims, wanted),
          failure,
        ].filter((one) => one !== undefined).join("; ");
        await admin.changes.signInRefused({
          area,
          credential: `company account ${name}`,
          reason,
        });
        throw new ApiError(
          "permission",
          `${name} may not enter here: the gateway's table of company sign-in has no row for ${
            area === "operator"
              ? "operators"
              : account === undefined
              ? "an account"
              : `the account ${account}`
          } that fits: ${reason}`,
          { code: "not_in_table", retryable: false, note: reason },
        );
      }
      if (others.length > 0) {
        return {
          accounts: fitting.flatMap((one) =>
            one.kind === "operator" ? [] : [one.accountId]
          ),
        };
      }
      const { settings } = signIn;
      // The table may name an account that does not exist.
      if (grant.kind !== "operator") await admin.accounts.get(grant.accountId);
      const before = replaces(area);
      const { secret, session } = await admin.sessions.open(
        grant.kind === "operator"
          ? { kind: "operator", id, name }
          : { kind: grant.kind, id, name, accountId: grant.accountId },
        {
          credential: ruleText(settings, grant.rule),
          maxMs: settings.session_minutes * 60_000,
          ...compact({ replaces: before }),
        },
      );
      remember(secret, session);
      return { area, secret };
    },
    async session(area, secret, isUse = true) {
      let session: SessionRecord | undefined;
      try {
        session = await admin.sessions.find(secret, credentials(), isUse);
      } catch (error) {
        session = remembered.get(keyHash(secret));
        if (
          area === "account" || session === undefined ||
          !isLive(session, now())
        ) throw error;
        return session;
      }
      if (session === undefined) {
        remembered.delete(keyHash(secret));
        return undefined;
      }
      remember(secret, session);
      return (session.kind === "operator") === (area === "operator")
        ? session
        : undefined;
    },
    enter() {
      if (pages >= MAX_PAGES) {
        throw new ApiError(
          "overloaded",
          "too many pages are being made; try again in a second",
          { retryAfterSeconds: 1 },
        );
      }
      pages++;
      return () => {
        pages--;
      };
    },
    async signOut(secret, requestId) {
      remembered.delete(keyHash(secret));
      await as(requestId).sessions.end(secret);
    },
  };
}
