/**
 * The handshake of a web socket: who may not open one gets an HTTP error.
 */
import type { Caller } from "../../gateway/accounts/accounts.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import { assertActive } from "../../gateway/pipeline/model_access.ts";
import { assertAccepting } from "../../gateway/pipeline/paid_call.ts";
import { responses } from "../../translate/formats/responses/mod.ts";
import { ApiError } from "../../translate/model/error.ts";
import { isOwnOrigin } from "../console/http/same_origin.ts";
import { corsHeaders } from "../cors.ts";
import { jsonReply, type RouteContext } from "../route.ts";
import { CAN_UPGRADE, rawUpgrade } from "./raw_upgrade.ts";

/** The version of the protocol (RFC 6455). */
const VERSION = "13";
const KEY = /^[A-Za-z0-9+/]{22}==$/;
/** Clients that try a web socket first fall back to HTTP immediately only on this status. */
const UPGRADE_REQUIRED = 426;

/**
 * Opens a web socket.
 *
 * @throws {ApiError} for a request that is no handshake, or one that is refused
 */
export async function openWebSocket(
  context: RouteContext,
  caller: Caller,
): Promise<HttpReply> {
  const { gateway, request, requestId } = context;
  const { headers } = request;
  const isHandshake = request.method === "GET" &&
    headers.get("upgrade")?.toLowerCase() === "websocket";
  if (!isHandshake) {
    throw new ApiError(
      "method_not_allowed",
      "GET is possible here only to open a web socket; possible: POST, OPTIONS",
      { allow: ["POST", "OPTIONS"], retryable: false },
    );
  }
  const { maxSockets, maxSocketsPerKey } = gateway.config;
  if (maxSockets === 0 || !CAN_UPGRADE) {
    return useHttp(
      requestId,
      "there are no web sockets here: use POST /v1/responses",
    );
  }
  if (headers.get("sec-websocket-version") !== VERSION) {
    return useHttp(requestId, `sec-websocket-version must be ${VERSION}`);
  }
  if (!KEY.test(headers.get("sec-websocket-key") ?? "")) {
    throw malformedHandshake("sec-websocket-key must be 16 bytes in base64");
  }
  assertOrigin(context);
  assertAccepting(gateway);
  assertActive(caller);
  // A start does not wait for it, and most gateways never need it.
  const { Connection } = await import("./connection.ts");
  gateway.sockets.assertRoom(caller.keyId, {
    all: maxSockets,
    perKey: maxSocketsPerKey,
  });
  const upgrade = rawUpgrade(request);
  if (upgrade === undefined) {
    return useHttp(requestId, "web sockets are opened over HTTP/1.1 alone");
  }
  new Connection(context, caller, upgrade.conn);
  return { status: 101, headers: {}, body: null, handshake: upgrade.response };
}

function useHttp(requestId: string, problem: string): HttpReply {
  const error = new ApiError("method_not_allowed", problem, {
    retryable: false,
  });
  return jsonReply(responses.encodeError(error, requestId).body, {
    status: UPGRADE_REQUIRED,
    headers: {
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": VERSION,
    },
  });
}

/**
 * Browsers open web sockets of other origins without a preflight. Some libraries
 * outside browsers send the gateway's own origin.
 *
 * @throws {ApiError} `permission` for a page whose origin is not allowed
 */
function assertOrigin(context: RouteContext): void {
  const { gateway, request } = context;
  const origin = request.headers.get("origin");
  if (origin === null || isOwnOrigin(origin, context)) return;
  const cors = corsHeaders(gateway, request);
  if (cors["access-control-allow-origin"] !== undefined) return;
  throw new ApiError(
    "permission",
    "web pages of this origin may not open a web socket here (GATEWAY_CORS_ORIGINS)",
    { code: "origin_not_allowed", retryable: false },
  );
}

function malformedHandshake(problem: string): ApiError {
  return new ApiError(
    "invalid_request",
    `the handshake of the web socket is not valid: ${problem}`,
    { retryable: false },
  );
}
