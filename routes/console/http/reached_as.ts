/** How the browser addressed the gateway, as far as a trusted proxy or the request itself shows. */
import {
  type ForwardedOrigin,
  forwardedOrigin,
  forwardedPort,
} from "../../../gateway/http/forwarded_origin.ts";
import type { RouteContext } from "../../route.ts";

/** A request, its other end, and the settings of its gateway. */
export type Sent = Pick<RouteContext, "request" | "gateway" | "peer">;

/** The scheme that a proxy reports, and the host of the address, with its port. */
export function reachedAs(
  { request: { headers }, gateway, peer }: Sent,
): ForwardedOrigin & { readonly host: string } {
  const own = headers.get("host")?.toLowerCase() ?? "";
  if (peer !== undefined && !gateway.config.trustedProxies(peer())) {
    return { host: own };
  }
  const { host = own, ...scheme } = forwardedOrigin(headers);
  const port = /:\d+$/.test(host) ? undefined : forwardedPort(headers);
  return { ...scheme, host: port === undefined ? host : `${host}:${port}` };
}
