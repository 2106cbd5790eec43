/**
 * The settings: the only reader of the environment. Every wrong value is reported by the name of its setting, all at once,
 * before anything is opened.
 *
 * @module
 */
import { z } from "zod";
import { type Catalogue, catalogue } from "./upstream/catalogue.ts";
import {
  type CatalogueOverrides,
  parseCatalogueFile,
} from "./upstream/catalogue_file.ts";
import { VENDORS } from "./upstream/vendors.ts";

/** The store where none is named. */
export const DEFAULT_DATABASE_URL: string = "sqlite:./data/gateway.sqlite3";

/** Where `Deno.serve` listens; absent where the platform decides. */
export interface ListenAddress {
  /** `HOST`; one that is not loopback needs a configured vendor or the replay asked for by name. */
  readonly hostname: string;
  /** `PORT`; 0 takes a free one. */
  readonly port: number;
}

/** A vendor that can be called. */
export interface VendorAccess {
  /** Goes to this vendor and nowhere else. */
  readonly apiKey: string;
  /** Without a slash at the end: the paths of the vendor's dialects are appended. */
  readonly baseUrl: string;
}

/** All settings, checked. */
export interface Config {
  /** Absent where the platform decides (Deno Deploy). */
  readonly listen?: ListenAddress;
  /** Vendors that are configured, by name; empty with the replay upstream. */
  readonly vendors: Readonly<Record<string, VendorAccess>>;
  /** Vendors of the file whose key is not set: their candidates are not called. */
  readonly withoutKey: readonly {
    /** The vendor's name. */
    readonly name: string;
    /** The variable that the file names. */
    readonly keySetting: string;
  }[];
  /** True: the embedded replay upstream answers for every vendor. */
  readonly replay: boolean;
  /** Every model, with the changes that `GATEWAY_CONFIG` makes; which are offered depends on `vendors`. */
  readonly catalogue: Catalogue;
  /** A key that is valid without being in the store. Absent: keys are the store's, the first made at the first start. */
  readonly gatewayKey?: string;
  /** Bearer token of the admin API; absent: there is no admin API. */
  readonly adminToken?: string;
  /** Kind and place of the store. */
  readonly databaseUrl: string;
  /** Origins that browsers may call from; `*` for any, empty for none. */
  readonly corsOrigins: readonly string[];
  /** Longest body of a request, after decompression. */
  readonly maxBodyBytes: number;
  /** How long a request's body may take to arrive. */
  readonly bodyTimeoutMs: number;
  /** Silence in a stream after which the caller gets a ping; also how long a stream's first frame is awaited. */
  readonly pingMs: number;
  /** How long a caller may leave a stream unread; then it counts as gone. */
  readonly slowReaderMs: number;
  /** How long calls may go on after the signal to stop; then they are broken off. */
  readonly drainMs: number;
  /** How long it may take to reach an upstream. */
  readonly connectTimeoutMs: number;
  /** How long an upstream may take to begin its reply, once it is reached. */
  readonly firstByteTimeoutMs: number;
  /** Silence inside an upstream's reply after which the call has failed. */
  readonly idleTimeoutMs: number;
  /** How long a call may take, its stream included; then it is broken off. */
  readonly totalTimeoutMs: number;
  /** Attempts at upstreams that one call may make, the first included. */
  readonly maxAttempts: number;
  /** Calls that may be under way at once in this process; more are refused. */
  readonly maxConcurrent: number;
  /** Of those, calls of one key; more are refused. */
  readonly maxConcurrentPerKey: number;
  /** True where Deno may be collecting spans: then each call gets one. */
  readonly traces: boolean;
  /** False: no line is logged, of faults neither. */
  readonly logRequests: boolean;
}

/** The environment and the file system as the settings need them; passed in so that tests can stand in for them. */
export interface Surroundings {
  /** Empty values count as not set. */
  readonly env: Readonly<Record<string, string>>;
  /** Gives a file's text; throws where it cannot be read. */
  readFile(path: string): string;
}

/** Settings that are wrong. The message has a line for each. */
export class ConfigError extends Error {
  /** Each problem opens with the name of its setting. */
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "ConfigError";
  }
}

const seconds = (standard: number) =>
  z.string().regex(
    /^\d+(\.\d+)?$/,
    "must be a number of seconds, such as 10 or 0.5",
  ).transform((text) => Number(text) * 1000).refine(
    (ms) => ms > 0 && ms <= 86_400_000,
    "must be more than 0 and at most 86400 seconds",
  )
    .default(standard * 1000);

const whole = (least: number, most: number) =>
  z.string().regex(/^\d+$/, "must be a whole number").transform(Number)
    .refine(
      (value) => value >= least && value <= most,
      `must be from ${least} to ${most}`,
    );

const count = (standard: number, least: number, most: number) =>
  whole(least, most).default(standard);

const apiKey = z.string().regex(
  /^[\x21-\x7e]+$/,
  "must be a key without blanks or line ends",
).optional();

const baseUrl = z.string().refine(
  (text) => /^https?:\/\/[^\s?#]+$/.test(text) && URL.canParse(text),
  {
    message:
      "must be an http:// or https:// address without query, such as https://api.example.com",
  },
).transform((text) => text.replace(/\/+$/, "")).optional();

const ENVIRONMENT = z.object({
  HOST: z.string().regex(/^[\w.:\-\[\]]+$/, "must be a host name or an address")
    .default("127.0.0.1"),
  PORT: count(8787, 0, 65535),
  VENDORA_API_KEY: apiKey,
  VENDORB_API_KEY: apiKey,
  VENDORC_API_KEY: apiKey,
  VENDORD_API_KEY: apiKey,
  VENDORA_BASE_URL: baseUrl,
  VENDORB_BASE_URL: baseUrl,
  VENDORC_BASE_URL: baseUrl,
  VENDORD_BASE_URL: baseUrl,
  GATEWAY_UPSTREAM: z.literal("replay", "must be replay, or not be set")
    .optional(),
  GATEWAY_KEY: z.string().regex(
    /^sk-[\x21-\x7e]{16,}$/,
    "must begin with sk- and have 16 or more characters after it",
  )
    .optional(),
  GATEWAY_ADMIN_TOKEN: z.string().regex(
    /^[\x21-\x7e]{16,}$/,
    "must have 16 or more characters and no blanks",
  ).optional(),
  DATABASE_URL: z.string().regex(
    /^(sqlite:.+|postgres(ql)?:\/\/.+)$/,
    "must be sqlite:PATH, sqlite::memory: or postgres://…",
  ).optional(),
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
  GATEWAY_PING_SECONDS: seconds(10),
  GATEWAY_SLOW_READER_SECONDS: seconds(120),
  GATEWAY_DRAIN_SECONDS: seconds(30),
  GATEWAY_CONNECT_TIMEOUT_SECONDS: seconds(10),
  GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS: seconds(600),
  GATEWAY_IDLE_TIMEOUT_SECONDS: seconds(300),
  GATEWAY_TOTAL_TIMEOUT_SECONDS: seconds(3600),
  GATEWAY_MAX_ATTEMPTS: count(3, 1, 10),
  GATEWAY_LOG: z.enum(["requests", "none"], "must be requests or none").default(
    "requests",
  ),
});

/** Names of every setting, for the README's table to be checked against. */
export const SETTING_NAMES: readonly string[] = Object.keys(ENVIRONMENT.shape);

/**
 * Reads and checks the settings.
 *
 * @throws {ConfigError} naming every setting that is wrong
 */
export function readConfig(surroundings: Surroundings): Config {
  const problems: string[] = [];
  const env = Object.fromEntries(
    Object.entries(surroundings.env).filter(([, value]) => value !== ""),
  );
  for (const name of Object.keys(env)) {
    if (name.startsWith("GATEWAY_") && !SETTING_NAMES.includes(name)) {
      problems.push(`${name}: no such setting`);
    }
  }
  const parsed = ENVIRONMENT.safeParse(env);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      problems.push(`${issue.path.join(".")}: ${issue.message}`);
    }
    throw new ConfigError(problems);
  }
  const values = parsed.data;
  const overrides = values.GATEWAY_CONFIG === undefined
    ? {}
    : readOverrides(values.GATEWAY_CONFIG, surroundings, problems);
  const vendors: Record<string, VendorAccess> = {};
  for (const vendor of VENDORS) {
    const apiKey = values[vendor.keySetting];
    if (apiKey !== undefined) {
      const override = overrides.vendors?.[vendor.name]?.base_url;
      vendors[vendor.name] = {
        apiKey,
        baseUrl: values[vendor.baseUrlSetting] ?? override ?? vendor.baseUrl,
      };
    }
  }
  const withoutKey: { name: string; keySetting: string }[] = [];
  for (const [name, added] of Object.entries(overrides.vendors ?? {})) {
    const like = VENDORS.find((vendor) => vendor.name === added.kind);
    if (like === undefined || added.api_key_env === undefined) continue;
    const at = `GATEWAY_CONFIG: vendors.${name}.api_key_env`;
    if (isOtherSetting(added.api_key_env)) {
      problems.push(`${at}: must not be a setting that holds no vendor's key`);
      continue;
    }
    const key = apiKey.safeParse(env[added.api_key_env]);
    if (!key.success) {
      problems.push(
        `${added.api_key_env}: must be a key without blanks or line ends`,
      );
    } else if (key.data === undefined) {
      withoutKey.push({ name, keySetting: added.api_key_env });
    } else {
      vendors[name] = {
        apiKey: key.data,
        baseUrl: added.base_url ?? like.baseUrl,
      };
    }
  }
  const onPlatform = env["DENO_DEPLOY"] !== undefined ||
    env["DENO_DEPLOYMENT_ID"] !== undefined;
  const unconfigured = Object.keys(vendors).length === 0;
  const replayAsked = values.GATEWAY_UPSTREAM === "replay";
  if (
    unconfigured && !replayAsked && (onPlatform || !isLoopback(values.HOST))
  ) {
    problems.push(
      `HOST: ${
        onPlatform ? "this deployment is" : `${values.HOST} is`
      } open to others, but no vendor is configured. Set VENDORA_API_KEY, VENDORB_API_KEY, VENDORC_API_KEY or ` +
        "VENDORD_API_KEY to call that vendor, or GATEWAY_UPSTREAM=replay to answer from recorded fixtures",
    );
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze({
    ...(onPlatform
      ? {}
      : { listen: { hostname: values.HOST, port: values.PORT } }),
    vendors,
    withoutKey,
    replay: replayAsked || unconfigured,
    catalogue: catalogue(overrides),
    ...(values.GATEWAY_KEY === undefined
      ? {}
      : { gatewayKey: values.GATEWAY_KEY }),
    ...(values.GATEWAY_ADMIN_TOKEN === undefined
      ? {}
      : { adminToken: values.GATEWAY_ADMIN_TOKEN }),
    // A platform has no disk of its own to keep anything on.
    databaseUrl: values.DATABASE_URL ??
      (onPlatform ? "sqlite::memory:" : DEFAULT_DATABASE_URL),
    corsOrigins: values.GATEWAY_CORS_ORIGINS,
    maxBodyBytes: values.GATEWAY_MAX_BODY_BYTES,
    bodyTimeoutMs: values.GATEWAY_BODY_TIMEOUT_SECONDS,
    pingMs: values.GATEWAY_PING_SECONDS,
    slowReaderMs: values.GATEWAY_SLOW_READER_SECONDS,
    drainMs: values.GATEWAY_DRAIN_SECONDS,
    connectTimeoutMs: values.GATEWAY_CONNECT_TIMEOUT_SECONDS,
    firstByteTimeoutMs: values.GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS,
    idleTimeoutMs: values.GATEWAY_IDLE_TIMEOUT_SECONDS,
    totalTimeoutMs: values.GATEWAY_TOTAL_TIMEOUT_SECONDS,
    maxAttempts: values.GATEWAY_MAX_ATTEMPTS,
    maxConcurrent: values.GATEWAY_MAX_CONCURRENT,
    maxConcurrentPerKey: values.GATEWAY_MAX_CONCURRENT_PER_KEY ??
      values.GATEWAY_MAX_CONCURRENT,
    // A platform collects without being asked.
    traces: onPlatform || /^true$/i.test(env["OTEL_DENO"] ?? ""),
    logRequests: values.GATEWAY_LOG === "requests",
  });
}

/** Whether a variable has a meaning of its own, so that its value must not be sent to a vendor. */
function isOtherSetting(name: string): boolean {
  return name.startsWith("GATEWAY_") ||
    (SETTING_NAMES.includes(name) &&
      !VENDORS.some(({ keySetting }) => keySetting === name));
}

function readOverrides(
  path: string,
  surroundings: Surroundings,
  problems: string[],
): CatalogueOverrides {
  let text: string;
  try {
    text = surroundings.readFile(path);
  } catch {
    problems.push(`GATEWAY_CONFIG: could not read ${path}`);
    return {};
  }
  const file = parseCatalogueFile(text);
  if (file.ok) return file.overrides;
  for (const problem of file.problems) {
    problems.push(`GATEWAY_CONFIG: ${path}: ${problem}`);
  }
  return {};
}

/** Whether only programs of this machine reach an address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" ||
    /^127(\.\d{1,3}){3}$/.test(host);
}
