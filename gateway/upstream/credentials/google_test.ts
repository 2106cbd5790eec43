import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject, verify } from "node:crypto";
import {
  tokenEndpoints,
  type TokenRequest,
} from "../../../tests/support/upstreams/token_endpoints.ts";
import { silentServer } from "../../../tests/support/upstreams/silent_server.ts";
import { CredentialError } from "./credential.ts";
import { googleToken } from "./google.ts";
import { SYSTEM_FILES } from "./open_credential.ts";
import { temporaryFolder } from "../../../tests/support/temporary_folder.ts";
import { Buffer } from "node:buffer";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";

let issued = 0;

function issue(): Response {
  return Response.json({
    access_token: `google-token-${++issued}`,
    expires_in: 3599,
    token_type: "Bearer",
  });
}

const NOW_MS = 1_800_000_000_000;
const sourcesOf = (httpFetch: typeof fetch) => ({
  fetch: httpFetch,
  files: SYSTEM_FILES,
  now: () => NOW_MS,
});

async function withFile(
  json: unknown,
  run: (file: string, folder: string) => Promise<void>,
): Promise<void> {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/credentials.json`;
  await Deno.writeTextFile(file, JSON.stringify(json));
  await run(file, folder.path);
}

const planOf = (
  file: string,
  account: "service_account" | "external_account",
) => ({ type: "google_file", file, account } as const);

const metadataAt = (host: string) =>
  ({ type: "google_metadata", env: { GCE_METADATA_HOST: host } }) as const;

/** A service account's JSON, and the key that its tokens are checked with. */
function serviceAccount(keyId: string) {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
  });
  return {
    publicKey,
    json: {
      type: "service_account",
      project_id: "contoso-ml",
      private_key_id: keyId,
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
      client_email: "gateway@contoso-ml.iam.gserviceaccount.com",
      token_uri: "https://oauth2.googleapis.com/token",
    },
  };
}

/** The claims of a JWT whose signature is right. */
function verified(jwt: string, publicKey: KeyObject) {
  const [header = "", claims = "", signature = ""] = jwt.split(".");
  const signed = new TextEncoder().encode(`${header}.${claims}`);
  const bytes = Buffer.from(signature, "base64url");
  assert.ok(verify("RSA-SHA256", signed, publicKey, bytes), "the signature");
  const decoded = (part: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(part, "base64url").toString());
  return { header: decoded(header), claims: decoded(claims) };
}

Deno.test("googleToken() signs a service account's JWT, with the key that its file has at that time", async () => {
  await using endpoints = tokenEndpoints(issue);
  const accounts = [serviceAccount("key-1"), serviceAccount("key-2")];
  await withFile({}, async (file) => {
    const plan = planOf(file, "service_account");
    for (const { json } of accounts) {
      await Deno.writeTextFile(file, JSON.stringify(json));
      const token = await googleToken(plan, sourcesOf(endpoints.fetch));
      assert.equal(token.id, `google-token-${issued}`);
      assert.equal(token.headers["authorization"], `Bearer ${token.id}`);
      const lifeMs = token.expiresAtMs - Date.now();
      assert.ok(lifeMs > 3_500_000 && lifeMs <= 3_600_000, `${lifeMs}`);
    }
  });
  assert.equal(endpoints.requests.length, 2);
  for (const [i, { publicKey, json }] of accounts.entries()) {
    const request = endpoints.requests[i];
    assert.equal(new URL(request?.url ?? "").protocol, "https:");
    const form = new URLSearchParams(request?.body);
    const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    assert.equal(form.get("grant_type"), grant);
    const assertion = form.get("assertion") ?? "";
    const { header, claims } = verified(assertion, publicKey);
    assert.equal(header["alg"], "RS256");
    assert.equal(claims["iss"], json.client_email);
    assert.equal(claims["scope"], SCOPE);
    assert.equal(claims["aud"], request?.url);
  }
});

/** Federation: the subject token of a file is exchanged, then an account is impersonated. */
function federation({ url }: TokenRequest): Response {
  return url.startsWith("https://sts.googleapis.com/")
    ? Response.json({
      access_token: "federated-token",
      issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
      token_type: "Bearer",
      expires_in: 3600,
    })
    : Response.json({
      accessToken: `impersonated-token-${++issued}`,
      expireTime: new Date(Date.now() + 3_600_000).toISOString(),
    });
}

Deno.test("googleToken() exchanges a federated identity and impersonates its account, anew each time", async () => {
  await using endpoints = tokenEndpoints(federation);
  const settings = {
    type: "external_account",
    audience:
      "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: "https://sts.googleapis.com/v1/token",
    service_account_impersonation_url:
      "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/gateway@contoso-ml.iam.gserviceaccount.com:generateAccessToken",
  };
  await withFile({}, async (file, folder) => {
    const subject = `${folder}/subject`;
    const json = { ...settings, credential_source: { file: subject } };
    await Deno.writeTextFile(file, JSON.stringify(json));
    const plan = planOf(file, "external_account");
    for (const text of ["subject-1", "subject-2"]) {
      await Deno.writeTextFile(subject, text);
      const token = await googleToken(plan, sourcesOf(endpoints.fetch));
      assert.equal(token.id, `impersonated-token-${issued}`);
      assert.ok(token.expiresAtMs > Date.now() + 3_000_000);
    }
  });
  const exchanges = endpoints.requests.filter(({ url }) =>
    url.startsWith("https://sts.googleapis.com/")
  );
  assert.deepEqual(
    exchanges.map(({ body }) => new URLSearchParams(body).get("subject_token")),
    ["subject-1", "subject-2"],
  );
  assert.equal(
    endpoints.requests.at(-1)?.headers.get("authorization"),
    "Bearer federated-token",
  );
});

Deno.test("googleToken() runs no program that a file names", () =>
  withFile({
    type: "external_account",
    credential_source: { executable: { command: "/bin/true" } },
  }, async (file) => {
    await assert.rejects(
      googleToken(planOf(file, "external_account"), sourcesOf(fetch)),
      /^CredentialError: Google external_account: its file names a program to run/,
    );
  }));

Deno.test("googleToken() asks the metadata server of the machine", async () => {
  await using endpoints = tokenEndpoints(({ headers }) =>
    headers.get("metadata-flavor") === "Google"
      ? issue()
      : new Response("", { status: 403 })
  );
  const plan = metadataAt(new URL(endpoints.url).host);
  const token = await googleToken(plan, sourcesOf(fetch));
  assert.equal(token.id, `google-token-${issued}`);
  assert.equal(token.expiresAtMs, NOW_MS + 3_599_000);
  assert.equal(
    new URL(endpoints.requests[0]?.url ?? "").pathname,
    "/computeMetadata/v1/instance/service-accounts/default/token",
  );
});

const INCOMPLETE = /a reply without a token or its life$/;
const REFUSALS: readonly (readonly [string, () => Response, RegExp])[] = [
  [
    "an error",
    () => new Response("not found", { status: 404 }),
    /^Google metadata server: status 404$/,
  ],
  [
    "a reply without a token",
    () => Response.json({ expires_in: 10 }),
    INCOMPLETE,
  ],
  [
    "a reply without a life",
    () => Response.json({ access_token: "t" }),
    INCOMPLETE,
  ],
];

for (const [name, reply, message] of REFUSALS) {
  Deno.test(`googleToken() reports ${name} of the metadata server`, async () => {
    await using endpoints = tokenEndpoints(reply);
    await assert.rejects(
      googleToken(metadataAt(new URL(endpoints.url).host), sourcesOf(fetch)),
      (error) =>
        error instanceof CredentialError && message.test(error.message),
    );
  });
}

Deno.test("googleToken() gives up on a silent metadata server", async () => {
  await using server = silentServer();
  await assert.rejects(
    googleToken(metadataAt(server.host), sourcesOf(fetch)),
    /^CredentialError: Google metadata server: no answer within a second$/,
  );
  assert.equal(server.connections(), 1, "asked once");
});

Deno.test("googleToken() reports a refused account without the key or the assertion", async () => {
  await using endpoints = tokenEndpoints(({ body }) =>
    Response.json(
      { error: "invalid_grant", error_description: `bad: ${body}` },
      { status: 400 },
    )
  );
  await withFile(serviceAccount("key-1").json, async (file) => {
    await assert.rejects(
      googleToken(planOf(file, "service_account"), sourcesOf(endpoints.fetch)),
      /^CredentialError: Google service_account: [\w ]+$/,
    );
  });
  assert.equal(endpoints.requests.length, 1);
});

Deno.test("googleToken() reports a file that cannot be read", () =>
  assert.rejects(
    googleToken(planOf("no/such/file", "service_account"), sourcesOf(fetch)),
    /^CredentialError: Google service_account: could not read its file$/,
  ));
