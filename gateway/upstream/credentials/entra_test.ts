import assert from "node:assert/strict";
import {
  tokenEndpoints,
  type TokenRequest,
  withVariables,
} from "../../../tests/support/upstreams/token_endpoints.ts";
import { type EntraPlan, entraToken } from "./entra.ts";
import { SYSTEM_FILES } from "./open_credential.ts";
import { silentServer } from "../../../tests/support/upstreams/silent_server.ts";
import { temporaryFolder } from "../../../tests/support/temporary_folder.ts";
import { withTimeout } from "../../../tests/support/with_timeout.ts";

const SCOPE = "https://ai.azure.com/.default";
const APPLICATION = {
  tenantId: "11111111-1111-1111-1111-111111111111",
  clientId: "22222222-2222-2222-2222-222222222222",
  authority: "https://login.microsoftonline.com",
};
const BY_SECRET: EntraPlan = {
  type: "entra_secret",
  ...APPLICATION,
  secret: "client-secret-text",
};
const TOKEN_URL =
  `https://login.microsoftonline.com/${APPLICATION.tenantId}/oauth2/v2.0/token`;

let issued = 0;

function issue(): Response {
  return Response.json({
    token_type: "Bearer",
    expires_in: 3599,
    ext_expires_in: 3599,
    access_token: `entra-token-${++issued}`,
  });
}

/** The endpoints of an authority: its configuration, and tokens. */
function authority(token: (request: TokenRequest) => Response = issue) {
  return tokenEndpoints((request) => {
    const base = `https://login.microsoftonline.com/${APPLICATION.tenantId}`;
    if (request.url.includes("/.well-known/openid-configuration")) {
      return Response.json({
        token_endpoint: `${base}/oauth2/v2.0/token`,
        authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
        issuer: `${base}/v2.0`,
        jwks_uri: `${base}/discovery/v2.0/keys`,
      });
    }
    return request.method === "POST"
      ? token(request)
      : new Response("{}", { status: 404 });
  });
}

const sourcesOf = (by: { readonly fetch: typeof fetch }) => ({
  fetch: by.fetch,
  files: SYSTEM_FILES,
});

const tokenRequests = (requests: readonly TokenRequest[]) =>
  requests.filter(({ method }) => method === "POST");

Deno.test("entraToken() exchanges a client secret, anew at each call", async () => {
  await using endpoints = authority();
  const sources = sourcesOf(endpoints);
  const first = await entraToken(BY_SECRET, SCOPE, sources);
  const second = await entraToken(BY_SECRET, SCOPE, sources);
  assert.match(first.id, /^entra-token-\d+$/);
  assert.notEqual(first.id, second.id, "no cache of the library");
  assert.deepEqual(first.headers, { authorization: `Bearer ${first.id}` });
  const lifeMs = first.expiresAtMs - Date.now();
  assert.ok(lifeMs > 3_500_000 && lifeMs <= 3_600_000, `${lifeMs}`);
  const [request] = tokenRequests(endpoints.requests);
  assert.equal(request?.url.split("?")[0], TOKEN_URL);
  const form = new URLSearchParams(request?.body);
  assert.equal(form.get("grant_type"), "client_credentials");
  assert.equal(form.get("scope"), SCOPE);
  assert.equal(form.get("client_id"), APPLICATION.clientId);
  assert.equal(form.get("client_secret"), "client-secret-text");
});

Deno.test("entraToken() uses the scope of Azure's model services if the host names none", async () => {
  await using endpoints = authority();
  await entraToken(BY_SECRET, "", sourcesOf(endpoints));
  const [request] = tokenRequests(endpoints.requests);
  assert.equal(
    new URLSearchParams(request?.body).get("scope"),
    "https://cognitiveservices.azure.com/.default",
  );
});

Deno.test("entraToken() exchanges a federated token, read from its file each time", async () => {
  await using endpoints = authority();
  await using folder = await temporaryFolder();
  const tokenFile = `${folder.path}/token`;
  const plan = { type: "entra_federated", ...APPLICATION, tokenFile } as const;
  const sources = sourcesOf(endpoints);
  for (const text of ["projected-1\n", "projected-2\n"]) {
    await Deno.writeTextFile(tokenFile, text);
    await entraToken(plan, SCOPE, sources);
  }
  const forms = tokenRequests(endpoints.requests).map(({ body }) =>
    new URLSearchParams(body)
  );
  assert.deepEqual(
    forms.map((form) => form.get("client_assertion")),
    ["projected-1", "projected-2"],
  );
  assert.equal(
    forms[0]?.get("client_assertion_type"),
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
  );
});

Deno.test("entraToken() reports a refusal by its codes, without what was sent", async () => {
  await using endpoints = authority(() =>
    Response.json({
      error: "invalid_client",
      error_description:
        "AADSTS7000215: Invalid client secret provided: client-secret-text",
      error_codes: [7000215],
    }, { status: 401 })
  );
  await assert.rejects(
    entraToken(BY_SECRET, SCOPE, sourcesOf(endpoints)),
    /^CredentialError: Entra secret: \w+ invalid_client AADSTS7000215$/,
  );
});

Deno.test("entraToken() gives up on an authority that does not answer", async () => {
  const { timeout } = AbortSignal;
  const limits: number[] = [];
  // The limit itself is too long to be waited for.
  AbortSignal.timeout = (ms) => {
    limits.push(ms);
    return timeout.call(AbortSignal, 10);
  };
  try {
    await using server = silentServer();
    const token = entraToken(
      BY_SECRET,
      SCOPE,
      sourcesOf({ fetch: (_, init) => fetch(`http://${server.host}`, init) }),
    );
    await assert.rejects(
      withTimeout(token, "the refusal"),
      /^CredentialError: Entra secret: \w+/,
    );
  } finally {
    AbortSignal.timeout = timeout;
  }
  assert.deepEqual(new Set(limits), new Set([10_000]));
});

Deno.test("entraToken() reports a federated token file that cannot be read", () =>
  assert.rejects(
    entraToken(
      { type: "entra_federated", ...APPLICATION, tokenFile: "no/such/file" },
      SCOPE,
      sourcesOf({ fetch }),
    ),
    /^CredentialError: Entra federated: could not read the file of AZURE_FEDERATED_TOKEN_FILE/,
  ));

function managedReply(): Response {
  return Response.json({
    access_token: `managed-token-${++issued}`,
    client_id: "c",
    expires_in: "86399",
    expires_on: String(Math.floor(Date.now() / 1000) + 86_399),
    resource: "https://ai.azure.com",
    token_type: "Bearer",
  });
}

Deno.test("entraToken() obtains a managed identity's token from the machine's metadata, after a probe", async () => {
  await using endpoints = tokenEndpoints(({ headers }) =>
    headers.get("metadata") === "true"
      ? managedReply()
      : Response.json({ error: "invalid_request" }, { status: 400 })
  );
  const env = { AZURE_POD_IDENTITY_AUTHORITY_HOST: endpoints.url };
  const sources = sourcesOf(endpoints);
  await withVariables(env, async () => {
    const { clientId } = APPLICATION;
    const plan = { type: "entra_managed", clientId, env } as const;
    const first = await entraToken(plan, SCOPE, sources);
    const second = await entraToken(plan, SCOPE, sources);
    assert.notEqual(first.id, second.id, "no cache of the library");
    assert.ok(first.expiresAtMs - Date.now() > 80_000_000);
  });
  const asked = endpoints.requests.filter(({ headers }) =>
    headers.get("metadata") === "true"
  ).map(({ url }) => new URL(url));
  assert.equal(asked.length, 2);
  const { pathname = "", searchParams } = asked[0] ?? {};
  assert.match(pathname, /^\/metadata\/identity\/oauth2\/token\/?$/);
  assert.equal(searchParams?.get("resource"), "https://ai.azure.com");
  assert.equal(searchParams.get("client_id"), APPLICATION.clientId);
});

const APP_SERVICE_PROGRAM = `
  const { entraToken } = await import("${new URL(
  "./entra.ts",
  import.meta.url,
)}");
  const plan = { type: "entra_managed", env: Deno.env.toObject() };
  const files = { text: Deno.readTextFile, version: () => Promise.resolve(0) };
  console.log((await entraToken(plan, "${SCOPE}", { fetch, files })).id);
`;

Deno.test("entraToken() obtains a managed identity's token of App Service", async () => {
  await using endpoints = tokenEndpoints(({ headers }) =>
    headers.get("x-identity-header") === "identity-header-text"
      ? managedReply()
      : new Response("{}", { status: 401 })
  );
  const env = {
    IDENTITY_ENDPOINT: `${endpoints.url}/msi/token`,
    IDENTITY_HEADER: "identity-header-text",
  };
  // In a process of its own: the library chooses between the machine's sources once.
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", APP_SERVICE_PROGRAM],
    env,
    stderr: "inherit",
  }).output();
  assert.ok(success);
  assert.match(new TextDecoder().decode(stdout), /^managed-token-\d+\n$/);
  assert.equal(endpoints.requests.length, 1);
  const url = new URL(endpoints.requests[0]?.url ?? "");
  assert.match(url.pathname, /^\/msi\/token\/?$/);
  assert.equal(url.searchParams.get("resource"), "https://ai.azure.com");
});

Deno.test("entraToken() gives up on a metadata server that does not answer its probe", async () => {
  await using server = silentServer();
  const env = { AZURE_POD_IDENTITY_AUTHORITY_HOST: `http://${server.host}` };
  await assert.rejects(
    entraToken({ type: "entra_managed", env }, SCOPE, sourcesOf({ fetch })),
    /^CredentialError: Entra managed: the metadata server of the machine did not answer within a second/,
  );
  assert.equal(server.connections(), 1, "asked once");
});
