/** The handshake of a web socket as a raw request. */
import type { TestRequest } from "./test_request.ts";

/** What a target with web sockets answers to the key of {@linkcode webSocketHandshake}. */
export const HANDSHAKE_ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/** The handshake, with that key of the target or with none. */
export function webSocketHandshake(
  key: string | undefined,
  label = "socket/any/handshake",
): TestRequest {
  return {
    endpoint: "responses",
    method: "GET",
    label,
    // A proxy removes `upgrade` where `connection` does not name it (RFC 9110, 7.6.1 and 7.8).
    keepsConnection: true,
    rawLines: [
      ...(key === undefined ? [] : [`authorization: Bearer ${key}`]),
      "connection: Upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 13",
      "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    ],
  };
}
