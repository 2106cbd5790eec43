/**
 * The signature of a webhook, as Standard Webhooks 1.0 defines it: HMAC-SHA256 of id, time
 * and body. https://github.com/standard-webhooks/standard-webhooks
 */
import { Buffer } from "node:buffer";
import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
/** The specification asks for 24 to 64. */
const SECRET_BYTES = 32;

/** A new secret: `whsec_` and random bytes in base64. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** A message before it is signed. */
export interface UnsignedWebhook {
  /** Unique; the same in every attempt to deliver the message. */
  readonly id: string;
  /** Time of the attempt, Unix milliseconds. */
  readonly atMs: number;
  /** JSON text. */
  readonly body: string;
}

/** The headers that identify and sign a message. */
export function signedHeaders(
  { id, atMs, body }: UnsignedWebhook,
  secret: string,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1000));
  const signature = createHmac(
    "sha256",
    Buffer.from(secret.slice(PREFIX.length), "base64"),
  ).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}
