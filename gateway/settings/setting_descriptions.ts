/**
 * What each setting means, for the console. `docs/configuration.md` has the same texts; a test
 * compares them.
 */
import type { SettingName } from "./setting_forms.ts";
import { byVendorSetting } from "../upstream/catalogue/vendors.ts";

/** Meaning and default, as Markdown of one line. */
interface SettingDescription {
  /** What it does. */
  readonly meaning: string;
  /** The default in words, or its value between backquotes. */
  readonly default: string;
}

/** Every setting, in the order of the page. */
export const SETTING_DESCRIPTIONS: Readonly<
  Record<SettingName, SettingDescription>
> = {
  HOST: {
    meaning:
      "address to listen on; one that is not loopback needs a configured vendor or `GATEWAY_UPSTREAM=replay`",
    default: "`127.0.0.1`",
  },
  PORT: {
    meaning: "port to listen on; 0 takes a free one",
    default: "`8787`",
  },
  ...byVendorSetting("keySetting", ({ texts }) => ({
    meaning: texts.key,
    default: "none: not offered",
  })),
  ...byVendorSetting("baseUrlSetting", ({ texts }) => ({
    meaning: texts.baseUrl,
    default: "the vendor's public address",
  })),
  GATEWAY_UPSTREAM: {
    meaning: "`replay`: reply from the embedded replay upstream",
    default: "on by itself only with no vendor and a loopback host",
  },
  GATEWAY_KEY: {
    meaning:
      "one key (`sk-…`) for every offered model; for stateless deployments",
    default: "none: one is made at the first start",
  },
  GATEWAY_ADMIN_TOKEN: {
    meaning: "bearer token of the admin API and of `/metrics`",
    default: "none: no admin API, metrics on loopback only",
  },
  GATEWAY_SIGN_IN_SECRET: {
    meaning:
      "secret of the client at the issuer of `sign_in` ([console.md](console.md#company-sign-in))",
    default: "none: a public client",
  },
  GATEWAY_CONSOLE: {
    meaning:
      "areas of the web console ([console.md](console.md)): `all`, `account` (no area for operators) or `off`; a platform without `DATABASE_URL` has none",
    default: "`all`",
  },
  GATEWAY_PUBLIC_URL: {
    meaning:
      "address as clients reach the gateway, such as `https://models.example.com`; may have a path ([operations.md](operations.md#the-public-address))",
    default: "the address of the request",
  },
  GATEWAY_TRUSTED_PROXIES: {
    meaning:
      "proxies whose `X-Forwarded-Proto`, `-Host`, `-Port` and `Forwarded` count: addresses and ranges such as `203.0.113.0/24`, `private` (loopback and private networks), or `none`",
    default: "`private`",
  },
  DATABASE_URL: {
    meaning: "the store: `sqlite:PATH`, `sqlite::memory:` or `postgres://…`",
    default: "`sqlite:./data/gateway.sqlite3`",
  },
  DATABASE_READ_URL: {
    meaning:
      "a read replica of that Postgres: reports, lists, exports and audits are read there, see [operations.md](operations.md#a-read-replica)",
    default: "none: they are read from `DATABASE_URL`",
  },
  GATEWAY_STORE_KEY: {
    meaning:
      "32 or more random characters, the same for all processes: seals the secrets of webhooks in Postgres; SQLite has the file `gateway.sqlite3-key`",
    default: "none: in Postgres they are in clear text",
  },
  HTTPS_PROXY: {
    meaning:
      "proxy of every request to `https://`, such as `http://proxy.example.com:3128` ([operations.md](operations.md#the-way-out)); `https_proxy` comes first",
    default: "none: they go out directly",
  },
  HTTP_PROXY: {
    meaning: "the same for requests to `http://`; `http_proxy` comes first",
    default: "none: they go out directly",
  },
  NO_PROXY: {
    meaning:
      "hosts that are reached without these proxies: names, `.suffix`, addresses, ranges such as `10.0.0.0/8`, each with a port or without, or `*`; `no_proxy` comes first",
    default: "none beside this machine and metadata services",
  },
  GATEWAY_WEBHOOK_PROXY: {
    meaning:
      "`on`: webhooks take these proxies too, and what their names lead to is the proxy's to judge; `off`: they go out directly",
    default: "`off`",
  },
  SSL_CERT_FILE: {
    meaning:
      "authorities (PEM) that are trusted beside the public ones; read again when the file changes",
    default: "none",
  },
  NODE_EXTRA_CA_CERTS: { meaning: "the same", default: "none" },
  DENO_CERT: { meaning: "the same", default: "none" },
  GATEWAY_CONFIG: {
    meaning:
      "a JSON file that changes models, prices, vendors and candidates, see below",
    default: "none",
  },
  GATEWAY_STORE_RESPONSES: {
    meaning:
      "`on`: replies of the Responses format are stored unless the client sends `store: false`; `off`: never, see [responses.md](responses.md#state)",
    default: "`on`",
  },
  GATEWAY_RESPONSES_DAYS: {
    meaning: "days for which a stored reply is kept, 1 to 3650",
    default: "`30`",
  },
  GATEWAY_CALLS_DAYS: {
    meaning:
      "days for which the record of a call is kept, 1 to 3650; 0: no records are made",
    default: "`30`",
  },
  GATEWAY_RESPONSES_BYTES: {
    meaning:
      "largest sum of an account's stored replies, sealed; its oldest ones go first",
    default: "`67108864`",
  },
  GATEWAY_CORS_ORIGINS: {
    meaning: "origins whose web pages may call, comma-separated, or `*`",
    default: "none",
  },
  GATEWAY_MAX_BODY_BYTES: {
    meaning: "largest request body, and message of a web socket",
    default: "`33554432`",
  },
  GATEWAY_BODY_TIMEOUT_SECONDS: {
    meaning: "time for a request body, or a message of a web socket, to arrive",
    default: "`60`",
  },
  GATEWAY_MAX_CONCURRENT: {
    meaning:
      "active calls at once in this process; more are refused with 529 (chat format: 503)",
    default: "`2000`",
  },
  GATEWAY_MAX_CONCURRENT_PER_KEY: {
    meaning: "of those, calls of one key; more are refused with 429",
    default: "as many",
  },
  GATEWAY_WEB_SOCKETS: {
    meaning:
      "web sockets ([responses.md](responses.md#web-socket)) open at once in this process; 0: none, clients use HTTP",
    default: "`2000`",
  },
  GATEWAY_WEB_SOCKETS_PER_KEY: {
    meaning: "of those, web sockets of one key; more are refused with 429",
    default: "`100`",
  },
  GATEWAY_WEB_SOCKET_SECONDS: {
    meaning: "age at which a web socket ends, after a reply under way",
    default: "`3600`",
  },
  GATEWAY_WEB_SOCKET_IDLE_SECONDS: {
    meaning:
      "time after which a web socket is cut off whose client sends nothing and answers no ping; a ping is sent after half of it",
    default: "`100`",
  },
  GATEWAY_WEB_SOCKET_BYTES: {
    meaning:
      "sum of the conversations that this process's web sockets remember; the oldest go first",
    default: "`268435456`",
  },
  GATEWAY_PING_SECONDS: {
    meaning:
      "silence in a stream, or before it begins, after which the client gets a sign of life",
    default: "`10`",
  },
  GATEWAY_SLOW_READER_SECONDS: {
    meaning:
      "time that a client may leave a file unread, or its stream from the next ping on; then it is cut off",
    default: "`120`",
  },
  GATEWAY_LEFT_CLIENT_SECONDS: {
    meaning:
      "time that an upstream is read on after its client has left, for the usage; `0`: it is cancelled at once",
    default: "`2`",
  },
  GATEWAY_START_WAIT_SECONDS: {
    meaning:
      "time that a start waits for a Postgres that cannot be reached, live and not ready; then the process ends",
    default: "`300`",
  },
  GATEWAY_SHUTDOWN_DELAY_SECONDS: {
    meaning:
      "time after SIGTERM or SIGINT in which calls are still accepted while `/readyz` is 503, so that load balancers stop sending them",
    default: "`0`",
  },
  GATEWAY_DRAIN_SECONDS: {
    meaning:
      "time that running calls get after SIGTERM or SIGINT and that delay",
    default: "`30`",
  },
  GATEWAY_CONNECT_TIMEOUT_SECONDS: {
    meaning: "time to reach an upstream",
    default: "`5`",
  },
  GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS: {
    meaning: "time for an upstream to begin its reply",
    default: "`600`",
  },
  GATEWAY_IDLE_TIMEOUT_SECONDS: {
    meaning:
      "silence inside an upstream's reply; comments in a stream count as silence",
    default: "`300`",
  },
  GATEWAY_TOTAL_TIMEOUT_SECONDS: {
    meaning: "time for a whole call",
    default: "`3600`",
  },
  GATEWAY_MAX_ATTEMPTS: {
    meaning:
      "attempts that one call may make before its client receives anything, the first included",
    default: "`3`",
  },
  GATEWAY_LOG: {
    meaning:
      "`requests`: a JSON line per call on standard output, without prompt, reply or key; `none`",
    default: "`requests`",
  },
  GATEWAY_LOG_FORMAT: {
    meaning:
      "`page`: the start shows a page with the key and commands, then all is JSON lines; `json`: all is JSON lines, also a refused start",
    default: "`page`",
  },
};
