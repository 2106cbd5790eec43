/** Every kind of credential under `deno task start`'s permissions; files elsewhere need more. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import type { CredentialPlan } from "../../gateway/upstream/credentials/credential_plan.ts";
import { taskFlags } from "../support/programs/task_flags.ts";
import { tokenEndpoints } from "../support/upstreams/token_endpoints.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const ROOT = new URL("../../", import.meta.url);
const EXPIRES = new Date(Date.now() + 3_600_000).toISOString();

/** Answers as every token endpoint and metadata server that the cases use. */
function endpointsOfAll() {
  return tokenEndpoints(({ url, method, body }) => {
    const { pathname } = new URL(url);
    if (pathname === "/latest/api/token") return new Response("imds-token");
    if (pathname.endsWith("/iam/security-credentials/")) {
      return new Response("role");
    }
    if (pathname.endsWith("/iam/security-credentials/role")) {
      return Response.json(AWS_KEYS);
    }
    if (pathname === "/container") return Response.json(AWS_KEYS);
    if (pathname.includes("openid-configuration")) {
      const base = "https://login.microsoftonline.com/tenant";
      return Response.json({
        token_endpoint: `${base}/oauth2/v2.0/token`,
        authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
        issuer: `${base}/v2.0`,
        jwks_uri: `${base}/keys`,
      });
    }
    if (pathname.endsWith(":generateAccessToken")) {
      return Response.json({ accessToken: "t", expireTime: EXPIRES });
    }
    if (method === "POST" && body.includes("AssumeRoleWithWebIdentity")) {
      return new Response(STS_REPLY, {
        headers: { "content-type": "text/xml" },
      });
    }
    return Response.json({
      access_token: "t",
      issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
      expires_in: 3600,
      expires_on: Math.floor(Date.now() / 1000) + 3600,
      resource: "r",
      token_type: "Bearer",
    });
  });
}

const AWS_KEYS = {
  Code: "Success",
  AccessKeyId: "ASIA1",
  SecretAccessKey: "secret",
  Token: "session",
  Expiration: EXPIRES,
};
const STS_REPLY =
  `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleWithWebIdentityResult><Credentials><SessionToken>s</SessionToken><SecretAccessKey>k</SecretAccessKey>
<Expiration>${EXPIRES}</Expiration><AccessKeyId>ASIA2</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>`;

const APPLICATION = {
  tenantId: "tenant",
  clientId: "client",
  authority: "https://login.microsoftonline.com",
};
const SIGNED = [
  "authorization",
  "content-type",
  "x-amz-content-sha256",
  "x-amz-date",
];
const BEARER = ["authorization"];

interface Case {
  readonly plan: CredentialPlan;
  /** Variables that the libraries read; `URL` is the endpoints' address. */
  readonly env?: Readonly<Record<string, string>>;
  readonly headers: readonly string[];
}

const chain = (env: Readonly<Record<string, string>>): Case => ({
  plan: { type: "aws_chain", env },
  env,
  headers: [...SIGNED, "x-amz-security-token"],
});

const CASES: Readonly<Record<string, Case>> = {
  "AWS keys": {
    plan: {
      type: "aws_keys",
      keys: { accessKeyId: "AKID", secretAccessKey: "secret" },
    },
    headers: SIGNED,
  },
  "AWS container": chain({
    AWS_CONTAINER_CREDENTIALS_FULL_URI: "URL/container",
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: "token",
  }),
  "AWS web identity": chain({
    AWS_WEB_IDENTITY_TOKEN_FILE: "token",
    AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/gateway",
    AWS_REGION: "eu-central-1",
  }),
  "AWS instance": chain({ AWS_EC2_METADATA_SERVICE_ENDPOINT: "URL" }),
  "Entra secret": {
    plan: { type: "entra_secret", ...APPLICATION, secret: "secret" },
    headers: BEARER,
  },
  "Entra federated token": {
    plan: { type: "entra_federated", ...APPLICATION, tokenFile: "token" },
    headers: BEARER,
  },
  "Entra managed identity": {
    plan: {
      type: "entra_managed",
      env: { AZURE_POD_IDENTITY_AUTHORITY_HOST: "URL" },
    },
    env: { AZURE_POD_IDENTITY_AUTHORITY_HOST: "URL" },
    headers: BEARER,
  },
  "Google metadata": {
    plan: { type: "google_metadata", env: {} },
    headers: BEARER,
  },
  "Google service account": {
    plan: {
      type: "google_file",
      file: "account.json",
      account: "service_account",
    },
    headers: BEARER,
  },
  "Google federation": {
    plan: {
      type: "google_file",
      file: "federation.json",
      account: "external_account",
    },
    headers: BEARER,
  },
};

async function writeFiles(folder: string): Promise<void> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await Deno.writeTextFile(`${folder}/token`, "projected");
  await Deno.writeTextFile(
    `${folder}/account.json`,
    JSON.stringify({
      type: "service_account",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
      client_email: "gateway@contoso-ml.iam.gserviceaccount.com",
    }),
  );
  await Deno.writeTextFile(
    `${folder}/federation.json`,
    JSON.stringify({
      type: "external_account",
      audience:
        "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: "https://sts.googleapis.com/v1/token",
      service_account_impersonation_url:
        "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/g@p.iam.gserviceaccount.com:generateAccessToken",
      credential_source: { file: "token" },
    }),
  );
}

/** Runs the program in the folder and returns what it prints. */
async function opened(
  folder: string,
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly usable: boolean; readonly headers: readonly string[] }> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      `--config=${new URL("deno.json", ROOT).pathname}`,
      ...flags,
      new URL("tests/support/programs/credential_program.ts", ROOT).pathname,
    ],
    cwd: folder,
    env,
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert.notEqual(text, "", new TextDecoder().decode(stderr));
  return JSON.parse(text);
}

for (const [name, { plan, env = {}, headers }] of Object.entries(CASES)) {
  Deno.test(`${name} works under the permissions of the start task, also with certificates of the environment`, async () => {
    await using endpoints = endpointsOfAll();
    await using folder = await temporaryFolder();
    await writeFiles(folder.path);
    const put = (text: string) => text.replaceAll("URL", endpoints.url);
    // With it, `node:https` asks for another permission.
    const certificates = `${folder.path}/token`;
    const result = await opened(folder.path, await taskFlags("start"), {
      ...Object.fromEntries(
        Object.entries(env).map(([key, value]) => [key, put(value)]),
      ),
      PLAN: put(JSON.stringify(plan)),
      TOKEN_ENDPOINTS: endpoints.url,
      NODE_EXTRA_CA_CERTS: certificates,
    });
    assert.deepEqual(
      { ...result, headers: result.headers.toSorted() },
      { usable: true, headers },
    );
  });
}
