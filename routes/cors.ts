/**
 * CORS: cross-origin requests of web pages are allowed only for the configured origins. Other
 * origins receive no CORS headers.
 */
import type { HeaderFields, HttpReply } from "../gateway/http/http_reply.ts";
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

/** The headers that let a page of an allowed origin read a response; none for other origins. */
export function corsHeaders(
  gateway: Gateway,
  request: Request,
): HeaderFields {
  const { corsOrigins } = gateway.config;
  const origin = request.headers.get("origin");
  if (origin === null || corsOrigins.length === 0) return {};
  const allowsAny = corsOrigins.includes("*");
  if (!allowsAny && !corsOrigins.includes(origin)) return { vary: "origin" };
  return {
    "access-control-allow-origin": allowsAny ? "*" : origin,
    "access-control-expose-headers": READABLE_HEADERS,
    ...(allowsAny ? {} : { vary: "origin" }),
  };
}

/**
 * The response to OPTIONS: the methods of the path, and for an allowed origin the preflight's CORS
 * headers.
 */
export function preflight(
  gateway: Gateway,
  request: Request,
  allow: readonly string[],
): HttpReply {
  const cors = corsHeaders(gateway, request);
  const requestedHeaders = request.headers.get(
    "access-control-request-headers",
  );
  return {
    status: 204,
    headers: {
      allow: allow.join(", "),
      ...(cors["access-control-allow-origin"] === undefined ? {} : {
        "access-control-allow-methods": allow.join(", "),
        "access-control-max-age": ONE_DAY_SECONDS,
        ...(requestedHeaders === null
          ? {}
          : { "access-control-allow-headers": requestedHeaders }),
      }),
    },
    body: null,
  };
}
