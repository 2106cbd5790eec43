import assert from "node:assert/strict";
import type { AuthSettings } from "./auth_settings.ts";
import { planCredential } from "./credential_plan.ts";

const NOT_CAPABLE = Object.assign(new Error("requires read access"), {
  name: "NotCapable",
});

/** Files by path; an error is thrown. */
function plan(
  settings: AuthSettings,
  env: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string | Error>> = {},
) {
  return planCredential(settings, {
    env,
    readFile(path) {
      const file = files[path] ??
        Object.assign(new Error("missing"), { code: "ENOENT" });
      if (typeof file === "string") return file;
      throw file;
    },
  });
}

Deno.test("planCredential() takes keys from variables and files in order", () => {
  const found = plan(
    { api_key_env: ["KEY_1", "KEY_2"], api_key_file: ["secrets/azure"] },
    { KEY_2: "two" },
    { "secrets/azure": "three\n" },
  );
  const keys = [
    { variable: "KEY_2", key: "two" },
    { file: "secrets/azure", key: "three" },
  ];
  assert.deepEqual(found, { type: "plan", plan: { type: "keys", keys } });
});

const CLIENT = { tenant_id: "t", client_id: "c" };

const MISSING: readonly (readonly [AuthSettings, string])[] = [
  [{ api_key_env: ["KEY_1", "KEY_2"] }, "KEY_1"],
  ...([
    [
      { aws: "keys", access_key_id_env: "ID", secret_access_key_env: "SECRET" },
      "SECRET",
    ],
    [{ entra: "workload_identity" }, "AZURE_TENANT_ID"],
    [{ entra: "workload_identity", ...CLIENT }, "AZURE_FEDERATED_TOKEN_FILE"],
    [{ entra: "client_secret", client_secret_env: "ES", ...CLIENT }, "ES"],
    [{ google: "service_account", file_env: "GOOGLE_FILE" }, "GOOGLE_FILE"],
  ] as const).map(([auth, setting]) => [{ auth }, setting] as const),
];

for (const [settings, setting] of MISSING) {
  Deno.test(`planCredential() without ${setting} leaves the vendor out`, () => {
    assert.deepEqual(plan(settings, { ID: "AKID" }), {
      type: "missing",
      setting,
    });
  });
}

const PROBLEMS: readonly (readonly [
  AuthSettings,
  Readonly<Record<string, string>>,
  Readonly<Record<string, string | Error>>,
  string,
])[] = [
  [
    { api_key_file: ["/run/secrets/foundry"] },
    {},
    { "/run/secrets/foundry": NOT_CAPABLE },
    "api_key_file: could not read it: permission; start with --allow-read=.,/run/secrets",
  ],
  [
    { api_key_file: ["secrets/none"] },
    {},
    {},
    "api_key_file: there is no file secrets/none",
  ],
  [
    { api_key_file: ["secrets/empty"] },
    {},
    { "secrets/empty": "\n" },
    "api_key_file: secrets/empty must hold one key without blanks or line breaks",
  ],
  [
    { api_key_env: ["KEY"] },
    { KEY: "two words" },
    {},
    "KEY: must be a key without blanks or line breaks",
  ],
  [
    { auth: { google: "service_account", file_env: "FILE" } },
    { FILE: "sa.json" },
    { "sa.json": '{"type":"external_account"}' },
    'auth: the file that FILE names must be the JSON of type "service_account"',
  ],
  [
    { auth: { google: "workload_identity", file_env: "FILE" } },
    { FILE: "sa.json" },
    { "sa.json": "{" },
    "auth: the file that FILE names is not JSON",
  ],
  [
    { auth: { google: "workload_identity", file_env: "FILE" } },
    { FILE: "/var/sa.json" },
    { "/var/sa.json": NOT_CAPABLE },
    "auth: the file that FILE names: could not read it: permission; start with --allow-read=.,/var",
  ],
];

for (const [settings, env, files, problem] of PROBLEMS) {
  Deno.test(`planCredential() stops the start: ${problem}`, () => {
    assert.deepEqual(plan(settings, env, files), { type: "problem", problem });
  });
}

Deno.test("planCredential() uses no variable that the settings do not name as a key", () => {
  const ambient = {
    AWS_BEARER_TOKEN_BEDROCK: "ambient",
    GOOGLE_VERTEX_API_KEY: "ambient",
    AZURE_API_KEY: "ambient",
    KEY: "named",
  };
  assert.deepEqual(plan({ api_key_env: ["KEY"] }, ambient), {
    type: "plan",
    plan: { type: "keys", keys: [{ variable: "KEY", key: "named" }] },
  });
});

Deno.test("planCredential() resolves the applications of Entra", () => {
  const env = {
    AZURE_TENANT_ID: "tenant",
    AZURE_CLIENT_ID: "client",
    AZURE_CLIENT_SECRET: "secret",
    AZURE_FEDERATED_TOKEN_FILE: "/var/run/secrets/azure/token",
    IDENTITY_ENDPOINT: "http://127.0.0.1:1/msi",
    OTHER: "x",
  };
  const application = {
    tenantId: "tenant",
    clientId: "client",
    authority: "https://login.microsoftonline.com",
  };
  const tokenFile = env.AZURE_FEDERATED_TOKEN_FILE;
  const identity = { IDENTITY_ENDPOINT: env.IDENTITY_ENDPOINT };
  for (
    const [auth, expected] of [
      [
        { entra: "client_secret", client_secret_env: "AZURE_CLIENT_SECRET" },
        { type: "entra_secret", ...application, secret: "secret" },
      ],
      [
        { entra: "workload_identity" },
        { type: "entra_federated", ...application, tokenFile },
      ],
      [
        { entra: "managed_identity" },
        { type: "entra_managed", clientId: "client", env: identity },
      ],
    ] as const
  ) assert.deepEqual(plan({ auth }, env), { type: "plan", plan: expected });
});
