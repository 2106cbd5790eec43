/**
 * The form of each setting: a schema of the environment variables. `config.ts` reads them.
 */
import { z } from "zod";
import { byVendorSetting } from "../upstream/catalogue/vendors.ts";
import { trustedProxies } from "../http/forwarded_origin.ts";
import { noProxy } from "../upstream/http/no_proxy.ts";
import { PROXY_FORM, readProxy } from "../upstream/http/proxy.ts";

const seconds = (defaultSeconds: number, least: "above 0" | "0" = "above 0") =>
  z.string().regex(
    /^\d+(\.\d+)?$/,
    "must be a number of seconds, such as 10 or 0.5",
  ).transform((text) => Number(text) * 1000).refine(
    (ms) => (ms > 0 || least === "0") && ms <= 86_400_000,
    `must be ${least === "0" ? "" : "more than 0 and "}at most 86400 seconds`,
  )
    .default(defaultSeconds * 1000);

const whole = (least: number, most: number) =>
  z.string().regex(/^\d+$/, "must be a whole number").transform(Number)
    .refine(
      (value) => value >= least && value <= most,
      `must be from ${least} to ${most}`,
    );

const count = (defaultValue: number, least: number, most: number) =>
  whole(least, most).default(defaultValue);

const apiKey = z.string().regex(
  /^[\x21-\x7e]+$/,
  "must be a key without blanks or line breaks",
).optional();

const baseUrl = z.string().refine(
  (text) => /^https?:\/\/[^\s?#]+$/.test(text) && URL.canParse(text),
  {
    message:
      "must be an http:// or https:// address without query, such as https://api.example.com",
  },
).transform((text) => text.replace(/\/+$/, "")).optional();

const proxy = z.string().refine(
  (text) => readProxy(text) !== undefined,
  PROXY_FORM,
).optional();

/** Checks a text by the function that reads it, whose error names what is wrong. */
const readableBy = (read: (text: string) => unknown) =>
(
  text: string,
  { addIssue }: { readonly addIssue: (message: string) => void },
): void => {
  try {
    read(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    addIssue(error.message);
  }
};

/** Settings whose value is never shown. */
const SECRETS = {
  ...byVendorSetting("keySetting", () => apiKey),
  GATEWAY_KEY: z.string().regex(
    /^sk-[\x21-\x7e]{16,}$/,
    "must begin with sk- and have 16 or more characters after it",
  )
    .optional(),
  GATEWAY_ADMIN_TOKEN: z.string().regex(
    /^[\x21-\x7e]{16,}$/,
    "must have 16 or more characters and no blanks",
  ).optional(),
  GATEWAY_SIGN_IN_SECRET: z.string().regex(
    /^[\x21-\x7e]+$/,
    "must have no blanks",
  ).optional(),
  GATEWAY_STORE_KEY: z.string().regex(
    /^[\x21-\x7e]{32,}$/,
    "must have 32 or more characters and no blanks",
  ).optional(),
};

/** Addresses that may hold a password, without which they are shown. */
const ADDRESSES = {
  DATABASE_URL: z.string().regex(
    /^(sqlite:.+|postgres(ql)?:\/\/.+)$/,
    "must be sqlite:PATH, sqlite::memory: or postgres://…",
  ).optional(),
  DATABASE_READ_URL: z.string().regex(
    /^postgres(ql)?:\/\/.+$/,
    "must be postgres://…",
  ).optional(),
  HTTPS_PROXY: proxy,
  HTTP_PROXY: proxy,
};

/** Every setting as an environment variable: its form, its bounds and its default. */
export const ENVIRONMENT = z.object({
  HOST: z.string().regex(/^[\w.:\-\[\]]+$/, "must be a host name or an address")
    .default("127.0.0.1"),
  PORT: count(8787, 0, 65535),
  ...SECRETS,
  ...ADDRESSES,
  ...byVendorSetting("baseUrlSetting", () => baseUrl),
  NO_PROXY: z.string().superRefine(readableBy(noProxy)).optional(),
  SSL_CERT_FILE: z.string().optional(),
  NODE_EXTRA_CA_CERTS: z.string().optional(),
  DENO_CERT: z.string().optional(),
  GATEWAY_WEBHOOK_PROXY: z.enum(["on", "off"], "must be on or off").default(
    "off",
  ),
  GATEWAY_UPSTREAM: z.literal("replay", "must be replay, or not be set")
    .optional(),
  GATEWAY_CONSOLE: z.enum(
    ["all", "account", "off"],
    "must be all, account or off",
  ).default("all"),
  GATEWAY_PUBLIC_URL: z.string().regex(
    /^https?:\/\/[^/\s?#@]+(?:\/[\w~-][\w.~-]*)*(?<!\/(?:v1|v1beta|admin|console))\/?$/,
    "must be the address that the gateway's paths follow, such as https://models.example.com or https://example.com/llm, without /v1",
  ).transform((text) => text.replace(/\/$/, "")).optional(),
  GATEWAY_TRUSTED_PROXIES: z.string().superRefine(
    readableBy(trustedProxies),
  ).default("private"),
  GATEWAY_STORE_RESPONSES: z.enum(["on", "off"], "must be on or off").default(
    "on",
  ),
  GATEWAY_RESPONSES_DAYS: count(30, 1, 3650),
  GATEWAY_RESPONSES_BYTES: count(64 * 1024 * 1024, 1024, 2 ** 40),
  GATEWAY_CALLS_DAYS: count(30, 0, 3650),
  GATEWAY_CONFIG: z.string().optional(),
  GATEWAY_CORS_ORIGINS: z.string().default("").transform((text) =>
    text.split(",").map((origin) => origin.trim()).filter((origin) =>
      origin !== ""
    )
  ).refine(
    (origins) =>
      origins.every((origin) =>
        origin === "*" || /^https?:\/\/[^/\s]+$/.test(origin)
      ),
    {
      message:
        "must be a list of origins such as https://app.example.com,https://other.example.com, or *",
    },
  ),
  GATEWAY_MAX_BODY_BYTES: count(32 * 1024 * 1024, 1024, 1024 * 1024 * 1024),
  GATEWAY_BODY_TIMEOUT_SECONDS: seconds(60),
  GATEWAY_MAX_CONCURRENT_PER_KEY: whole(1, 1_000_000).optional(),
  GATEWAY_MAX_CONCURRENT: count(2000, 1, 1_000_000),
  GATEWAY_WEB_SOCKETS: count(2000, 0, 1_000_000),
  GATEWAY_WEB_SOCKETS_PER_KEY: count(100, 1, 1_000_000),
  GATEWAY_WEB_SOCKET_SECONDS: seconds(3600),
  GATEWAY_WEB_SOCKET_IDLE_SECONDS: seconds(100),
  GATEWAY_WEB_SOCKET_BYTES: count(256 * 1024 * 1024, 0, 2 ** 40),
  GATEWAY_PING_SECONDS: seconds(10),
  GATEWAY_SLOW_READER_SECONDS: seconds(120),
  GATEWAY_LEFT_CLIENT_SECONDS: seconds(2, "0"),
  GATEWAY_START_WAIT_SECONDS: count(300, 0, 86_400),
  GATEWAY_SHUTDOWN_DELAY_SECONDS: count(0, 0, 600),
  GATEWAY_DRAIN_SECONDS: seconds(30),
  GATEWAY_CONNECT_TIMEOUT_SECONDS: seconds(5),
  GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS: seconds(600),
  GATEWAY_IDLE_TIMEOUT_SECONDS: seconds(300),
  GATEWAY_TOTAL_TIMEOUT_SECONDS: seconds(3600),
  GATEWAY_MAX_ATTEMPTS: count(3, 1, 10),
  GATEWAY_LOG: z.enum(["requests", "none"], "must be requests or none").default(
    "requests",
  ),
  GATEWAY_LOG_FORMAT: z.enum(["page", "json"], "must be page or json").default(
    "page",
  ),
});

/** An environment variable that the gateway reads. */
export type SettingName = keyof typeof ENVIRONMENT.shape;

/** Names of every setting; a test compares the table in `docs/configuration.md` with them. */
export const SETTING_NAMES: readonly string[] = Object.keys(ENVIRONMENT.shape);

/** Names of the settings whose value is never shown. */
export const SECRET_NAMES: ReadonlySet<string> = new Set(Object.keys(SECRETS));

/** The settings that may stand in a file, by the variable that names the file: `…_FILE`. */
export const FILE_FORMS: ReadonlyMap<string, SettingName> = new Map(
  [...namesOf(SECRETS), ...namesOf(ADDRESSES)].map((
    name,
  ) => [fileForm(name), name]),
);

export function fileForm(name: SettingName): string {
  return `${name}_FILE`;
}

function namesOf<T extends object>(settings: T): (keyof T & SettingName)[] {
  return Object.keys(settings) as (keyof T & SettingName)[];
}
