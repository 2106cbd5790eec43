/**
 * Groups that an issuer leaves out of a token because there are too many, and names in
 * `_claim_names` (OpenID Connect Core, section 5.6.2). The address that a token names is not asked:
 * the issuer's documented one is.
 */
import {
  isObject,
  type JsonObject,
  objectOr,
  parseJson,
} from "../../translate/bytes/json.ts";
import { limitedText } from "../upstream/http/limited_text.ts";

/**
 * Where Entra ID returns the groups of the person who signs in, by the issuer's host. Its tokens
 * hold 200 (https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference); hosts:
 * https://learn.microsoft.com/graph/deployments, both read in November 2026.
 */
const GRAPH: ReadonlyMap<string, string> = new Map([
  ["login.microsoftonline.com", "https://graph.microsoft.com"],
  ["login.microsoftonline.us", "https://graph.microsoft.us"],
  ["login.chinacloudapi.cn", "https://microsoftgraph.chinacloudapi.cn"],
]);

/**
 * The permission `User.Read` suffices, and 11,000 ids are returned at most
 * (https://learn.microsoft.com/graph/api/directoryobject-getmemberobjects).
 */
const PATH = "/v1.0/me/getMemberObjects";
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/** Whether the issuer has a claim and left it out. */
export function isLeftOut(claims: JsonObject, claim: string): boolean {
  return claims[claim] === undefined &&
    objectOr(claims["_claim_names"])[claim] !== undefined;
}

/** The groups, or why they are not known. */
export type LeftOutGroups =
  | { readonly groups: readonly string[] }
  | { readonly failure: string };

/** Asks for the groups; undefined for an issuer that documents no address. */
export async function leftOutGroups(
  issuer: string,
  accessToken: string,
  httpFetch: typeof fetch,
): Promise<LeftOutGroups | undefined> {
  const graph = GRAPH.get(new URL(issuer).hostname);
  if (graph === undefined) return undefined;
  try {
    const response = await httpFetch(`${graph}${PATH}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${accessToken}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ securityEnabledOnly: false }),
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await limitedText(response, MAX_BYTES) ?? "";
    if (response.status !== 200) {
      return {
        failure:
          `Microsoft Graph answered with status ${response.status} (scopes needs User.Read)`,
      };
    }
    const json = parseJson(text);
    const value = isObject(json) ? json["value"] : undefined;
    return Array.isArray(value)
      ? { groups: value.filter((one) => typeof one === "string") }
      : { failure: "Microsoft Graph sent no list of groups" };
  } catch {
    return { failure: "Microsoft Graph could not be reached" };
  }
}
