/**
 * Calls from web pages of other origins: refused by saying nothing, unless the settings allow them.
 *
 * @module
 */
import type { Answer, HeaderFields } from "../gateway/answer.ts";
import type { Gateway } from "../gateway/gateway.ts";

const READABLE_HEADERS = [
  "request-id",
  "x-request-id",
  "retry-after",
  "x-should-retry",
  "x-gateway-dropped",
  "x-gateway-upstream",
].join(", ");

const ONE_DAY_SECONDS = "86400";

/** The headers that let a page of an allowed origin read an answer; none for any other. */
export function corsHeaders(
  gateway: Gateway,
  request: Request,
): HeaderFields {
  const { corsOrigins } = gateway.config;
  const origin = request.headers.get("origin");
  if (origin === null || corsOrigins.length === 0) return {};
  const any = corsOrigins.includes("*");
  if (!any && !corsOrigins.includes(origin)) return { vary: "origin" };
  return {
    "access-control-allow-origin": any ? "*" : origin,
    "access-control-expose-headers": READABLE_HEADERS,
    ...(any ? {} : { vary: "origin" }),
  };
}

/** The answer to OPTIONS: what the path allows, and, for an allowed origin's preflight, that it may. */
export function preflight(
  gateway: Gateway,
  request: Request,
  allow: readonly string[],
): Answer {
  const cors = corsHeaders(gateway, request);
  const asked = request.headers.get("access-control-request-headers");
  return {
    status: 204,
    headers: {
      allow: allow.join(", "),
      ...(cors["access-control-allow-origin"] === undefined ? {} : {
        "access-control-allow-methods": allow.join(", "),
        "access-control-max-age": ONE_DAY_SECONDS,
        ...(asked === null ? {} : { "access-control-allow-headers": asked }),
      }),
    },
    body: null,
  };
}
