/**
 * Refuses requests that another site, or another port of the same host, makes a browser send. The
 * cookie is no protection from the latter: it is sent to every port.
 */
import { ApiError } from "../../../translate/model/error.ts";
import { reachedAs, type Sent } from "./reached_as.ts";

/**
 * Checks a request that changes something.
 *
 * @throws {ApiError} `permission` unless the browser reports that the page is of this origin
 */
export function requireSameOrigin(sent: Sent): void {
  const { headers } = sent.request;
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  // A form of a page without referrer has the origin null.
  const hasForeignOrigin = origin !== null && origin !== "null" &&
    !isOwnOrigin(origin, sent);
  const isSame = site === null
    ? origin !== null && origin !== "null"
    : site === "same-origin";
  if (isSame && !hasForeignOrigin) return;
  throw new ApiError(
    "permission",
    "this form was not sent by a page of this console; open the page again and repeat",
    { code: "cross_origin", retryable: false },
  );
}

/**
 * Refuses a script of another page that reads from the console; a browser of before 2023 does not
 * report whose page it is.
 *
 * @throws {ApiError} `permission` if the browser reports that the page is not of this origin
 */
export function requireOwnPage({ headers }: Request): void {
  const site = headers.get("sec-fetch-site");
  if (site === null || site === "same-origin") return;
  throw new ApiError(
    "permission",
    "only a page of this console may read this",
    { code: "cross_origin", retryable: false },
  );
}

/**
 * Whether an origin is the public address, or the host of the request, as it arrived or as a trusted
 * proxy reports it.
 */
export function isOwnOrigin(origin: string, sent: Sent): boolean {
  const { request, gateway } = sent;
  const { publicUrl } = gateway.config;
  return isHost(origin, request.headers.get("host")) ||
    isHost(origin, reachedAs(sent).host) ||
    (publicUrl !== undefined && URL.canParse(origin) &&
      URL.canParse(publicUrl) &&
      new URL(origin).origin === new URL(publicUrl).origin);
}

function isHost(origin: string, host: string | null): boolean {
  if (host === null || !/^https?:\/\//i.test(origin)) return false;
  const expected = `${origin.split("//", 1)[0]}//${host}`;
  return URL.canParse(origin) && URL.canParse(expected) &&
    new URL(origin).host === new URL(expected).host;
}
