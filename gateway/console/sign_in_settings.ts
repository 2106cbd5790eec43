/**
 * Company sign-in as the configuration file has it: the issuer, and what its claims permit.
 */
import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { isLoopback } from "../loopback.ts";
import { isLeftOut } from "./left_out_groups.ts";

const claimText = z.string().min(1).max(500);

const rule = z.strictObject({
  claim: claimText,
  value: claimText,
  operator: z.literal(true).optional(),
  account: z.string().min(1).max(200).optional(),
  scope: z.enum(["read", "manage"]).optional(),
}).refine(
  ({ operator, account }) =>
    (operator === undefined) !== (account === undefined),
  "must have either operator or account",
).refine(
  ({ account, scope }) => account !== undefined || scope === undefined,
  "scope belongs to account",
);

/** The shape of `sign_in`. */
export const signInSettings = z.strictObject({
  issuer: z.string().max(500).refine(
    isIssuer,
    "must be an https:// address without query, or http:// on this machine",
  ),
  client_id: z.string().min(1).max(500),
  name: z.string().min(1).max(60).optional(),
  name_claim: claimText.default("email"),
  scopes: z.array(
    z.string().regex(/^[\x21-\x7e]+$/, "must be a text without blanks"),
  ).max(20)
    .refine((scopes) => scopes.includes("openid"), "must include openid")
    .default(["openid", "profile", "email"]),
  session_minutes: z.int().min(5).max(1440).default(480),
  rules: z.array(rule).min(1).max(200),
});

export type SignInSettings = z.output<typeof signInSettings>;

/** A row of the table: who has the claim may enter. */
type SignInRule = SignInSettings["rules"][number];

/** What a person may open. */
type Grant =
  | { readonly kind: "operator"; readonly rule: SignInRule }
  | {
    readonly kind: "read" | "manage";
    readonly accountId: string;
    readonly rule: SignInRule;
  };

/**
 * What the claims of a person permit: at most one grant for the operators' area and one for each
 * account, the wider of two. An e-mail address that the issuer has not verified permits nothing.
 */
export function grantsOf(
  { rules }: Pick<SignInSettings, "rules">,
  claims: JsonObject,
): readonly Grant[] {
  const grants = new Map<string, Grant>();
  for (const one of rules) {
    if (!hasClaim(claims, one)) continue;
    const { account, scope = "read" } = one;
    if (account === undefined) {
      if (!grants.has("")) grants.set("", { kind: "operator", rule: one });
    } else if (grants.get(account)?.kind !== "manage") {
      grants.set(account, { kind: scope, accountId: account, rule: one });
    }
  }
  return [...grants.values()];
}

/** What a person wants to open. */
interface WantedGrant {
  readonly door: "account" | "operator";
  readonly account?: string;
}

/**
 * Why no rule gives a person what is wanted, for the person and for operators: names of claims, no
 * values.
 */
export function refusalReason(
  { rules }: Pick<SignInSettings, "rules">,
  claims: JsonObject,
  { door, account }: WantedGrant,
): string {
  const wanted = rules.filter((one) =>
    door === "operator" ? one.operator === true : one.account !== undefined &&
      (account === undefined || account === one.account)
  );
  if (wanted.length === 0) return "the table has none";
  const reasons = wanted.map(({ claim, value }) =>
    claim === "email" && has(claims, claim, value)
      ? "the issuer does not report the email address as verified (email_verified)"
      : isLeftOut(claims, claim)
      ? `the issuer left the claim ${claim} out, as Entra ID does above 200 groups`
      : claimOf(claims, claim) === undefined
      ? `the issuer sent no claim ${claim}`
      : `the claim ${claim} has the value of no row`
  );
  return [...new Set(reasons)].join("; ");
}

function hasClaim(claims: JsonObject, { claim, value }: SignInRule): boolean {
  if (claim === "email" && claims["email_verified"] !== true) return false;
  return has(claims, claim, value);
}

function has(claims: JsonObject, claim: string, value: string): boolean {
  const found = claimOf(claims, claim);
  return Array.isArray(found) ? found.includes(value) : found === value;
}

/** A claim by its name, or by its path with dots, such as `realm_access.roles`. */
export function claimOf(claims: JsonObject, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (
      typeof value !== "object" || value === null || !Object.hasOwn(value, part)
    ) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

/**
 * Identifies the row of the table that a session depends on: the session ends when the row is gone.
 */
export function ruleText(
  { issuer, client_id: clientId }: SignInSettings,
  rule: SignInRule,
): string {
  return JSON.stringify([issuer, clientId, rule]);
}

function isIssuer(text: string): boolean {
  if (!/^https?:\/\/[^\s?#@]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || isLoopback(hostname);
}
