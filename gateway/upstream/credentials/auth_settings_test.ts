import assert from "node:assert/strict";
import { z } from "zod";
import {
  AUTH_FIELDS,
  authProblem,
  isUnencrypted,
  namedVariables,
} from "./auth_settings.ts";

const row = z.strictObject({ vendors: z.strictObject(AUTH_FIELDS) });

function problems(vendor: unknown): readonly string[] {
  const parsed = row.safeParse({ vendors: vendor });
  return (parsed.error?.issues ?? []).map(({ path, message }) =>
    `${path.join(".")}: ${message}`
  );
}

const GOOD: readonly unknown[] = [
  {},
  { api_key_env: "GROQ_API_KEY" },
  { api_key_env: ["KEY_1", "KEY_2"] },
  { api_key_file: "./secrets/foundry" },
  { api_key_file: ["a", "b"], api_key_env: "KEY" },
  { auth: "none" },
  { auth: { aws: "chain" } },
  { auth: { aws: "keys" } },
  { auth: { aws: "keys", access_key_id_env: "A", session_token_env: "S" } },
  { auth: { entra: "workload_identity" } },
  { auth: { entra: "managed_identity", client_id: "c" } },
  { auth: { entra: "client_secret", tenant_id: "t", client_id: "c" } },
  { auth: { google: "metadata" } },
  { auth: { google: "service_account", file_env: "F" } },
  { auth: { google: "workload_identity" } },
];

for (const vendor of GOOD) {
  Deno.test(`AUTH_FIELDS accepts ${JSON.stringify(vendor)}`, () => {
    assert.deepEqual(problems(vendor), []);
  });
}

const NO_VARIABLE =
  "vendors.api_key_env: must be the name of an environment variable";
const NO_CREDENTIAL =
  "vendors.api_key_env: must be a variable that holds a credential";
const BAD: readonly (readonly [unknown, string])[] = [
  [
    { api_key: "sk-secret" },
    "vendors.api_key: no key may stand in the file; name a variable with api_key_env or a file with api_key_file",
  ],
  [{ api_key_env: "sk-secret" }, NO_VARIABLE],
  [{ api_key_env: "gsk_1234567890abcdefghij" }, NO_VARIABLE],
  [{ api_key_env: "AKIAIOSFODNN7EXAMPLE" }, NO_VARIABLE],
  [{ api_key_env: "PATH" }, NO_CREDENTIAL],
  [{ api_key_env: "HOME" }, NO_CREDENTIAL],
  [{ api_key_env: "SSH_AUTH_SOCK" }, NO_CREDENTIAL],
  [{ api_key_env: [] }, "vendors.api_key_env"],
  [
    { auth: "chain" },
    'vendors.auth: must be "none" or an object with aws, entra or google',
  ],
  [{ auth: {} }, 'vendors.auth: must be "none" or an object with aws'],
  [
    { auth: { aws: "sso" } },
    'vendors.auth.aws: aws must be "chain" or "keys"',
  ],
  [
    { auth: { aws: "keys", secret_access_key_env: "a b" } },
    "vendors.auth.secret_access_key_env: must be the name of an environment variable",
  ],
  [
    { auth: { aws: "keys", secret_access_key: "x" } },
    "vendors.auth: there is no field secret_access_key; did you mean secret_access_key_env?",
  ],
  [{ auth: { entra: "x" } }, "vendors.auth.entra: entra must be"],
  [{ auth: { google: "x" } }, "vendors.auth.google: google must be"],
];

for (const [vendor, problem] of BAD) {
  Deno.test(`AUTH_FIELDS refuses ${JSON.stringify(vendor)}`, () => {
    const [first = "", ...others] = problems(vendor);
    assert.ok(first.startsWith(problem), first);
    assert.deepEqual(others, []);
    assert.doesNotMatch(first, /sk-secret|gsk_|AKIA/);
  });
}

Deno.test("AUTH_FIELDS gives lists of variables and files", () => {
  const { vendors } = row.parse({
    vendors: { api_key_env: "A", api_key_file: ["b", "c"] },
  });
  assert.deepEqual(vendors, { api_key_env: ["A"], api_key_file: ["b", "c"] });
});

Deno.test("authProblem() names what the host takes", () => {
  const bedrock = (settings: Parameters<typeof authProblem>[2]) =>
    authProblem("bedrock_messages", ["bearer", "sigv4"], settings);
  const text = "auth: bedrock_messages takes aws or api_key_env";
  assert.equal(bedrock({ auth: { entra: "workload_identity" } }), text);
  assert.equal(bedrock({ auth: "none" }), text);
  assert.equal(bedrock({}), text);
  assert.equal(bedrock({ auth: { aws: "chain" } }), undefined);
  assert.equal(bedrock({ api_key_env: ["KEY"] }), undefined);
  assert.equal(
    bedrock({ auth: { aws: "chain" }, api_key_env: ["KEY"] }),
    "auth: must not be given together with api_key_env or api_key_file",
  );
  assert.equal(
    authProblem("openai_compatible", ["bearer", "none"], {
      auth: { google: "metadata" },
    }),
    'auth: openai_compatible takes api_key_env or "none"',
  );
  assert.equal(
    authProblem("vertex_claude", ["google"], { api_key_file: ["f"] }),
    "auth: vertex_claude takes google",
  );
});

Deno.test("isUnencrypted() is true for http to another machine", () => {
  const urls = {
    "http://127.0.0.1:11434/v1": false,
    "http://[::1]:11434/v1": false,
    "https://models.example/v1": false,
    "http://models.example/v1": true,
    "http://10.0.0.5/v1": true,
  };
  for (const [url, expected] of Object.entries(urls)) {
    assert.equal(isUnencrypted(url), expected, url);
  }
});

Deno.test("namedVariables() lists every variable, defaults included", () => {
  const named = (vendor: unknown) =>
    namedVariables(row.parse({ vendors: vendor }).vendors);
  assert.deepEqual(named({ api_key_env: ["A", "B"] }), ["A", "B"]);
  assert.deepEqual(named({ auth: { aws: "keys", session_token_env: "S" } }), [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "S",
  ]);
  assert.deepEqual(
    named({ auth: { entra: "client_secret", client_id: "not a variable" } }),
    ["AZURE_CLIENT_SECRET"],
  );
  assert.deepEqual(named({ auth: { aws: "chain" } }), []);
  assert.deepEqual(named({ auth: "none" }), []);
});
