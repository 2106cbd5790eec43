/**
 * Signs calls for AWS (Signature Version 4), and as few of their headers as the services accept:
 * others may change on the way.
 */
import { Buffer } from "node:buffer";
import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import type { AwsKeys } from "./credential_plan.ts";
import type { AuthHeaders } from "./credential.ts";

/** A POST, as it is sent except for the headers of the signature. */
interface CallToSign {
  /** As it is sent: the path is percent-encoded once, the signature encodes it again. */
  readonly url: string;
  readonly body: Uint8Array;
  /** Such as `bedrock`. */
  readonly service: string;
  /** Used if the host's name contains no region. */
  readonly region: string | undefined;
  /** Unix time in milliseconds, by the service's clock. */
  readonly nowMs: number;
}

/** Larger bodies are hashed off the main thread, which takes longer in all. */
const MAX_SYNC_BYTES = 1024 * 1024;

/** The host's region, also of its FIPS and private endpoints. */
const HOST_REGION =
  /\.([a-z]{2,}(?:-[a-z]+)+-\d+)\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)$/;

/** The region that a host's name contains. */
export function hostRegion(hostname: string): string | undefined {
  return HOST_REGION.exec(hostname)?.[1];
}

/**
 * The headers of a signed call: the signature, what it covers, and the session token of temporary
 * keys. The signature covers `host`, which the HTTP client sends by itself, `content-type`, and the
 * `x-amz-` headers.
 */
export async function signedHeaders(
  call: CallToSign,
  keys: AwsKeys,
): Promise<AuthHeaders> {
  const { SignatureV4 } = await import("@smithy/signature-v4");
  const url = new URL(call.url);
  const region = hostRegion(url.hostname) ?? call.region;
  if (region === undefined) {
    throw new TypeError("no region to sign for");
  }
  const signer = new SignatureV4({
    credentials: keys,
    region,
    service: call.service,
    sha256: Sha256,
  });
  const { headers } = await signer.sign({
    method: "POST",
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: {
      host: url.host,
      "content-type": "application/json",
      "x-amz-content-sha256": await sha256Hex(call.body),
    },
    body: call.body,
  }, { signingDate: new Date(call.nowMs) });
  const { host: _host, ...sent } = headers;
  return sent;
}

async function sha256Hex(body: Uint8Array): Promise<string> {
  if (body.length <= MAX_SYNC_BYTES) {
    return createHash("sha256").update(body).digest("hex");
  }
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(body));
  return Buffer.from(digest).toString("hex");
}

/** The hash, in the shape that the signer wants. */
class Sha256 {
  #hash: Hash | Hmac;
  readonly #start: () => Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#start = secret === undefined
      ? () => createHash("sha256")
      : () => createHmac("sha256", bytesOf(secret));
    this.#hash = this.#start();
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }

  reset(): void {
    this.#hash = this.#start();
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  return typeof data === "string"
    ? new TextEncoder().encode(data)
    : data instanceof ArrayBuffer
    ? new Uint8Array(data)
    : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
