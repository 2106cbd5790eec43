import assert from "node:assert/strict";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { modelRegistry } from "../upstream/catalogue/model_registry.ts";

function read(env: Record<string, string>, file = "{}"): Config {
  return readConfig({ env, readFile: () => file });
}

function problems(env: Record<string, string>, file?: string): string {
  return problemsOf(() => read(env, file));
}

function problemsOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return "";
}

Deno.test("readConfig() without settings uses loopback, port 8787 and the replay", () => {
  const config = read({});
  assert.deepEqual(config.listen, { hostname: "127.0.0.1", port: 8787 });
  assert.equal(config.replay, true);
  assert.equal(config.databaseUrl, "sqlite:./data/gateway.sqlite3");
  // After its first ping a stream goes on to no other candidate.
  assert.ok(config.connectTimeoutMs < config.pingMs);
});

Deno.test("readConfig() with a vendor's key uses that vendor instead of the replay", () => {
  const config = read({
    VENDORC_API_KEY: "k-c",
    VENDORC_BASE_URL: "http://127.0.0.1:9/x/",
  });
  assert.equal(config.replay, false);
  assert.deepEqual(config.vendors, {
    vendorc: { apiKey: "k-c", baseUrl: "http://127.0.0.1:9/x" },
  });
  const { models } = modelRegistry(config.catalogue, config.vendors);
  assert.deepEqual(
    models.map(({ id }) => id),
    ["vendorc-3-pro", "vendorc-3-flash"],
  );
});

Deno.test("readConfig() names every wrong setting", async (t) => {
  const rows: readonly (readonly [string, string, RegExp])[] = [
    ["PORT", "http", /^PORT: must be a whole number$/],
    ["PORT", "70000", /^PORT: must be from 0 to 65535$/],
    ["VENDORA_BASE_URL", "api.example", /^VENDORA_BASE_URL: /],
    ["VENDORB_API_KEY", "abc\n", /^VENDORB_API_KEY: /],
    ["GATEWAY_KEY", "secret", /^GATEWAY_KEY: must begin with sk-/],
    ["GATEWAY_UPSTREAM", "mock", /^GATEWAY_UPSTREAM: must be replay/],
    ["DATABASE_URL", "mysql://x", /^DATABASE_URL: /],
    ["GATEWAY_STORE_RESPONSES", "no", /^GATEWAY_\w+: must be on or off$/],
    ["GATEWAY_CALLS_DAYS", "3651", /^GATEWAY_\w+: must be from 0 to 3650$/],
    ["GATEWAY_RESPONSES_DAYS", "0", /^GATEWAY_\w+: must be from 1 to 3650$/],
    [
      "GATEWAY_RESPONSES_BYTES",
      "64 MB",
      /^GATEWAY_\w+: must be a whole number$/,
    ],
    ["GATEWAY_PING_SECONDS", "-1", /^GATEWAY_PING_SECONDS: /],
    ["GATEWAY_CORS_ORIGINS", "app.example", /^GATEWAY_CORS_ORIGINS: /],
    ["HOST", "0.0.0.0", /^HOST: .*VENDORA_API_KEY.*GATEWAY_UPSTREAM=replay/],
    ["DENO_DEPLOY", "true", /^HOST: .*VENDORA_API_KEY/],
  ];
  for (const [name, value, message] of rows) {
    await t.step(`${name}=${value}`, () => {
      const found = problems({ [name]: value });
      assert.match(found, message);
      assert.ok(name === "DENO_DEPLOY" || found.startsWith(`${name}: `));
    });
  }
  const two = problems({ PORT: "x", GATEWAY_LOG: "y" });
  assert.match(two, /^PORT: .*\nGATEWAY_LOG: /);
  assert.match(
    problems({ GATEWAY_LOG_FORMAT: "text" }),
    /^GATEWAY_LOG_FORMAT: must be page or json/,
  );
});

Deno.test("readConfig() reports a misspelt setting and the nearest one", async (t) => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["VENDORA_KEY", "VENDORA_API_KEY"],
    ["VENDERA_API_KEY", "VENDORA_API_KEY"],
    ["VEDNORB_API_KEY", "VENDORB_API_KEY"],
    ["VENDERC_KEY", "VENDORC_API_KEY"],
    ["VENDORD_APIKEY", "VENDORD_API_KEY"],
    ["VENDOR_D_API_KEY", "VENDORD_API_KEY"],
    ["vendorb_api_key", "VENDORB_API_KEY"],
    ["VENDORA_API_KEYS", "VENDORA_API_KEY"],
    ["VENDORB_TOKEN", "VENDORB_API_KEY"],
    ["VENDOR_API_KEY", "VENDORA_API_KEY"],
    ["VENDORA_BASEURL", "VENDORA_BASE_URL"],
    ["VENDORB_URL", "VENDORB_BASE_URL"],
    ["VENDORC_BASE_URI", "VENDORC_BASE_URL"],
    ["VENDORA_ORGANISATION", undefined],
    ["GATEWAY_PORT", "PORT"],
    ["GATEWAY_DATABASE_URL", "DATABASE_URL"],
    ["GATEWAY_API_KEY", "GATEWAY_KEY"],
    ["GATEWAY_KYE", "GATEWAY_KEY"],
    ["GATEWAY_CONNECT_TIMEOUT", "GATEWAY_CONNECT_TIMEOUT_SECONDS"],
    ["GATEWAY_COLOUR_SCHEME", undefined],
  ];
  for (const [name, meant] of rows) {
    const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
    await t.step(name, () =>
      assert.equal(
        problems({ [name]: "some-value" }),
        `${name}: no such setting${hint}`,
      ));
  }
});

Deno.test("readConfig() ignores other programs' variables", async (t) => {
  const rows: readonly (readonly [string, string])[] = [
    ["VENDOR", "apple"],
    ["VENDOR_NAME", "Fedora"],
    ["VENDOR_URL", "https://system.example/"],
    ["VENDOR_KEY", "abc"],
    ["VENDORS", "a,b"],
    ["VENDING_API_KEY", "abc"],
    ["SENDER_API_KEY", "abc"],
    ["ANTHROPIC_API_KEY", "abc"],
    ["OPENAI_BASE_URL", "https://api.example"],
    ["API_KEY", "abc"],
    ["BASE_URL", "/"],
    ["GATEWAY_SERVICE_HOST", "10.0.0.7"],
    ["GATEWAY_SERVICE_PORT_HTTP", "8787"],
    ["GATEWAY_PORT", "tcp://10.0.0.7:8787"],
    ["GATEWAY_PORT_8787_TCP_ADDR", "10.0.0.7"],
    ["VENDORA_SERVICE_HOST", "10.0.0.8"],
  ];
  for (const [name, value] of rows) {
    await t.step(name, () => assert.equal(problems({ [name]: value }), ""));
  }
});

Deno.test("readConfig() accepts any variable name for a key in the file", () => {
  for (
    const name of ["VENDORE_API_KEY", "VENDORA_EAST_KEY", "VENDOR_API_KEY"]
  ) {
    const file = JSON.stringify({
      vendors: { east: { kind: "vendora", api_key_env: name } },
    });
    const env = { GATEWAY_CONFIG: "gateway.json", [name]: "k" };
    assert.deepEqual(Object.keys(read(env, file).vendors), ["east"]);
  }
});

Deno.test("readConfig() refuses a vendor's address without its key instead of starting the replay", () => {
  const env = { VENDORB_BASE_URL: "http://127.0.0.1:8000/v1" };
  assert.match(
    problems(env),
    /^VENDORB_BASE_URL: is set, but VENDORB_API_KEY is not/,
  );
  assert.equal(problems({ ...env, GATEWAY_UPSTREAM: "replay" }), "");
  assert.equal(problems({ ...env, VENDORA_API_KEY: "k" }), "");
});

Deno.test("readConfig() reports why the file of GATEWAY_CONFIG cannot be read", async (t) => {
  const coded = (code: string) => Object.assign(new Error("no"), { code });
  const rows: readonly (readonly [string, Error, RegExp])[] = [
    [
      "missing",
      coded("ENOENT"),
      /^GATEWAY_CONFIG: there is no file x\/gateway\.json; a relative path is resolved from the working directory$/,
    ],
    [
      "outside",
      new Deno.errors.NotCapable("Requires read access"),
      /^GATEWAY_CONFIG: x\/gateway\.json is outside what this process may read, which is the working directory under deno task start: .*--allow-read$/,
    ],
    [
      "of another user",
      coded("EACCES"),
      /^GATEWAY_CONFIG: the process's user is not permitted to read x\/gateway\.json$/,
    ],
    ["a folder", coded("EISDIR"), /^GATEWAY_CONFIG: x\/\S+ is a folder/],
    ["otherwise", new Error("no"), /^GATEWAY_CONFIG: could not read x/],
  ];
  for (const [name, error, message] of rows) {
    await t.step(name, () => {
      const env = { GATEWAY_CONFIG: "x/gateway.json" };
      const readFile = () => {
        throw error;
      };
      assert.match(problemsOf(() => readConfig({ env, readFile })), message);
    });
  }
});

Deno.test("readConfig() never repeats a secret in a message", () => {
  const secret = "not a valid key";
  const names = "VENDORA_API_KEY GATEWAY_KEY GATEWAY_ADMIN_TOKEN DATABASE_URL"
    .split(" ");
  for (const name of names) {
    const message = problems({ [name]: secret });
    assert.match(message, new RegExp(`^${name}: `));
    assert.ok(!message.includes(secret));
  }
});

Deno.test("readConfig() accepts an open host with a vendor or with GATEWAY_UPSTREAM=replay", () => {
  assert.equal(read({ HOST: "0.0.0.0", VENDORA_API_KEY: "k" }).replay, false);
  const replay = read({ HOST: "0.0.0.0", GATEWAY_UPSTREAM: "replay" });
  assert.equal(replay.replay, true);
});

Deno.test("readConfig() sets no listen address on a platform", () => {
  const { listen } = read({ DENO_DEPLOY: "true", VENDORA_API_KEY: "k" });
  assert.equal(listen, undefined);
});

Deno.test("readConfig() applies the file that GATEWAY_CONFIG names", () => {
  const config = read(
    { GATEWAY_CONFIG: "gateway.json", VENDORA_API_KEY: "k" },
    JSON.stringify({
      vendors: { vendora: { base_url: "https://proxy.example/" } },
      models: {
        "vendora-fable-5": null,
        "vendora-haiku-4-5": {
          upstream_model: "haiku-next",
          capabilities: { prefill: false },
        },
        "house-model": {
          vendor: "vendora",
          upstream_model: "inner",
          display_name: "House",
        },
      },
    }),
  );
  assert.equal(config.vendors.vendora?.baseUrl, "https://proxy.example");
  const registry = modelRegistry(config.catalogue, config.vendors);
  assert.equal(registry.model("vendora-fable-5"), undefined);
  const haiku = registry.model("vendora-haiku-4-5");
  assert.equal(haiku?.upstreamModel, "haiku-next");
  assert.equal(haiku.displayName, "Vendor A Haiku 4.5");
  const house = registry.model("house-model");
  assert.ok(house !== undefined);
  assert.equal(house.displayName, "House");
  const [candidate] = registry.candidates(house, "messages");
  assert.equal(candidate?.capabilities.prefill, true);
});

Deno.test("readConfig() reports errors in the file by their path", () => {
  const env = { GATEWAY_CONFIG: "gateway.json" };
  assert.match(problems(env, "{"), /^GATEWAY_CONFIG: gateway.json: not JSON/);
  assert.equal(
    problems(env, `{"vendors": {\n"x": {"api_key": sk-secret-text}}}`),
    "GATEWAY_CONFIG: gateway.json: not JSON: Unexpected token 's' near line 2",
  );
  assert.match(problems(env, `{"modles": {}}`), /modles/);
  assert.match(
    problems(env, `{"models": {"x": {"price": {"input": -1}}}}`),
    /models\.x\.price\.input/,
  );
});

const TWO_DEPLOYMENTS = {
  vendors: {
    west: {
      kind: "vendorb",
      base_url: "https://west.example/v1/",
      api_key_env: "WEST_KEY",
    },
    spare: { kind: "vendora", api_key_env: "SPARE_KEY" },
  },
  models: {
    "vendorb-5": {
      candidates: [
        { vendor: "vendorb", upstream_model: "gpt-5", weight: 3 },
        { vendor: "west", upstream_model: "deployment-1" },
        { vendor: "spare", upstream_model: "claude-haiku-4-5", priority: 2 },
      ],
      timeouts: { first_byte_seconds: 20, total_seconds: 60 },
    },
  },
};

Deno.test("readConfig() adds the file's vendors, with keys from the variables that it names", () => {
  const config = read({
    GATEWAY_CONFIG: "gateway.json",
    VENDORB_API_KEY: "kb",
    WEST_KEY: "kw",
    SPARE_KEY: "ks",
  }, JSON.stringify(TWO_DEPLOYMENTS));
  assert.deepEqual(config.vendors["west"], {
    apiKey: "kw",
    baseUrl: "https://west.example/v1",
  });
  assert.equal(config.vendors["spare"]?.baseUrl, "https://api.anthropic.com");
  const registry = modelRegistry(config.catalogue, config.vendors);
  const model = registry.model("vendorb-5");
  assert.ok(model !== undefined);
  assert.equal(model.vendor, "vendorb");
  assert.equal(model.totalTimeoutMs, 60_000);
  const [own, west, spare] = registry.candidates(model, "messages");
  assert.equal(own?.name, "vendorb/gpt-5");
  assert.deepEqual(own?.limits, { firstByteTimeoutMs: 20_000 });
  // A deployment of the model inherits the model's capabilities; another model of the catalogue has
  // those of its own row.
  assert.equal(west?.capabilities.maxTokensField, "max_completion_tokens");
  assert.equal(spare?.capabilities.maxOutputTokens, 64_000);
  assert.equal(spare?.capabilities.reasoning, "budget");
  assert.equal(spare?.dialect.name, "messages");
});

Deno.test("readConfig() omits a vendor of the file whose key is not set, and a model without a vendor", () => {
  const config = read({
    GATEWAY_CONFIG: "gateway.json",
    WEST_KEY: "kw",
  }, JSON.stringify(TWO_DEPLOYMENTS));
  assert.deepEqual(Object.keys(config.vendors), ["west"]);
  assert.deepEqual(config.vendorsWithoutKey, [
    { name: "spare", keySetting: "SPARE_KEY" },
  ]);
  const registry = modelRegistry(config.catalogue, config.vendors);
  assert.deepEqual(registry.models.map(({ id }) => id), ["vendorb-5"]);
  assert.deepEqual(registry.allCandidates.map(({ name }) => name), [
    "west/deployment-1",
  ]);
});

Deno.test("readConfig() names what is wrong with vendors, candidates and timeouts of the file", async (t) => {
  const X = { vendor: "vendora", upstream_model: "x" };
  const withWest = (west: object) => ({ vendors: { west } });
  const withCandidates = (...candidates: object[]) => ({
    models: { m: { candidates } },
  });
  const rows: readonly (readonly [string, unknown, RegExp])[] = [
    [
      "a vendor without a kind",
      withWest({ api_key_env: "K" }),
      /vendors\.west: needs kind/,
    ],
    [
      "a key in the file",
      withWest({ kind: "vendora", api_key: "k" }),
      /vendors\.west: .*api_key/,
    ],
    [
      "a variable that is another setting",
      withWest({ kind: "vendora", api_key_env: "GATEWAY_ADMIN_TOKEN" }),
      /vendors\.west\.api_key_env: must not be a setting/,
    ],
    [
      "the store's address as a key",
      withWest({ kind: "vendora", api_key_env: "DATABASE_URL" }),
      /vendors\.west\.api_key_env: must not be a setting/,
    ],
    [
      "another kind for a built-in vendor",
      { vendors: { vendora: { kind: "vendorb" } } },
      /vendors\.vendora: a built-in vendor/,
    ],
    [
      "an unknown vendor",
      { models: { m: { vendor: "east" } } },
      /models\.m\.vendor: there is no vendor/,
    ],
    [
      "a candidate's unknown vendor",
      withCandidates({ vendor: "e", upstream_model: "x" }),
      /models\.m\.candidates\.0\.vendor: there is no vendor/,
    ],
    [
      "a dialect that the vendor does not support",
      withCandidates({ ...X, dialect: "chat_completions" }),
      /candidates\.0\.dialect: the vendor does not support this dialect/,
    ],
    [
      "a candidate twice",
      withCandidates(X, { ...X, weight: 2 }),
      /candidates\.1: the same vendor and model as an earlier candidate/,
    ],
    ["no candidate", withCandidates(), /m\.candidates/],
    [
      "a weight of nothing",
      withCandidates({ ...X, weight: 0 }),
      /candidates\.0\.weight/,
    ],
    [
      "a time limit of nothing",
      { models: { m: { timeouts: { idle_seconds: 0 } } } },
      /timeouts\.idle_seconds/,
    ],
  ];
  for (const [name, file, message] of rows) {
    await t.step(name, () => {
      const env = { GATEWAY_CONFIG: "x.json", GATEWAY_UPSTREAM: "replay" };
      assert.match(problems(env, JSON.stringify(file)), message);
    });
  }
});

Deno.test("readConfig() stores replies for 30 days and 64 MiB per account by default", () => {
  const stored = (config: Config): unknown[] => [
    config.storeResponses,
    config.responsesAgeMs,
    config.responsesBytes,
  ];
  assert.deepEqual(stored(read({})), [true, 2_592_000_000, 67_108_864]);
  assert.deepEqual(
    stored(read({
      GATEWAY_STORE_RESPONSES: "off",
      GATEWAY_RESPONSES_DAYS: "1",
      GATEWAY_RESPONSES_BYTES: "1024",
    })),
    [false, 86_400_000, 1024],
  );
  const platform = { DENO_DEPLOY: "true", GATEWAY_UPSTREAM: "replay" };
  assert.equal(read(platform).storeResponses, false);
  const durable = read({ ...platform, DATABASE_URL: "postgres://x/y" });
  assert.equal(durable.storeResponses, true);
});

Deno.test("readConfig() lets one key use every concurrency slot by default", () => {
  const { maxConcurrent, maxConcurrentPerKey } = read({});
  assert.equal(maxConcurrentPerKey, maxConcurrent);
  const limited = read({ GATEWAY_MAX_CONCURRENT_PER_KEY: "3" });
  assert.equal(limited.maxConcurrentPerKey, 3);
});

Deno.test("readConfig() wants the public address for company sign-in on an open host", () => {
  const sign_in = {
    issuer: "https://login.example.com",
    client_id: "console",
    rules: [{ claim: "groups", value: "platform", operator: true }],
  };
  const env = {
    HOST: "0.0.0.0",
    GATEWAY_UPSTREAM: "replay",
    GATEWAY_CONFIG: "gateway.json",
  };
  const withHost = (more: Record<string, string>): Config =>
    read({ ...env, ...more }, JSON.stringify({ sign_in }));
  assert.throws(
    () => withHost({}),
    /^ConfigError: GATEWAY_PUBLIC_URL: must be set for sign_in/,
  );
  const { signIn } = withHost({
    GATEWAY_PUBLIC_URL: "https://models.example.com",
    GATEWAY_SIGN_IN_SECRET: "s",
  });
  assert.equal(signIn?.secret, "s");
  assert.equal(signIn.settings.session_minutes, 480);
});

Deno.test("readConfig() takes the path of the public address, but none of the gateway's own", () => {
  const of = (GATEWAY_PUBLIC_URL: string): Config =>
    read({ GATEWAY_PUBLIC_URL });
  const { publicUrl, basePath } = of("https://example.com/platform/llm/");
  assert.equal(publicUrl, "https://example.com/platform/llm");
  assert.equal(basePath, "/platform/llm");
  assert.equal(of("https://example.com/").basePath, "");
  for (
    const path of [
      "/v1",
      "/llm/v1/",
      "/console/",
      "/admin",
      "/../x",
      "/a//b",
      "/a?b",
      "/%2e",
    ]
  ) {
    assert.throws(
      () => of(`https://example.com${path}`),
      /^ConfigError: GATEWAY_PUBLIC_URL: must be the address that .+\/v1/,
      path,
    );
  }
});
