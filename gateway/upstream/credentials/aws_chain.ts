/**
 * Finds AWS keys where AWS's own clients find them: variables, web identity, the container's
 * endpoint, the instance's metadata. Shared profile files are not read: they are for people's
 * machines.
 */
import type { fromWebToken } from "@aws-sdk/credential-provider-web-identity";
import { compact } from "../../../translate/bytes/compact.ts";
import type { AwsToken } from "./aws_credential.ts";
import { containerKeys, instanceKeys } from "./aws_metadata.ts";
import { CredentialError } from "./credential.ts";
import type { Files } from "./key_file.ts";

/** A result of the library's sources. */
interface LibraryKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/** What the keys are obtained with. */
interface ChainSources {
  readonly files: Files;
  /** Calls the token service. */
  readonly fetch: typeof fetch;
  /** Calls the container's endpoint and the instance's metadata. */
  readonly machineFetch: typeof fetch;
}

/** Longest call of the token service. */
const STS_TIMEOUT_MS = 10_000;

/** Libraries write warnings to the console otherwise. */
const SILENT = {
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};

/**
 * Keys of the first source that the environment configures; without one, those of the instance.
 * Every call asks the source anew, and reads token files again.
 *
 * @throws {CredentialError} naming the source and what failed
 */
export async function chainKeys(
  env: Readonly<Record<string, string>>,
  { files, fetch: httpFetch, machineFetch }: ChainSources,
): Promise<AwsToken> {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = env;
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return tokenOf({
      accessKeyId,
      secretAccessKey,
      ...compact({ sessionToken }),
    });
  }
  if (
    env["AWS_WEB_IDENTITY_TOKEN_FILE"] !== undefined &&
    env["AWS_ROLE_ARN"] !== undefined
  ) {
    return await webIdentityKeys(env, files, httpFetch);
  }
  if (
    env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] !== undefined ||
    env["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] !== undefined
  ) return await containerKeys(env, files, machineFetch);
  const isDisabled = env["AWS_EC2_METADATA_DISABLED"]?.toLowerCase() === "true";
  if (isDisabled) {
    throw new CredentialError(
      "AWS: no source is configured, and AWS_EC2_METADATA_DISABLED is set",
    );
  }
  return await instanceKeys(env, machineFetch);
}

async function webIdentityKeys(
  env: Readonly<Record<string, string>>,
  files: Files,
  httpFetch: typeof fetch,
): Promise<AwsToken> {
  const source = "AWS web identity";
  let webIdentityToken: string;
  try {
    webIdentityToken =
      (await files.text(env["AWS_WEB_IDENTITY_TOKEN_FILE"] ?? "")).trim();
  } catch {
    throw new CredentialError(
      `${source}: could not read the file of AWS_WEB_IDENTITY_TOKEN_FILE; it must be in --allow-read`,
    );
  }
  const library = await import("@aws-sdk/credential-provider-web-identity");
  const endpoint = env["AWS_ENDPOINT_URL_STS"];
  try {
    return tokenOf(
      await library.fromWebToken({
        webIdentityToken,
        roleArn: env["AWS_ROLE_ARN"] ?? "",
        roleSessionName: env["AWS_ROLE_SESSION_NAME"] ?? "model-gateway",
        clientConfig: {
          region: env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"] ?? "us-east-1",
          requestHandler: requestHandler(httpFetch),
          // The default one reads the operating system's release, which needs a permission.
          defaultUserAgentProvider: () => Promise.resolve([["model-gateway"]]),
          maxAttempts: 1,
          logger: SILENT,
          ...compact({ endpoint }),
        },
      })(),
    );
  } catch (error) {
    throw new CredentialError(`${source}: ${causeOf(error)}`);
  }
}

/** Names and codes only: a library's text may repeat a token. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  const { name, code, statusCode } = error as Error & {
    readonly code?: unknown;
    readonly statusCode?: unknown;
  };
  return [name, code, statusCode].filter((part) =>
    typeof part === "string" || typeof part === "number"
  ).join(" ");
}

function tokenOf(keys: LibraryKeys): AwsToken {
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = keys;
  return {
    id: accessKeyId,
    keys: {
      accessKeyId,
      secretAccessKey,
      ...compact({ sessionToken }),
    },
    expiresAtMs: expiration?.getTime() ?? Infinity,
  };
}

type RequestHandler = NonNullable<
  NonNullable<Parameters<typeof fromWebToken>[0]>["clientConfig"]
>["requestHandler"];

/** A call of the token service: always without a query. */
interface LibraryRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: BodyInit;
}

/** The library's HTTP over the gateway's: `node:https` needs a permission for some variables. */
function requestHandler(httpFetch: typeof fetch): RequestHandler {
  return {
    metadata: { handlerProtocol: "http/1.1" },
    async handle(request: LibraryRequest) {
      const port = request.port === undefined ? "" : `:${request.port}`;
      const response = await httpFetch(
        `${request.protocol}//${request.hostname}${port}${request.path}`,
        {
          method: request.method,
          headers: request.headers,
          body: request.body ?? null,
          redirect: "error",
          signal: AbortSignal.timeout(STS_TIMEOUT_MS),
        },
      );
      return {
        response: {
          statusCode: response.status,
          headers: Object.fromEntries(response.headers),
          body: response.body,
        },
      };
    },
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
    destroy() {},
  };
}
