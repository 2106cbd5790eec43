import assert from "node:assert/strict";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { type ConfigurationEvent, reload } from "./reload.ts";
import { FILE_FORMS, SECRET_NAMES } from "./setting_forms.ts";

const VALUES: Readonly<Record<string, string>> = {
  GATEWAY_KEY: "sk-canary-0123456789abcdef",
  DATABASE_URL: "postgres://me:canary-password@db.example.com/gateway",
  DATABASE_READ_URL:
    "postgres://me:canary-password@standby.example.com/gateway",
  HTTPS_PROXY: "http://canary:0123456789@proxy.test:3128",
  HTTP_PROXY: "canary:0123456789@proxy.test:3128",
};

function valueOf(name: string): string {
  return VALUES[name] ?? "canary-0123456789-0123456789-0123456789";
}

function read(
  env: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): Config {
  return readConfig({
    env,
    readFile(path) {
      const text = files[path];
      if (text !== undefined) return text;
      throw Object.assign(new Error("no"), { code: "ENOENT" });
    },
  });
}

function problems(
  env: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {},
): string {
  try {
    read(env, files);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return "";
}

Deno.test("every secret and every address with a password may stand in a file, as if it were a variable", async (t) => {
  assert.deepEqual(
    [...FILE_FORMS.values()].filter((name) => !SECRET_NAMES.has(name)),
    ["DATABASE_URL", "DATABASE_READ_URL", "HTTPS_PROXY", "HTTP_PROXY"],
  );
  for (const name of SECRET_NAMES) {
    assert.ok([...FILE_FORMS.values()].some((one) => one === name));
  }
  for (const [variable, name] of FILE_FORMS) {
    await t.step(variable, () => {
      const path = `/run/secrets/${name}`;
      const value = valueOf(name);
      const store = name === "DATABASE_READ_URL"
        ? { DATABASE_URL: valueOf("DATABASE_URL") }
        : {};
      const env = { ...store, [variable]: path };
      const { settings, secretFiles, configHash: _, ...fromFile } = read(env, {
        [path]: `${value}\n`,
      });
      const own = read({ ...store, [name]: value }, {});
      const { settings: _s, secretFiles: none, ...fromVariable } = own;
      assert.deepEqual(none, []);
      assert.equal(JSON.stringify(fromFile), JSON.stringify(fromVariable));
      assert.deepEqual(secretFiles, [{ name, path, text: value }]);
      const setting = settings.find((one) => one.name === name);
      assert.equal(setting?.source, "secret_file");
      assert.equal(setting.isSet, true);
      assert.doesNotMatch(JSON.stringify(settings), /canary/);
    });
  }
});

const NOT_REPEATED =
  "there is no such file; its value is not repeated, because it may be the secret itself";

Deno.test("a file of a secret that is of no use is named with its setting, and its text never", async (t) => {
  const { GATEWAY_KEY = "", DATABASE_URL = "" } = VALUES;
  assert.equal(
    problems({ GATEWAY_KEY, GATEWAY_KEY_FILE: "key" }, { key: "canary" }),
    "GATEWAY_KEY_FILE: GATEWAY_KEY is set too, and only one of the two may be",
  );
  for (
    const [name, value, files, message] of [
      [
        "GATEWAY_ADMIN_TOKEN_FILE",
        "/run/secrets/admin",
        {},
        "there is no file /run/secrets/admin; a relative path is resolved from the working directory",
      ],
      ["VENDORA_API_KEY_FILE", "keys/a", { "keys/a": "\n" }, "keys/a is empty"],
      [
        "GATEWAY_ADMIN_TOKEN_FILE",
        "/run/secrets/admin",
        { "/run/secrets/admin": "canary 0123456789 0123456789" },
        "/run/secrets/admin: must have 16 or more characters and no blanks",
      ],
      // The secret, or the address, in place of its path.
      ["GATEWAY_ADMIN_TOKEN_FILE", "canary-0123456789", {}, NOT_REPEATED],
      ["DATABASE_URL_FILE", DATABASE_URL, {}, NOT_REPEATED],
      [
        "GATEWAY_CONFIG_FILE",
        "gateway.json",
        {},
        "no such setting; did you mean GATEWAY_CONFIG?",
      ],
      [
        "GATEWAY_ADMIN_TOKEN_FIEL",
        "x",
        {},
        "no such setting; did you mean GATEWAY_ADMIN_TOKEN_FILE?",
      ],
    ] as const
  ) {
    await t.step(
      `${name}=${value}`,
      () =>
        assert.equal(problems({ [name]: value }, files), `${name}: ${message}`),
    );
  }
});

Deno.test("a vendor of the configuration file can have no setting of the gateway as its key, by file neither", () => {
  const groq = {
    kind: "openai_compatible",
    preset: "groq",
    api_key_env: "DATABASE_URL_FILE",
  };
  const file = JSON.stringify({ vendors: { groq } });
  assert.match(
    problems(
      { GATEWAY_CONFIG: "gateway.json", DATABASE_URL_FILE: "url" },
      { "gateway.json": file, url: "sqlite::memory:" },
    ),
    /api_key_env: must not be a setting of the gateway other than a vendor's key$/,
  );
});

const STORE_KEY = "0123456789".repeat(4);
const ENV = {
  GATEWAY_ADMIN_TOKEN_FILE: "admin",
  GATEWAY_STORE_KEY_FILE: "store",
  DATABASE_URL_FILE: "url",
  VENDORA_API_KEY_FILE: "a",
};
const FILES = {
  admin: "canary-admin-0123456789",
  store: STORE_KEY,
  url: "postgres://me:canary@db.example.com/gateway",
  a: "canary-a",
};

function reloaded(
  files: Readonly<Record<string, string>>,
): readonly [ConfigurationEvent | undefined, Config] {
  let current = read(ENV, FILES);
  let event: ConfigurationEvent | undefined;
  reload({
    read: () => read(ENV, { ...FILES, ...files }),
    current: () => current,
    configure: (next) => current = next,
    onEvent: (one) => event = one,
  });
  return [event, current];
}

Deno.test("reload() takes changed files of secrets and reports their settings", () => {
  const [event, config] = reloaded({
    admin: "canary-other-0123456789",
    a: "canary-b",
    url: "postgres://you:canary@db.example.com/gateway",
  });
  assert.equal(event?.type, "configuration_loaded");
  assert.equal(
    event.secrets?.join(),
    "VENDORA_API_KEY,GATEWAY_ADMIN_TOKEN,DATABASE_URL",
  );
  assert.equal(config.adminToken, "canary-other-0123456789");
  assert.equal(config.vendors["vendora"]?.apiKey, "canary-b");
  assert.doesNotMatch(JSON.stringify(event), /canary/);
  assert.equal(reloaded({})[0]?.type, "configuration_unchanged");
});

Deno.test("reload() refuses another store and another key of the store, with the settings' names", () => {
  const [event, config] = reloaded({
    admin: "canary-other-0123456789",
    store: "9876543210".repeat(4),
    url: "postgres://me:canary@other.example.com/gateway",
  });
  assert.equal(event?.type, "configuration_refused");
  assert.equal(
    event.reason,
    "GATEWAY_STORE_KEY_FILE: another key of the store takes effect at the next start only\n" +
      "DATABASE_URL_FILE: another address than before, except for user and password, takes effect at the next start only",
  );
  assert.equal(config.adminToken, FILES.admin);
});
