/**
 * The cookies of the console. Over https they have `Secure` and the `__Host-` prefix; under the path
 * of a public address `__Secure-`, because the other asks for the path `/`. A loopback host over
 * http has neither, because some browsers keep no secure cookie there.
 */
import type { Area } from "../../../gateway/console/console.ts";
import { ApiError } from "../../../translate/model/error.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import { isLoopback } from "../../../gateway/settings/config.ts";
import type { RouteContext } from "../../route.ts";
import { reachedAs, type Sent } from "./reached_as.ts";

/** How a browser reaches the gateway; undefined: over plain http, not on loopback. */
type Transport = "https" | "loopback";

/**
 * How the browser reaches the gateway. A trusted proxy reports https; without that, a browser sends
 * `sec-fetch-site` to a host other than loopback over https only.
 */
export function transportOf(sent: Sent): Transport | undefined {
  const { request, gateway } = sent;
  const { scheme, host } = reachedAs(sent);
  if (scheme === "https") return "https";
  if (isLoopback(host.replace(/:\d*$/, ""))) return "loopback";
  const isPublic = gateway.config.publicUrl?.split("/", 3).join("/")
    .toLowerCase() === `https://${host}`;
  return isPublic ||
      (request.headers.has("sec-fetch-site") && scheme !== "http")
    ? "https"
    : undefined;
}

const NAMES: Readonly<Record<Area, string>> = {
  account: "console",
  operator: "operator",
};

function withPrefix(
  name: string,
  transport: Transport,
  { config: { basePath } }: Gateway,
): string {
  if (transport !== "https") return name;
  return `${basePath === "" ? "__Host" : "__Secure"}-${name}`;
}

/** The path of cookies: other programs of a host receive none. */
function cookiePath({ config: { basePath } }: Gateway): string {
  return `Path=${basePath === "" ? "/" : basePath}`;
}

/** The value of a session cookie; undefined if there is none. */
export function sessionCookie(
  context: Sent,
  area: Area,
): string | undefined {
  const transport = transportOf(context);
  if (transport === undefined) return undefined;
  return cookie(
    context.request,
    withPrefix(NAMES[area], transport, context.gateway),
  );
}

/** The header that sets a session cookie, or with no secret removes it. */
export function setSessionCookie(
  { gateway }: Pick<RouteContext, "gateway">,
  area: Area,
  transport: Transport,
  secret: string | undefined,
): string {
  return [
    `${withPrefix(NAMES[area], transport, gateway)}=${secret ?? ""}`,
    cookiePath(gateway),
    "HttpOnly",
    "SameSite=Strict",
    ...(transport === "https" ? ["Secure"] : []),
    ...(secret === undefined ? ["Max-Age=0"] : []),
  ].join("; ");
}

/**
 * How the browser reaches the gateway, for a cookie that opens something.
 *
 * @throws {ApiError} `permission` over plain http, where others could read it
 */
export function requireTransport(
  context: Sent,
): Transport {
  const transport = transportOf(context);
  if (transport !== undefined) return transport;
  throw new ApiError(
    "permission",
    "the console needs https, or a loopback address such as 127.0.0.1",
    { code: "needs_https", retryable: false },
  );
}

const TICKET = "company-sign-in";
const TICKET_SECONDS = 600;

/** What a browser brings back from the company's issuer; undefined if there is nothing. */
export function ticketCookie(
  context: Sent,
): string | undefined {
  const transport = transportOf(context);
  return transport &&
    cookie(context.request, withPrefix(TICKET, transport, context.gateway));
}

/** The header that sets it. Unlike a session it is sent where the issuer's page leads. */
export function setTicketCookie(
  { gateway }: Pick<RouteContext, "gateway">,
  transport: Transport,
  ticket: string,
): string {
  return [
    `${withPrefix(TICKET, transport, gateway)}=${ticket}`,
    cookiePath(gateway),
    "HttpOnly",
    "SameSite=Lax",
    `Max-Age=${TICKET_SECONDS}`,
    ...(transport === "https" ? ["Secure"] : []),
  ].join("; ");
}

/** The chosen colours; undefined: those of the system. */
export function themeOf(request: Request): "light" | "dark" | undefined {
  const theme = cookie(request, "theme");
  return theme === "light" || theme === "dark" ? theme : undefined;
}

function cookie(request: Request, name: string): string | undefined {
  for (const part of (request.headers.get("cookie") ?? "").split(";")) {
    const [key, ...rest] = part.trim().split("=");
    const value = rest.join("=");
    if (key === name && /^[\w-]{1,3000}$/.test(value)) return value;
  }
  return undefined;
}
