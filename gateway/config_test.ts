import assert from "node:assert/strict";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { offerOf } from "./upstream/candidates.ts";

function read(env: Record<string, string>, file = "{}"): Config {
  return readConfig({ env, readFile: () => file });
}

function problems(env: Record<string, string>, file?: string): string {
  try {
    read(env, file);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return "";
}

Deno.test("readConfig() with nothing set is loopback, port 8787, replay", () => {
  const config = read({});
  assert.deepEqual(config.listen, { hostname: "127.0.0.1", port: 8787 });
  assert.equal(config.replay, true);
  assert.equal(config.databaseUrl, "sqlite:./data/gateway.sqlite3");
});

Deno.test("readConfig() with a vendor's key calls that vendor and no replay", () => {
  const config = read({
    VENDORC_API_KEY: "k-c",
    VENDORC_BASE_URL: "http://127.0.0.1:9/x/",
  });
  assert.equal(config.replay, false);
  assert.deepEqual(config.vendors, {
    vendorc: { apiKey: "k-c", baseUrl: "http://127.0.0.1:9/x" },
  });
  assert.deepEqual(
    offerOf(config.catalogue, config.vendors).models.map((model) => model.id),
    ["vendorc-3-pro", "vendorc-3-flash"],
  );
});

Deno.test("readConfig() names every wrong setting", async (t) => {
  const rows: readonly [string, Record<string, string>, RegExp][] = [
    ["port", { PORT: "http" }, /^PORT: must be a whole number$/],
    ["port range", { PORT: "70000" }, /^PORT: must be from 0 to 65535$/],
    [
      "base address",
      { VENDORA_BASE_URL: "api.example" },
      /^VENDORA_BASE_URL: /,
    ],
    ["key with a line end", { VENDORB_API_KEY: "abc\n" }, /^VENDORB_API_KEY: /],
    [
      "gateway key",
      { GATEWAY_KEY: "secret" },
      /^GATEWAY_KEY: must begin with sk-/,
    ],
    [
      "upstream",
      { GATEWAY_UPSTREAM: "mock" },
      /^GATEWAY_UPSTREAM: must be replay/,
    ],
    ["store", { DATABASE_URL: "mysql://x" }, /^DATABASE_URL: /],
    ["ping", { GATEWAY_PING_SECONDS: "-1" }, /^GATEWAY_PING_SECONDS: /],
    [
      "origins",
      { GATEWAY_CORS_ORIGINS: "app.example" },
      /^GATEWAY_CORS_ORIGINS: /,
    ],
    [
      "a misspelt one",
      { GATEWAY_KYE: "sk-0123456789abcdef0" },
      /^GATEWAY_KYE: no such setting$/,
    ],
    [
      "two at once",
      { PORT: "x", GATEWAY_LOG: "y" },
      /^PORT: .*\nGATEWAY_LOG: /,
    ],
    [
      "an open host without a vendor",
      { HOST: "0.0.0.0" },
      /^HOST: .*VENDORA_API_KEY.*GATEWAY_UPSTREAM=replay/,
    ],
    [
      "a platform without a vendor",
      { DENO_DEPLOY: "true" },
      /^HOST: .*VENDORA_API_KEY/,
    ],
  ];
  for (const [name, env, message] of rows) {
    await t.step(name, () => assert.match(problems(env), message));
  }
});

Deno.test("readConfig() never repeats a secret in a message", () => {
  const secret = "not a valid key";
  for (
    const name of [
      "VENDORA_API_KEY",
      "GATEWAY_KEY",
      "GATEWAY_ADMIN_TOKEN",
      "DATABASE_URL",
    ]
  ) {
    const message = problems({ [name]: secret });
    assert.match(message, new RegExp(`^${name}: `));
    assert.ok(!message.includes(secret));
  }
});

Deno.test("readConfig() takes an open host with a vendor, or with replay asked for", () => {
  assert.equal(read({ HOST: "0.0.0.0", VENDORA_API_KEY: "k" }).replay, false);
  assert.equal(
    read({ HOST: "0.0.0.0", GATEWAY_UPSTREAM: "replay" }).replay,
    true,
  );
});

Deno.test("readConfig() leaves the address to a platform that gives one", () => {
  assert.equal(
    read({ DENO_DEPLOY: "true", VENDORA_API_KEY: "k" }).listen,
    undefined,
  );
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
  const offer = offerOf(config.catalogue, config.vendors);
  assert.equal(offer.model("vendora-fable-5"), undefined);
  assert.equal(offer.model("vendora-haiku-4-5")?.upstreamModel, "haiku-next");
  assert.equal(
    offer.model("vendora-haiku-4-5")?.displayName,
    "Vendor A Haiku 4.5",
  );
  const house = offer.model("house-model");
  assert.ok(house !== undefined);
  assert.equal(house.displayName, "House");
  assert.equal(offer.candidates(house, "messages")[0]?.can.prefill, true);
});

Deno.test("readConfig() names what is wrong in the file", () => {
  const env = { GATEWAY_CONFIG: "gateway.json" };
  assert.match(problems(env, "{"), /^GATEWAY_CONFIG: gateway.json: not JSON/);
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

Deno.test("readConfig() adds vendors of the file, with keys from the variables that it names", () => {
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
  const offer = offerOf(config.catalogue, config.vendors);
  const model = offer.model("vendorb-5");
  assert.ok(model !== undefined);
  assert.equal(model.vendor, "vendorb");
  assert.equal(model.totalTimeoutMs, 60_000);
  const [own, west, spare] = offer.candidates(model, "messages");
  assert.equal(own?.name, "vendorb/gpt-5");
  assert.deepEqual(own?.limits, { firstByteTimeoutMs: 20_000 });
  // A deployment of the model takes what the model takes; a model of the catalogue what its own row says.
  assert.equal(west?.can.maxTokensField, "max_completion_tokens");
  assert.equal(spare?.can.maxOutputTokens, 64_000);
  assert.equal(spare?.can.reasoning, "budget");
  assert.equal(spare?.dialect.name, "messages");
});

Deno.test("readConfig() leaves out a vendor of the file whose key is not set, and a model without any", () => {
  const config = read({
    GATEWAY_CONFIG: "gateway.json",
    WEST_KEY: "kw",
  }, JSON.stringify(TWO_DEPLOYMENTS));
  assert.deepEqual(Object.keys(config.vendors), ["west"]);
  assert.deepEqual(config.withoutKey, [
    { name: "spare", keySetting: "SPARE_KEY" },
  ]);
  const offer = offerOf(config.catalogue, config.vendors);
  assert.deepEqual(offer.models.map(({ id }) => id), ["vendorb-5"]);
  assert.deepEqual(offer.all.map(({ name }) => name), ["west/deployment-1"]);
});

Deno.test("readConfig() names what is wrong with vendors, candidates and timeouts of the file", async (t) => {
  const rows: readonly (readonly [string, unknown, RegExp])[] = [
    [
      "a vendor without a kind",
      { vendors: { west: { api_key_env: "K" } } },
      /vendors\.west: needs kind/,
    ],
    [
      "a key in the file",
      { vendors: { west: { kind: "vendora", api_key: "k" } } },
      /vendors\.west: .*api_key/,
    ],
    [
      "a variable that is another setting",
      {
        vendors: {
          west: { kind: "vendora", api_key_env: "GATEWAY_ADMIN_TOKEN" },
        },
      },
      /vendors\.west\.api_key_env: must not be a setting/,
    ],
    [
      "the store's address as a key",
      { vendors: { west: { kind: "vendora", api_key_env: "DATABASE_URL" } } },
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
      /models\.m\.vendor: no such vendor/,
    ],
    [
      "a candidate's unknown vendor",
      { models: { m: { candidates: [{ vendor: "e", upstream_model: "x" }] } } },
      /models\.m\.candidates\.0\.vendor: no such vendor/,
    ],
    [
      "a dialect that the vendor does not speak",
      {
        models: {
          m: {
            candidates: [{
              vendor: "vendora",
              upstream_model: "x",
              dialect: "chat_completions",
            }],
          },
        },
      },
      /candidates\.0\.dialect: the vendor does not speak it/,
    ],
    [
      "a candidate twice",
      {
        models: {
          m: {
            candidates: [
              { vendor: "vendora", upstream_model: "x" },
              { vendor: "vendora", upstream_model: "x", weight: 2 },
            ],
          },
        },
      },
      /candidates\.1: stands there twice/,
    ],
    ["no candidate", { models: { m: { candidates: [] } } }, /m\.candidates/],
    [
      "a weight of nothing",
      {
        models: {
          m: {
            candidates: [{ vendor: "vendora", upstream_model: "x", weight: 0 }],
          },
        },
      },
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
      const env = {
        GATEWAY_CONFIG: "gateway.json",
        GATEWAY_UPSTREAM: "replay",
      };
      assert.match(problems(env, JSON.stringify(file)), message);
    });
  }
});

Deno.test("readConfig() lets one key take every place unless it is told otherwise", () => {
  const { maxConcurrent, maxConcurrentPerKey } = read({});
  assert.equal(maxConcurrentPerKey, maxConcurrent);
  assert.equal(
    read({ GATEWAY_MAX_CONCURRENT_PER_KEY: "3" }).maxConcurrentPerKey,
    3,
  );
});
