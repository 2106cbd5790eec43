/**
 * Addresses of what is searched for. A credential that is entered, or stands in an address, is
 * replaced by its hint, since browsers and proxies keep addresses.
 */
import {
  credentialHints,
  randomTextHints,
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
  return seeOther(
    `${path}?${withHints(gateway, fields, randomTextHints)}`,
  );
}

/** The query of an address without its credentials; undefined where it has none. */
export function cleanQuery(
  gateway: Gateway,
  query: URLSearchParams,
): URLSearchParams | undefined {
  const clean = withHints(gateway, [...query], credentialHints);
  return `${clean}` === `${query}` ? undefined : clean;
}

function withHints(
  { withoutCredentials }: Pick<Gateway, "withoutCredentials">,
  fields: readonly (readonly [name: string, value: string])[],
  hints: (text: string) => string,
): URLSearchParams {
  const clean = (text: string): string => withoutCredentials(hints(text));
  return new URLSearchParams(
    fields.map(([name, value]) => [clean(name), clean(value)]),
  );
}
