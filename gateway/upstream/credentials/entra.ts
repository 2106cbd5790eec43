/**
 * Tokens of Microsoft Entra: for an application with a secret or a federated token, or for the
 * machine's managed identity.
 */
import type {
  INetworkModule,
  NetworkRequestOptions,
  NetworkResponse,
} from "@azure/msal-node";
import { type BearerToken, bearerToken } from "./bearer_credential.ts";
import { CredentialError } from "./credential.ts";
import type { CredentialPlan } from "./credential_plan.ts";
import type { Files } from "./key_file.ts";

/** The scope if the host's row names none. */
const DEFAULT_SCOPE = "https://cognitiveservices.azure.com/.default";
const SCOPE_SUFFIX = "/.default";

/** Longest call of a token endpoint. */
const TOKEN_TIMEOUT_MS = 10_000;
/** In a container without a route to it, the metadata server does not answer at all. */
const PROBE_TIMEOUT_MS = 1_000;

const METADATA_HOST = "http://169.254.169.254";
const METADATA_PATH = "/metadata/identity/oauth2/token?api-version=2018-02-01";

export type EntraPlan = Extract<
  CredentialPlan,
  { readonly type: `entra_${string}` }
>;

/** What the tokens are obtained with. */
interface EntraSources {
  /** Calls the endpoints. */
  readonly fetch: typeof fetch;
  /** Reads the federated token. */
  readonly files: Files;
}

/**
 * A token for the scope. The library's caches are bypassed, and a federated token is read again
 * each time.
 *
 * @throws {CredentialError} naming the source and the error's code
 */
export async function entraToken(
  plan: EntraPlan,
  scope: string,
  sources: EntraSources,
): Promise<BearerToken> {
  const wanted = scope === "" ? DEFAULT_SCOPE : scope;
  const source = `Entra ${plan.type.replace("entra_", "")}`;
  try {
    return plan.type === "entra_managed"
      ? await managedToken(plan, wanted, sources)
      : await applicationToken(plan, wanted, sources);
  } catch (error) {
    throw error instanceof CredentialError
      ? error
      : new CredentialError(`${source}: ${causeOf(error)}`);
  }
}

async function applicationToken(
  plan: Exclude<EntraPlan, { readonly type: "entra_managed" }>,
  scope: string,
  { fetch: httpFetch, files }: EntraSources,
): Promise<BearerToken> {
  const { ConfidentialClientApplication } = await import("@azure/msal-node");
  const { tenantId, clientId, authority } = plan;
  const proof = plan.type === "entra_secret"
    ? { clientSecret: plan.secret }
    : { clientAssertion: await federatedToken(plan.tokenFile, files) };
  const application = new ConfidentialClientApplication({
    auth: { clientId, authority: `${authority}/${tenantId}`, ...proof },
    system: { networkClient: networkClient(httpFetch) },
  });
  return tokenOf(
    await application.acquireTokenByClientCredential({
      scopes: [scope],
      skipCache: true,
    }),
  );
}

async function federatedToken(path: string, files: Files): Promise<string> {
  try {
    return (await files.text(path)).trim();
  } catch {
    throw new CredentialError(
      "Entra federated: could not read the file of AZURE_FEDERATED_TOKEN_FILE; it must be in --allow-read",
    );
  }
}

/**
 * The newest way to the machine's services: the library keeps the first network client of a process
 * for all managed identities.
 */
let machineFetch: typeof fetch | undefined;

async function managedToken(
  { clientId, env }: Extract<EntraPlan, { readonly type: "entra_managed" }>,
  scope: string,
  { fetch: httpFetch }: EntraSources,
): Promise<BearerToken> {
  if (env["IDENTITY_ENDPOINT"] === undefined) {
    await probeMetadata(
      env["AZURE_POD_IDENTITY_AUTHORITY_HOST"] ?? METADATA_HOST,
      httpFetch,
    );
  }
  machineFetch = httpFetch;
  const { ManagedIdentityApplication } = await import("@azure/msal-node");
  const application = new ManagedIdentityApplication({
    ...(clientId === undefined
      ? {}
      : { managedIdentityIdParams: { userAssignedClientId: clientId } }),
    system: {
      networkClient: networkClient((input, init) =>
        (machineFetch ?? httpFetch)(input, init)
      ),
      disableInternalRetries: true,
    },
  });
  return tokenOf(
    await application.acquireToken({
      resource: scope.endsWith(SCOPE_SUFFIX)
        ? scope.slice(0, -SCOPE_SUFFIX.length)
        : scope,
      forceRefresh: true,
    }),
  );
}

/**
 * Checks that the metadata server answers at all: a token may take it some seconds, any other
 * answer does not.
 */
async function probeMetadata(
  host: string,
  httpFetch: typeof fetch,
): Promise<void> {
  try {
    const response = await httpFetch(`${host}${METADATA_PATH}`, {
      redirect: "error",
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    await response.body?.cancel();
  } catch {
    throw new CredentialError(
      "Entra managed: the metadata server of the machine did not answer within a second",
    );
  }
}

interface LibraryToken {
  readonly accessToken: string;
  readonly expiresOn: Date | null;
}

function tokenOf(result: LibraryToken | null): BearerToken {
  if (result?.expiresOn === undefined || result.expiresOn === null) {
    throw new CredentialError("Entra: a reply without a token or its expiry");
  }
  return bearerToken(result.accessToken, result.expiresOn.getTime());
}

/** The library's HTTP over the gateway's. */
function networkClient(httpFetch: typeof fetch): INetworkModule {
  const send = async <T>(
    method: string,
    url: string,
    options: NetworkRequestOptions = {},
  ): Promise<NetworkResponse<T>> => {
    const response = await httpFetch(url, {
      method,
      headers: options.headers ?? {},
      // An empty text for requests without a body, which `fetch` refuses.
      body: options.body === "" ? null : options.body ?? null,
      redirect: "error",
      signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS),
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.json(),
    };
  };
  return {
    sendGetRequestAsync: (url, options) => send("GET", url, options),
    sendPostRequestAsync: (url, options) => send("POST", url, options),
  };
}

/** Codes only: the library's text may repeat what was sent. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  const code = "errorCode" in error && typeof error.errorCode === "string"
    ? ` ${error.errorCode}`
    : "";
  const number = /AADSTS\d+/.exec(error.message)?.[0];
  return `${error.name}${code}${number === undefined ? "" : ` ${number}`}`;
}
