/**
 * Addresses of what is searched for. A credential that is entered, or stands in an address, is
 * replaced by its hint, since browsers and proxies keep addresses.
 */
import {
  credentialHints,
  enteredHints,
} from "../../../gateway/console/credential_hints.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { RouteContext } from "../../route.ts";
import { localPath } from "./local_path.ts";
import { seeOther } from "./see_other.ts";

/** The field of a search with the path of the page that shows what is found. */
export const SEARCHED_PAGE = "searched_page";

/**
 * Leads to the page of a search.
 *
 * @throws {ApiError} `invalid_request` where the form names no page of the console
 */
export function searchedPage(
  { gateway }: RouteContext,
  { form }: Visit,
): HttpReply {
  const path = localPath(form.get(SEARCHED_PAGE), "");
  if (path === "" || path.includes("?")) {
    throw invalidField(SEARCHED_PAGE, "must be the path of a page");
  }
  const fields = [...form].filter(([name]) =>
    name !== "form_token" && name !== SEARCHED_PAGE
  );
  return seeOther(`${path}?${withHints(gateway, fields, enteredHints)}`);
}

/** The address without its credentials; undefined where it has none. */
export function cleanAddress(
  { gateway, path, query }: Pick<RouteContext, "gateway" | "path" | "query">,
): string | undefined {
  const parts = path.split("/").map(decodedPart);
  const cleanParts = parts.map(cleaner(gateway, credentialHints));
  const cleanQuery = withHints(gateway, [...query], credentialHints);
  if (
    `${cleanQuery}` === `${query}` && cleanParts.join() === parts.join()
  ) return undefined;
  const search = query.size === 0 ? "" : `?${cleanQuery}`;
  return `${cleanParts.map(encodeURIComponent).join("/")}${search}`;
}

type Hints = (text: string, configured: readonly string[]) => string;

function cleaner(
  { config: { gatewayKey = "", adminToken = "" }, models }: Gateway,
  hints: Hints,
): (text: string) => string {
  const configured = [gatewayKey, adminToken, ...models.secrets()];
  return (text) => hints(text, configured);
}

function withHints(
  gateway: Gateway,
  fields: readonly (readonly [name: string, value: string])[],
  hints: Hints,
): URLSearchParams {
  const clean = cleaner(gateway, hints);
  return new URLSearchParams(
    fields.map(([name, value]) => [clean(name), clean(value)]),
  );
}

function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
