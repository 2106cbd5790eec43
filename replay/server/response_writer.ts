/** Encodes HTTP/1.1 response heads and chunks as bytes. */
import { joinBytes } from "../join_bytes.ts";
import type { Script } from "../script.ts";

const encoder = new TextEncoder();
const CRLF = encoder.encode("\r\n");

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  302: "Found",
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  413: "Payload Too Large",
  422: "Unprocessable Entity",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  529: "Site Overloaded",
};

/**
 * Status line and headers of a reply. With `http10`, a chunked body is delimited by the end of the
 * connection.
 */
export function encodeHead(
  script: Script,
  keepAlive: boolean,
  http10: boolean,
): Uint8Array {
  let head = `HTTP/1.1 ${script.status} ${
    REASONS[script.status] ?? "Unknown"
  }\r\n`;
  for (const [name, value] of Object.entries(script.headers)) {
    head += `${name}: ${value}\r\n`;
  }
  if (script.framing === "chunked" && !http10) {
    head += "transfer-encoding: chunked\r\n";
  }
  if (script.framing === "length") {
    head += `content-length: ${countBytes(script)}\r\n`;
  }
  if (typeof script.framing === "number") {
    head += `content-length: ${script.framing}\r\n`;
  }
  if (!keepAlive) head += "connection: close\r\n";
  return encoder.encode(head + "\r\n");
}

function countBytes(script: Script): number {
  let total = 0;
  for (const step of script.steps) {
    if (step.step === "bytes") total += step.bytes.length;
  }
  return total;
}

/** The chunk that ends a chunked body. */
export const FINAL_CHUNK: Uint8Array = encoder.encode("0\r\n\r\n");

export function encodeChunk(payload: Uint8Array): Uint8Array {
  const size = encoder.encode(payload.length.toString(16) + "\r\n");
  return joinBytes([size, payload, CRLF]);
}
