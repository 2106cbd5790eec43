/**
 * Tokens of Google Cloud: for a service account, for a federated identity, or from the metadata
 * server.
 */
import type { BaseExternalAccountClient } from "google-auth-library";
import { type BearerToken, bearerToken } from "./bearer_credential.ts";
import { CredentialError } from "./credential.ts";
import type { CredentialPlan } from "./credential_plan.ts";
import type { Files } from "./key_file.ts";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const METADATA_HOST = "metadata.google.internal";
const METADATA_PATH =
  "/computeMetadata/v1/instance/service-accounts/default/token";

/** Longest call of a token endpoint. */
const TOKEN_TIMEOUT_MS = 10_000;
/** The metadata server is on the same machine: without an answer, it is not there. */
const METADATA_TIMEOUT_MS = 1_000;

type GooglePlan = Extract<
  CredentialPlan,
  { readonly type: `google_${string}` }
>;

/** What the tokens are obtained with. */
interface GoogleSources {
  /** Calls the endpoints. */
  readonly fetch: typeof fetch;
  /** Reads the credential's JSON. */
  readonly files: Files;
  /** Unix time in milliseconds. */
  readonly now: () => number;
}

/**
 * A token for Google Cloud. The credential's file is read again each time.
 *
 * @throws {CredentialError} naming the source and what failed
 */
export async function googleToken(
  plan: GooglePlan,
  sources: GoogleSources,
): Promise<BearerToken> {
  return plan.type === "google_metadata"
    ? await metadataToken(plan.env, sources)
    : await fileToken(plan, sources);
}

/** Without the library, whose metadata client needs a permission for network interfaces. */
async function metadataToken(
  env: Readonly<Record<string, string>>,
  { fetch: httpFetch, now }: GoogleSources,
): Promise<BearerToken> {
  const host = env["GCE_METADATA_HOST"] ?? env["GCE_METADATA_IP"] ??
    METADATA_HOST;
  const source = "Google metadata server";
  let response: Response;
  let body: unknown;
  try {
    response = await httpFetch(`http://${host}${METADATA_PATH}`, {
      headers: { "metadata-flavor": "Google" },
      redirect: "error",
      signal: AbortSignal.timeout(METADATA_TIMEOUT_MS),
    });
    body = response.ok ? await response.json() : await response.body?.cancel();
  } catch {
    throw new CredentialError(`${source}: no answer within a second`);
  }
  if (!response.ok) {
    throw new CredentialError(`${source}: status ${response.status}`);
  }
  const { access_token: token, expires_in: seconds } = recordOf(body);
  if (typeof token !== "string" || !(Number(seconds) > 0)) {
    throw new CredentialError(`${source}: a reply without a token or its life`);
  }
  return bearerToken(token, now() + Number(seconds) * 1000);
}

async function fileToken(
  { file, account }: Extract<GooglePlan, { readonly type: "google_file" }>,
  { fetch: httpFetch, files }: GoogleSources,
): Promise<BearerToken> {
  let json: Record<string, unknown>;
  try {
    json = recordOf(JSON.parse(await files.text(file)));
  } catch {
    throw new CredentialError(`Google ${account}: could not read its file`);
  }
  const library = await import("google-auth-library");
  const transporterOptions = {
    fetchImplementation: withTimeLimit(httpFetch),
    retryConfig: { retry: 0 },
  };
  try {
    const client = account === "service_account"
      ? new library.JWT({
        email: String(json["client_email"]),
        key: String(json["private_key"]),
        ...(typeof json["private_key_id"] === "string"
          ? { keyId: json["private_key_id"] }
          : {}),
        scopes: [SCOPE],
        transporterOptions,
      })
      : externalClient(library, json, transporterOptions);
    const { token } = await client.getAccessToken();
    const expiresAtMs = client.credentials.expiry_date;
    if (typeof token !== "string" || typeof expiresAtMs !== "number") {
      throw new CredentialError(`Google ${account}: a reply without a token`);
    }
    return bearerToken(token, expiresAtMs);
  } catch (error) {
    throw error instanceof CredentialError
      ? error
      : new CredentialError(`Google ${account}: ${causeOf(error)}`);
  }
}

type Library = typeof import("google-auth-library");

function externalClient(
  { AwsClient, IdentityPoolClient }: Library,
  json: Record<string, unknown>,
  transporterOptions: object,
): BaseExternalAccountClient {
  const source = recordOf(json["credential_source"]);
  if (source["executable"] !== undefined) {
    throw new CredentialError(
      "Google external_account: its file names a program to run, which is not supported",
    );
  }
  const options = { ...json, scopes: [SCOPE], transporterOptions };
  const client = source["environment_id"] === undefined
    ? new IdentityPoolClient(
      options as unknown as ConstructorParameters<typeof IdentityPoolClient>[0],
    )
    : new AwsClient(
      options as unknown as ConstructorParameters<typeof AwsClient>[0],
    );
  // The library exchanges tokens with an HTTP client of its own, on `node:https`.
  const exchange: unknown = Reflect.get(client, "stsCredential");
  if (typeof exchange === "object" && exchange !== null) {
    Reflect.set(exchange, "transporter", client.transporter);
  }
  return client;
}

function withTimeLimit(httpFetch: typeof fetch): typeof fetch {
  return (input, init) =>
    httpFetch(input, {
      ...init,
      signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS),
    });
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : {};
}

/** Names and codes only: the library's error holds the request. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  const { name, code, status } = error as Error & {
    readonly code?: unknown;
    readonly status?: unknown;
  };
  return [...new Set([name, code, status])].filter((part) =>
    typeof part === "string" || typeof part === "number"
  ).join(" ");
}
