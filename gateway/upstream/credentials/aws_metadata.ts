/**
 * AWS keys of the machine: from a container's endpoint (ECS, EKS Pod Identity) or an instance's
 * metadata (version 2). Without AWS's library, whose HTTP cannot be replaced and takes the process
 * down where an endpoint is silent (Deno 2.5.0, `node:http`).
 */
import { limitedText } from "../http/limited_text.ts";
import type { AwsToken } from "./aws_credential.ts";
import { CredentialError } from "./credential.ts";
import type { Files } from "./key_file.ts";

/** The machine answers at once, or not at all. */
const TIMEOUT_MS = 1_000;
/** Keys and tokens take a few kilobytes. */
const MAX_BYTES = 64 * 1024;

const CONTAINER_HOST = "http://169.254.170.2";
/** Hosts that may send keys unencrypted: the machine itself, ECS, EKS. */
const PLAIN_HOSTS =
  /^(localhost|127(\.\d{1,3}){3}|\[::1\]|169\.254\.170\.(2|23)|\[fd00:ec2::23\])$/;

const INSTANCE_HOST = "http://169.254.169.254";
const INSTANCE_HOST_V6 = "http://[fd00:ec2::254]";
const ROLES_PATH = "/latest/meta-data/iam/security-credentials/";
const SESSION_SECONDS = "21600";

type Env = Readonly<Record<string, string>>;

/**
 * Keys of the container's endpoint. Its authorization token is read from its file each time.
 *
 * @throws {CredentialError} naming what failed
 */
export async function containerKeys(
  env: Env,
  files: Files,
  httpFetch: typeof fetch,
): Promise<AwsToken> {
  const relative = env["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"];
  const url = relative === undefined
    ? env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] ?? ""
    : `${CONTAINER_HOST}${relative}`;
  const source = "AWS container endpoint";
  if (!isSafe(url)) {
    throw new CredentialError(
      `${source}: its address must be https, or this machine's`,
    );
  }
  const file = env["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"];
  let token = env["AWS_CONTAINER_AUTHORIZATION_TOKEN"];
  if (file !== undefined) {
    try {
      token = (await files.text(file)).trim();
    } catch {
      throw new CredentialError(
        `${source}: could not read the file of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE; it must be in --allow-read`,
      );
    }
  }
  const headers: Record<string, string> = token === undefined
    ? {}
    : { authorization: token };
  return keysIn(await ask(source, httpFetch, url, { headers }), source);
}

/**
 * Keys of the instance's role.
 *
 * @throws {CredentialError} naming what failed
 */
export async function instanceKeys(
  env: Env,
  httpFetch: typeof fetch,
): Promise<AwsToken> {
  const isV6 =
    env["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"]?.toLowerCase() === "ipv6";
  const host = (env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ??
    (isV6 ? INSTANCE_HOST_V6 : INSTANCE_HOST)).replace(/\/+$/, "");
  const source = "AWS instance metadata";
  const session = await ask(source, httpFetch, `${host}/latest/api/token`, {
    method: "PUT",
    headers: { "x-aws-ec2-metadata-token-ttl-seconds": SESSION_SECONDS },
  });
  const get = (path: string): Promise<string> =>
    ask(source, httpFetch, `${host}${path}`, {
      headers: { "x-aws-ec2-metadata-token": session },
    });
  const role = (await get(ROLES_PATH)).trim();
  return keysIn(
    await get(`${ROLES_PATH}${encodeURIComponent(role)}`),
    source,
  );
}

function isSafe(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" ||
    (protocol === "http:" && PLAIN_HOSTS.test(hostname));
}

async function ask(
  source: string,
  httpFetch: typeof fetch,
  url: string,
  init: RequestInit,
): Promise<string> {
  let response: Response;
  let text: string | undefined;
  try {
    response = await httpFetch(url, {
      ...init,
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    text = await limitedText(response, MAX_BYTES);
  } catch {
    throw new CredentialError(`${source}: no answer within a second`);
  }
  if (text === undefined) {
    throw new CredentialError(`${source}: a reply of more than 64 KB`);
  }
  if (response.ok) return text;
  throw new CredentialError(`${source}: status ${response.status}`);
}

function keysIn(text: string, source: string): AwsToken {
  const {
    AccessKeyId: accessKeyId,
    SecretAccessKey: secretAccessKey,
    Token: sessionToken,
    Expiration: expiration,
  } = parseObject(text);
  const expiresAtMs = Date.parse(String(expiration));
  if (
    typeof accessKeyId !== "string" || typeof secretAccessKey !== "string" ||
    typeof sessionToken !== "string" || Number.isNaN(expiresAtMs)
  ) {
    throw new CredentialError(`${source}: a reply without keys`);
  }
  return {
    id: accessKeyId,
    keys: { accessKeyId, secretAccessKey, sessionToken },
    expiresAtMs,
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null ? { ...json } : {};
  } catch {
    return {};
  }
}
