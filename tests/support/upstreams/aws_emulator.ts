/**
 * A loopback server that checks signatures as AWS does, with another library than the gateway's:
 * the signature, the body's hash, the date and the session token.
 */
import { AwsV4Signer } from "aws4fetch";
import { createHash } from "node:crypto";
import type { TlsIdentity } from "./host_upstream.ts";

/** What the emulator accepts. */
export interface AwsIdentity {
  /** Sent in clear. */
  readonly accessKeyId: string;
  /** Signs. */
  readonly secretAccessKey: string;
  /** Only temporary keys have one. */
  readonly sessionToken?: string;
}

/** A request with a valid signature. */
export interface SignedRequest {
  /** As sent, percent-encoding included. */
  readonly path: string;
  /** The names that the signature covers. */
  readonly signedNames: readonly string[];
  /** Names are in lower case. */
  readonly headers: Headers;
  /** The body, whose hash was checked. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Settings of the emulator; a test may change them while it runs. */
interface AwsEmulatorOptions {
  /** Whose signatures are valid. */
  identity: AwsIdentity;
  /** The service and region that the signature must be for. */
  readonly service: string;
  /** Such as `us-east-1`. */
  readonly region: string;
  /** The service's clock, Unix time in milliseconds. */
  readonly now: () => number;
  /** Over https at `localhost`; absent: http. */
  readonly tls?: TlsIdentity;
  reply(request: SignedRequest): Response | Promise<Response>;
}

interface AwsEmulator extends AsyncDisposable {
  readonly url: string;
  /** Valid requests, in order. */
  readonly accepted: readonly SignedRequest[];
  /** Error types of the refusals, in order. */
  readonly refusals: readonly string[];
}

const MAX_SKEW_MS = 5 * 60_000;

export function awsEmulator(options: AwsEmulatorOptions): AwsEmulator {
  const accepted: SignedRequest[] = [];
  const refusals: string[] = [];
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {}, ...options.tls },
    async (request) => {
      const body = new Uint8Array(await request.arrayBuffer());
      const fault = await signatureFault(request, body, options);
      if (fault !== undefined) {
        refusals.push(fault);
        return awsError(403, fault, options.now());
      }
      const url = new URL(request.url);
      const signed = {
        path: `${url.pathname}${url.search}`,
        signedNames: takenApart(request.headers)?.names ?? [],
        headers: request.headers,
        body,
      };
      accepted.push(signed);
      return await options.reply(signed);
    },
  );
  return {
    url: options.tls === undefined
      ? `http://127.0.0.1:${server.addr.port}`
      : `https://localhost:${server.addr.port}`,
    accepted,
    refusals,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** An error as AWS sends it: the type is in a header, followed by a link. */
export function awsError(
  status: number,
  type: string,
  nowMs: number,
  message = "refused",
): Response {
  return Response.json({ message }, {
    status,
    headers: {
      "x-amzn-errortype":
        `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
      "x-amzn-requestid": "3ab7bb1e-0000-4000-8000-000000000000",
      date: new Date(nowMs).toUTCString(),
    },
  });
}

interface TakenApart {
  readonly accessKeyId: string;
  readonly scope: string;
  readonly names: readonly string[];
}

function takenApart(headers: Headers): TakenApart | undefined {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=[0-9a-f]{64}$/
      .exec(headers.get("authorization") ?? "");
  const [, accessKeyId = "", scope = "", names = ""] = match ?? [];
  return match === null
    ? undefined
    : { accessKeyId, scope, names: names.split(";") };
}

/** The type of the error for a request that AWS would refuse; undefined if it is valid. */
async function signatureFault(
  request: Request,
  body: Uint8Array<ArrayBuffer>,
  { identity, service, region, now }: AwsEmulatorOptions,
): Promise<string | undefined> {
  const { headers } = request;
  const parts = takenApart(headers);
  if (parts === undefined) return "MissingAuthenticationTokenException";
  const date = headers.get("x-amz-date") ?? "";
  if (parts.accessKeyId !== identity.accessKeyId) {
    return "UnrecognizedClientException";
  }
  if (
    (headers.get("x-amz-security-token") ?? undefined) !== identity.sessionToken
  ) return "ExpiredTokenException";
  if (
    parts.scope !== `${date.slice(0, 8)}/${region}/${service}/aws4_request` ||
    new Set(parts.names).size !== parts.names.length ||
    !["host", "x-amz-date"].every((name) => parts.names.includes(name)) ||
    [...headers.keys()].some((name) =>
      name.startsWith("x-amz-") && !parts.names.includes(name)
    )
  ) return "IncompleteSignatureException";
  const signedAtMs = Date.parse(
    date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"),
  );
  if (!(Math.abs(signedAtMs - now()) <= MAX_SKEW_MS)) {
    return "InvalidSignatureException";
  }
  const bodyHash = createHash("sha256").update(body).digest("hex");
  if (headers.get("x-amz-content-sha256") !== bodyHash) {
    return "InvalidSignatureException";
  }
  const signer = new AwsV4Signer({
    ...identity,
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(
      parts.names.filter((name) => name !== "host").map((name) => [
        name,
        headers.get(name) ?? "",
      ]),
    ),
    body,
    service,
    region,
    datetime: date,
    allHeaders: true,
  });
  return await signer.authHeader() === headers.get("authorization")
    ? undefined
    : "InvalidSignatureException";
}
