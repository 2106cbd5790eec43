import assert from "node:assert/strict";
import { ConfigError, readConfig } from "../../settings/config.ts";
import { modelRegistry } from "./model_registry.ts";

const ENV = { GATEWAY_CONFIG: "gateway.json", GATEWAY_UPSTREAM: "replay" };

function configOf(
  vendors: unknown,
  models: unknown = {},
  env: Record<string, string> = {},
  readSecret?: (path: string) => string,
) {
  return readConfig({
    env: { ...ENV, ...env },
    readFile: (path) =>
      path === "gateway.json"
        ? JSON.stringify({ vendors, models })
        : readSecret?.(path) ?? "",
  });
}

function problemsOf(
  vendors: unknown,
  readSecret?: (path: string) => string,
  models: unknown = {},
): string {
  try {
    configOf(vendors, models, {}, readSecret);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return "";
}

Deno.test("readConfig() names what is wrong with a host's row", async (t) => {
  const K = { api_key_env: "K" };
  const noAddress =
    "x.base_url: must have neither a user, a query nor a fragment; a key is named with api_key_env";
  const noRegion = "x.region: needed by bedrock_messages, such as eu-central-1";
  const rows: readonly (readonly [
    name: string,
    kind: string,
    row: Record<string, unknown>,
    problem: string,
  ])[] = [
    [
      "a key in the file",
      "vendorb",
      { api_key: "sk-1", ...K },
      "x.api_key: no key may stand in the file; name a variable with api_key_env or a file with api_key_file",
    ],
    [
      "an address with a user",
      "openai_compatible",
      { base_url: "https://u:p@h.example/v1", ...K },
      noAddress,
    ],
    [
      "an address with a query",
      "openai_compatible",
      { base_url: "https://h.example/v1?key=k", ...K },
      noAddress,
    ],
    [
      "an address with a fragment",
      "openai_compatible",
      { base_url: "https://h.example/#k", ...K },
      noAddress,
    ],
    ["no region", "bedrock_messages", { auth: { aws: "chain" } }, noRegion],
    [
      "an empty region",
      "bedrock_chat",
      { region: "", ...K },
      "x.region: needed by bedrock_chat, such as eu-central-1",
    ],
    [
      "no region of a signature at an own address",
      "bedrock_messages",
      { base_url: "https://vpce.example", auth: { aws: "chain" } },
      noRegion,
    ],
    [
      "entra on Bedrock",
      "bedrock_messages",
      { region: "eu-central-1", auth: { entra: "managed_identity" } },
      "x.auth: bedrock_messages takes aws or api_key_env",
    ],
    [
      "a key where only tokens are taken",
      "vertex_claude",
      { project: "p", location: "global", ...K },
      "x.auth: vertex_claude takes google",
    ],
    [
      "no credential off loopback over http",
      "openai_compatible",
      { base_url: "http://10.0.0.5/v1", auth: "none" },
      'x.base_url: without https only loopback, unless "allow_http" is true: prompts and the credential can be read on the way',
    ],
    [
      "an unknown kind",
      "azur_openai",
      K,
      "x.kind: there is no kind azur_openai; did you mean azure_openai?",
    ],
    [
      "an unknown preset",
      "openai_compatible",
      { preset: "grok", ...K },
      "x.preset: there is no preset grok; did you mean groq?",
    ],
    [
      "a preset of another kind",
      "vendorb",
      { preset: "groq", ...K },
      "x.preset: only openai_compatible takes one",
    ],
    [
      "no address",
      "openai_compatible",
      K,
      "x.base_url: needed by openai_compatible, such as https://api.groq.com/openai/v1",
    ],
    [
      "a setting of another host",
      "azure_openai",
      { resource: "contoso", project: "p", ...K },
      "x.project: not used by azure_openai",
    ],
    [
      "a resource that is a host name of its own",
      "azure_openai",
      { resource: "evil.example/x", ...K },
      "x.resource: must be a part of an address, such as contoso",
    ],
    [
      "a credential among the headers",
      "vendorb",
      { headers: { authorization: "Bearer sk-1" }, ...K },
      "x.headers.authorization: must not be a header of the gateway or of a credential; a key is named with api_key_env",
    ],
    [
      "no credential at all",
      "azure_openai",
      { resource: "contoso" },
      "x: needs kind (the host whose API it has) and api_key_env (the variable that holds its key), api_key_file or auth",
    ],
  ];
  for (const [name, kind, row, problem] of rows) {
    await t.step(name, () => {
      assert.equal(
        problemsOf({ x: { kind, ...row } }),
        `GATEWAY_CONFIG: gateway.json: vendors.${problem}`,
      );
    });
  }
});

Deno.test("readConfig() states that a key file outside of the permission cannot be read", () => {
  const foundry = {
    kind: "foundry_messages",
    resource: "contoso",
    api_key_file: "/etc/secrets/foundry",
  };
  const message = problemsOf({ foundry }, () => {
    throw new Deno.errors.NotCapable("Requires read access");
  });
  assert.match(
    message,
    /^GATEWAY_CONFIG: vendors\.foundry\.api_key_file: could not read it: permission; start with --allow-read=\.,\/etc\/secrets$/,
  );
});

Deno.test("readConfig() leaves out a vendor whose signing keys are incomplete, and names the variable", () => {
  const auth = { aws: "keys" };
  const row = { kind: "bedrock_invoke", region: "us-east-1", auth };
  const env = { AWS_ACCESS_KEY_ID: "AKIA" };
  const config = configOf({ "aws-us": row }, {}, env);
  assert.deepEqual(config.vendorsWithoutKey, [
    { name: "aws-us", keySetting: "AWS_SECRET_ACCESS_KEY" },
  ]);
});

Deno.test("a model at a host has the model's abilities, changed by the host, changed by the file", () => {
  const vendor = "invoke";
  const capabilities = { mediaUrls: true };
  const config = configOf({
    invoke: { kind: "bedrock_invoke", region: "us-east-1", api_key_env: "KEY" },
  }, {
    "vendora-opus-4-8": {
      candidates: [
        { vendor, upstream_model: "us.anthropic.claude-opus-4-8" },
        { vendor, upstream_model: "other", capabilities },
      ],
    },
  }, { KEY: "key" });
  const registry = modelRegistry(config.catalogue, config.vendors);
  const model = registry.model("vendora-opus-4-8");
  assert.ok(model !== undefined);
  const [first, second] = registry.candidates(model, "messages");
  assert.equal(first?.capabilities.reasoning, "adaptive");
  assert.equal(first?.capabilities.systemAnywhere, false);
  assert.equal(first?.capabilities.mediaUrls, false);
  assert.equal(second?.capabilities.mediaUrls, true);
  assert.equal(
    first?.address.stream,
    "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-opus-4-8/invoke-with-response-stream",
  );
});

Deno.test("a base_url replaces the host's own; a preset has an address of its own", () => {
  const { vendors } = configOf(
    {
      private: {
        kind: "azure_openai",
        base_url: "https://llm.contoso.internal/openai/v1/",
        api_key_env: "K",
      },
      groq: { kind: "openai_compatible", preset: "groq", api_key_env: "K" },
      local: { kind: "openai_compatible", preset: "ollama", auth: "none" },
    },
    {},
    { K: "key" },
  );
  assert.deepEqual(vendors, {
    private: {
      apiKey: "key",
      baseUrl: "https://llm.contoso.internal/openai/v1",
    },
    groq: { apiKey: "key", baseUrl: "https://api.groq.com/openai/v1" },
    local: {
      credential: { type: "none" },
      baseUrl: "http://127.0.0.1:11434/v1",
    },
  });
});

Deno.test("an alias has everything from its model but its names; a wildcard or an unknown target is refused", () => {
  const { catalogue } = configOf({}, {
    fast: { alias: "vendorb-5", display_name: "Fast" },
  });
  const target = catalogue.models.find(({ id }) => id === "vendorb-5");
  assert.deepEqual(catalogue.models.find(({ id }) => id === "fast"), {
    ...target,
    id: "fast",
    displayName: "Fast",
  });
  for (
    const [models, problem] of [
      [
        { fast: { alias: "x" } },
        /models\.fast\.alias: there is no model x/,
      ],
      [
        { fast: { alias: "vendorb-5", price: "free" } },
        /models\.fast: an alias has everything but display_name from its model: price/,
      ],
      [
        { "groq/*": {} },
        /models\.groq\/\*: a wildcard needs a vendor of the kind openai_compatible in vendors; there is no vendor groq/,
      ],
    ] as const
  ) assert.match(problemsOf({}, undefined, models), problem);
});
