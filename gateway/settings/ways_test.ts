import assert from "node:assert/strict";
import {
  AUTHORITY_FILE,
  certificate,
} from "../../tests/support/upstreams/fault_upstream.ts";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { vendorNotes } from "./configuration_notes.ts";
import { type ConfigurationEvent, reload } from "./reload.ts";

const AUTHORITY = Deno.readTextFileSync(AUTHORITY_FILE);
const CLIENT = certificate("client");
const EXPIRED = certificate("expired");

/** Files by path. */
const FILES: Readonly<Record<string, string>> = {
  "ca.pem": AUTHORITY,
  "client.pem": CLIENT.cert,
  "client.key": CLIENT.key,
  "other.key": certificate("unknown").key,
  "expired.pem": EXPIRED.cert,
  "expired.key": EXPIRED.key,
  "text": "no certificate",
  "damaged.pem": AUTHORITY.replaceAll("A", "B"),
};

const HOST = {
  kind: "openai_compatible",
  base_url: "https://host.test/v1",
  auth: "none",
};

function read(
  env: Readonly<Record<string, string>>,
  row: object = {},
  files: Readonly<Record<string, string>> = FILES,
): Config {
  return readConfig({
    env: { GATEWAY_CONFIG: "gateway.json", VENDORA_API_KEY: "k", ...env },
    readFile(path) {
      if (path === "gateway.json") {
        return JSON.stringify({ vendors: { host: { ...HOST, ...row } } });
      }
      const text = files[path];
      if (text !== undefined) return text;
      throw Object.assign(new Error(), { code: "ENOENT" });
    },
  });
}

function problemOf(...args: Parameters<typeof read>): string {
  try {
    read(...args);
    return "";
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
}

Deno.test("readConfig() names what is wrong with a proxy or with a file of certificates", () => {
  const cases: readonly (readonly [
    Readonly<Record<string, string>>,
    object,
    RegExp,
  ])[] = [
    [
      { HTTPS_PROXY: "socks5://p:1" },
      {},
      /^HTTPS_PROXY: must be the address of a proxy, such as http:/,
    ],
    [
      { http_proxy: "http://user:canary@p/path" },
      {},
      /^HTTP_PROXY: must be the address/,
    ],
    [
      { NO_PROXY: "a.test,10.0.0.0/40" },
      {},
      /^NO_PROXY: 10\.0\.0\.0\/40 is neither a name/,
    ],
    [
      { GATEWAY_WEBHOOK_PROXY: "yes" },
      {},
      /^GATEWAY_WEBHOOK_PROXY: must be on or off$/,
    ],
    [
      {},
      { proxy: "ftp://p" },
      /vendors\.host\.proxy: must be the address of a proxy/,
    ],
    [
      {},
      { proxy: "http://user:canary@p" },
      /vendors\.host\.proxy: must have no user, because/,
    ],
    [
      {},
      { proxy: "p:1", proxy_env: "P" },
      /vendors\.host\.proxy: must not be given together with proxy_env$/,
    ],
    [{}, { proxy_env: "P" }, /vendors\.host\.proxy_env: P is not set$/],
    [
      { P: "canary-0123456789" },
      { proxy_env: "P" },
      /vendors\.host\.proxy_env: P: must be the address/,
    ],
    [
      { P: "socks5://canary" },
      { proxy_env: "P" },
      /vendors\.host\.proxy_env: P: must be the address/,
    ],
    [
      {},
      { tls: { ca: "none.pem" } },
      /vendors\.host\.tls\.ca: there is no file none\.pem/,
    ],
    [
      {},
      { tls: { ca: "text" } },
      /vendors\.host\.tls\.ca: text has no certificates in PEM$/,
    ],
    [
      {},
      { tls: { ca: "damaged.pem" } },
      /tls\.ca: damaged\.pem has no certificates in PEM$/,
    ],
    [
      {},
      { tls: { cert: "client.pem" } },
      /vendors\.host\.tls: must have both cert and key, or neither$/,
    ],
    [
      {},
      { tls: { cert: "client.pem", key: "other.key" } },
      /tls\.key: other\.key is not the key of the certificate in client\.pem$/,
    ],
    [
      {},
      { tls: { cert: "client.pem", key: "text" } },
      /tls\.key: text is no private key in PEM without a passphrase$/,
    ],
    [{}, { tls: { min_version: "1.1" } }, /vendors\.host\.tls\.min_version: /],
  ];
  for (const [env, row, expected] of cases) {
    const problem = problemOf(env, row);
    assert.match(problem, expected);
    assert.doesNotMatch(problem, /canary/);
  }
});

Deno.test("the start names the proxy of each vendor, and files that are of no use", () => {
  const notes = vendorNotes(
    read({
      HTTPS_PROXY: "http://user:canary@p.test:3128",
      NO_PROXY: "host.test",
      VENDORB_API_KEY: "k",
      SSL_CERT_FILE: "none.pem",
      NODE_EXTRA_CA_CERTS: "text",
      DENO_CERT: "expired.pem",
    }, { tls: { cert: "expired.pem", key: "expired.key" } }),
  );
  assert.deepEqual(notes, [
    "Reached through the proxy p.test:3128: vendora, vendorb; directly: host",
    "SSL_CERT_FILE: there is no file none.pem; a relative path is resolved from the working directory",
    "NODE_EXTRA_CA_CERTS: text has no certificates in PEM",
    "DENO_CERT: the certificate in expired.pem expired on 2021-01-01",
    "GATEWAY_CONFIG: vendors.host.tls.cert: the certificate in expired.pem expired on 2021-01-01",
  ]);
  assert.deepEqual(vendorNotes(read({}, { proxy: "none" })), []);
  assert.deepEqual(
    vendorNotes(read({ HTTPS_PROXY: "p.test", NO_PROXY: "*" })),
    [
      "Reached directly: vendora, host",
    ],
  );
  assert.deepEqual(
    vendorNotes(readConfig({
      env: { HTTPS_PROXY: "p.test" },
      readFile: () => "",
    })),
    [],
  );
});

Deno.test("the settings in force have a proxy without its user", () => {
  const { settings } = read({ https_proxy: "user:canary@p.test:3128" });
  const shown = settings.find(({ name }) => name === "HTTPS_PROXY");
  assert.equal(shown?.value, "http://p.test:3128");
});

Deno.test("reload() takes changed certificates, and refuses a key of another one", () => {
  const row = { tls: { ca: "ca.pem", cert: "client.pem", key: "client.key" } };
  const reloaded = (files: Readonly<Record<string, string>>) => {
    let event: ConfigurationEvent | undefined;
    let next: Config | undefined;
    reload({
      read: () => read({}, row, { ...FILES, ...files }),
      current: () => read({}, row),
      configure: (config) => next = config,
      onEvent: (one) => event = one,
    });
    return { event, way: next?.vendors["host"]?.way };
  };
  assert.equal(reloaded({}).event?.type, "configuration_unchanged");
  const { event, way } = reloaded({
    "client.pem": EXPIRED.cert,
    "client.key": EXPIRED.key,
  });
  assert.ok(event?.type === "configuration_loaded");
  assert.deepEqual(event.certificates, [
    "GATEWAY_CONFIG: vendors.host.tls.cert",
    "GATEWAY_CONFIG: vendors.host.tls.key",
  ]);
  assert.deepEqual(way?.tls.certificate, EXPIRED);
  assert.equal(
    reloaded({ "client.key": EXPIRED.key }).event?.type,
    "configuration_refused",
  );
});
