/**
 * The gateway's address for lines that people copy.
 */
import type { RouteContext } from "../../route.ts";
import { transportOf } from "./cookies.ts";
import { reachedAs } from "./reached_as.ts";

/** `GATEWAY_PUBLIC_URL`, or the address that the browser used; without a slash at the end. */
export function baseUrl(context: RouteContext): string {
  const { publicUrl } = context.gateway.config;
  if (publicUrl !== undefined) return publicUrl;
  const scheme = transportOf(context) === "https" ? "https" : "http";
  return `${scheme}://${reachedAs(context).host || "localhost"}`;
}
