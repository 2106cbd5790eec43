/**
 * The settings; the only code that reads the environment. All invalid values are reported together,
 * each with the name of its setting, before anything is opened.
 */
import type { z } from "zod";
import { compact } from "../../translate/bytes/compact.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { DialectName } from "../../translate/model/request.ts";
import { type OverridesFile, readOverrides } from "./overrides_file.ts";
import { misspeltSettings } from "./misspelt_settings.ts";
import { placeOf, type SecretFile, withSecretFiles } from "./secret_files.ts";
import {
  type OtlpSettings,
  otlpSettings,
} from "../observability/otlp_settings.ts";
import { ENVIRONMENT, FILE_FORMS, SETTING_NAMES } from "./setting_forms.ts";
import { type SettingInForce, settingsInForce } from "./settings_in_force.ts";
import { type Catalogue, catalogue } from "../upstream/catalogue/catalogue.ts";
import type { CatalogueOverrides } from "../upstream/catalogue/catalogue_shape.ts";
import { namedVariables } from "../upstream/credentials/auth_settings.ts";
import {
  type CredentialPlan,
  planCredential,
} from "../upstream/credentials/credential_plan.ts";
import type { SignInSettings } from "../console/sign_in_settings.ts";
import { isLoopback } from "../loopback.ts";
import {
  type TrustedProxies,
  trustedProxies,
} from "../http/forwarded_origin.ts";
import { readProxy } from "../upstream/http/proxy.ts";
import type { EnvironmentProxies, Way } from "../upstream/http/way.ts";
import type { CertificateFile } from "./certificate_files.ts";
import { environmentProxies, readWays } from "./ways.ts";
import { ANY_KEY_SETTING, VENDORS } from "../upstream/catalogue/vendors.ts";

export { isLoopback };

/** The store if `DATABASE_URL` is not set. */
export const DEFAULT_DATABASE_URL: string = "sqlite:./data/gateway.sqlite3";

const DAY_MS = 86_400_000;

/** The address that `Deno.serve` listens on. */
export interface ListenAddress {
  /**
   * `HOST`; an address other than loopback requires a configured vendor or
   * `GATEWAY_UPSTREAM=replay`.
   */
  readonly hostname: string;
  /** `PORT`; 0 takes a free one. */
  readonly port: number;
}

/** Credential and address of a vendor that can be called. */
export interface VendorAccess {
  /** A constant key, sent to this vendor only; absent: see `credential`. */
  readonly apiKey?: string;
  /** The sources of its credential; absent: `apiKey`. */
  readonly credential?: CredentialPlan;
  /** Without a slash at the end; paths of the vendor's dialects are appended. */
  readonly baseUrl: string;
  /** The only dialects that are spoken there; absent: all that the vendor speaks. */
  readonly dialects?: readonly DialectName[];
  /** How it is reached; absent: as everything else. */
  readonly way?: Way;
}

/** All settings, validated. */
export interface Config {
  /** Absent if the platform chooses the address (Deno Deploy). */
  readonly listen?: ListenAddress;
  /** Configured vendors by name; empty with the replay upstream. */
  readonly vendors: Readonly<Record<string, VendorAccess>>;
  /** Vendors of the overrides file whose key is not set: their candidates are not called. */
  readonly vendorsWithoutKey: readonly {
    /** The vendor's name. */
    readonly name: string;
    /** The environment variable that the file names. */
    readonly keySetting: string;
  }[];
  /** How everything is reached that has no way of its own. */
  readonly way: Way;
  /** How the receivers of webhooks are reached. */
  readonly webhookWay: Way;
  /** The proxies of the environment. */
  readonly proxies: EnvironmentProxies;
  /** The files of certificates that were read. */
  readonly certificateFiles: readonly CertificateFile[];
  /** What an operator should know of such files. */
  readonly certificateNotes: readonly string[];
  /** True if the embedded replay upstream replies for every vendor. */
  readonly replay: boolean;
  /** `GATEWAY_CONFIG`; absent if it is not set. */
  readonly configFile?: string;
  /** Identifies the version of the configuration file; absent without one. */
  readonly configHash?: string;
  /** The settings whose values are from files of their own. */
  readonly secretFiles: readonly SecretFile[];
  /** Content of the configuration file; empty without one. */
  readonly overrides: CatalogueOverrides;
  /** The configuration file as it is written; empty without one. */
  readonly fileContent: JsonObject;
  /** Every model, with the overrides of `GATEWAY_CONFIG`; `vendors` decides which are offered. */
  readonly catalogue: Catalogue;
  /**
   * A key that is valid without being in the store. Absent: only keys of the store are valid; the
   * first is created at the first start.
   */
  readonly gatewayKey?: string;
  /** Bearer token of the admin API; absent: there is no admin API. */
  readonly adminToken?: string;
  /** Sign-in at a company's issuer; absent: there is none. */
  readonly signIn?: {
    readonly settings: SignInSettings;
    /** The client's secret; absent: a public client. */
    readonly secret?: string;
  };
  /**
   * The areas of the console; `off` also where its sessions would not be kept: on a platform
   * without a shared store.
   */
  readonly console: "all" | "account" | "off";
  /** The gateway's address as clients reach it, without a slash at the end; absent: not known. */
  readonly publicUrl?: string;
  /** Which other ends of a connection are proxies that report the address of a request. */
  readonly trustedProxies: TrustedProxies;
  /** The path of that address, without a slash at the end; usually empty. */
  readonly basePath: string;
  /**
   * Seals secrets in a store that has no file for its key; absent: there they are in clear text.
   */
  readonly storeKey?: string;
  /** Kind and location of the store. */
  readonly databaseUrl: string;
  /** A replica of the store, for reports; absent: they are read from the store. */
  readonly databaseReadUrl?: string;
  /**
   * Whether replies may be stored for later requests that refer to them; false without a store that
   * the instances of a platform share.
   */
  readonly storeResponses: boolean;
  /** How long a stored reply is kept, in milliseconds. */
  readonly responsesAgeMs: number;
  /** Most bytes of the stored replies of one account; the oldest go first. */
  readonly responsesBytes: number;
  /** How long the record of a call is kept, in milliseconds; absent: no records are made. */
  readonly callsAgeMs?: number;
  /** Origins that browsers may call from; `*` for any, empty for none. */
  readonly corsOrigins: readonly string[];
  /** Largest request body in bytes, after decompression. */
  readonly maxBodyBytes: number;
  /** Longest time that a request body may take to arrive. */
  readonly bodyTimeoutMs: number;
  /**
   * Silence in a stream after which the client receives a ping. Also the longest wait for a
   * stream's first frame before the response begins.
   */
  readonly pingMs: number;
  /** Longest time that a client may leave a stream unread; then it counts as disconnected. */
  readonly slowReaderMs: number;
  /** How long an upstream is read on after its client has left; 0: it is cancelled at once. */
  readonly leftClientMs: number;
  /** Time after a signal in which calls are still accepted, in milliseconds; 0: none. */
  readonly shutdownDelayMs: number;
  /** Time that a start waits for a store that cannot be reached. */
  readonly startWaitMs: number;
  /** Longest time that calls may continue after the signal to stop; then they are aborted. */
  readonly drainMs: number;
  /** Longest time to connect to an upstream. */
  readonly connectTimeoutMs: number;
  /** Longest time from the end of a request to the head of the upstream's response. */
  readonly firstByteTimeoutMs: number;
  /** Longest silence inside an upstream's reply; then the call fails. */
  readonly idleTimeoutMs: number;
  /** Longest duration of a call, including its stream; then it is aborted. */
  readonly totalTimeoutMs: number;
  /** Attempts at upstreams per call, including the first. */
  readonly maxAttempts: number;
  /** Concurrent calls in this process; more are refused. */
  readonly maxConcurrent: number;
  /** Concurrent calls of one key; more are refused. */
  readonly maxConcurrentPerKey: number;
  /** Web sockets open at once in this process; 0: there are none. */
  readonly maxSockets: number;
  /** Web sockets of one key; more are refused. */
  readonly maxSocketsPerKey: number;
  /** Age at which a web socket ends, in milliseconds. */
  readonly socketAgeMs: number;
  /** Silence of a web socket's client, pings included, after which it is cut off. */
  readonly socketIdleMs: number;
  /** Most bytes of the conversations that web sockets remember. */
  readonly socketBytes: number;
  /** True if Deno may collect spans; each call then has one. */
  readonly traces: boolean;
  /** Where OpenTelemetry's metrics of calls are sent; absent: they are not. */
  readonly otlpMetrics?: OtlpSettings;
  /** Every setting with its value in force; secrets without theirs. */
  readonly settings: readonly SettingInForce[];
  /** False: the request log is off, also for internal errors of a request. */
  readonly logRequests: boolean;
}

/** Environment and file system, passed in so that tests can replace them. */
export interface ConfigSources {
  /** Empty values count as not set. */
  readonly env: Readonly<Record<string, string>>;
  /** Returns a file's text; throws the system's or the runtime's error if it is unreadable. */
  readFile(path: string): string;
}

/** Invalid settings, one line of the message per problem. */
export class ConfigError extends Error {
  override name = "ConfigError";
  /** Each begins with the name of its setting. */
  readonly problems: readonly string[];

  /** One line of the message per problem. */
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/**
 * Reads and validates the settings.
 *
 * @throws {ConfigError} naming every invalid setting
 */
export function readConfig(sources: ConfigSources): Config {
  const problems: string[] = [];
  const given = Object.fromEntries(
    Object.entries(sources.env).filter(([, value]) => value !== ""),
  );
  const { env, secretFiles } = withSecretFiles(
    withProxyNames(given),
    sources.readFile,
    problems,
  );
  const file = env["GATEWAY_CONFIG"];
  const { overrides, content = {}, hash: configHash }: OverridesFile = file ===
      undefined
    ? { overrides: {} }
    : readOverrides(file, sources.readFile, problems);
  const named = Object.values(overrides.vendors ?? {}).flatMap(namedVariables);
  problems.unshift(
    ...misspeltSettings(
      given,
      [...SETTING_NAMES, ...FILE_FORMS.keys()],
      new Set(named),
    ),
  );
  const values = valuesOf(env, (name, message) => {
    problems.push(`${placeOf(name, secretFiles)}: ${message}`);
  });
  const proxies = environmentProxies(
    readProxy(values.HTTP_PROXY ?? ""),
    readProxy(values.HTTPS_PROXY ?? ""),
    values.NO_PROXY,
  );
  const { vendorWays, ...ways } = readWays({
    proxies,
    webhooksUseThem: values.GATEWAY_WEBHOOK_PROXY === "on",
    authorities: values,
    vendors: overrides.vendors ?? {},
    env,
    readFile: sources.readFile,
    onProblem: (problem) => problems.push(problem),
  });
  const wayOf = (name: string): Pick<VendorAccess, "way"> =>
    compact({ way: vendorWays[name] });
  const vendors: Record<string, VendorAccess> = {};
  for (const vendor of VENDORS) {
    const apiKey = values[vendor.keySetting];
    if (apiKey !== undefined) {
      const override = overrides.vendors?.[vendor.name]?.base_url;
      vendors[vendor.name] = {
        apiKey,
        baseUrl: values[vendor.baseUrlSetting] ?? override ?? vendor.baseUrl,
        ...wayOf(vendor.name),
      };
    }
  }
  const models = catalogue(overrides);
  const vendorsWithoutKey: { name: string; keySetting: string }[] = [];
  for (const [name, added] of Object.entries(overrides.vendors ?? {})) {
    const vendor = models.vendors.find((one) => one.name === name);
    if (vendor === undefined || VENDORS.some((one) => one.name === name)) {
      continue;
    }
    const at = `GATEWAY_CONFIG: vendors.${name}`;
    if (namedVariables(added).some(isOtherSetting)) {
      problems.push(
        `${at}.${
          added.api_key_env === undefined ? "auth" : "api_key_env"
        }: must not be a setting of the gateway other than a vendor's key`,
      );
      continue;
    }
    const result = planCredential(added, { env, readFile: sources.readFile });
    if (result.type === "problem") {
      problems.push(
        /^(?:auth|api_key_file): /.test(result.problem)
          ? `${at}.${result.problem}`
          : result.problem,
      );
    } else if (result.type === "missing") {
      vendorsWithoutKey.push({ name, keySetting: result.setting });
    } else {
      vendors[name] = {
        ...plannedAccess(result.plan),
        baseUrl: vendor.baseUrl,
        ...wayOf(name),
      };
    }
  }
  const onPlatform = env["DENO_DEPLOY"] !== undefined ||
    env["DENO_DEPLOYMENT_ID"] !== undefined;
  const unconfigured = Object.keys(vendors).length === 0;
  const isReplayRequested = values.GATEWAY_UPSTREAM === "replay";
  // A vendor that is missing because of another problem is not reported again.
  const lacksVendor = unconfigured && !isReplayRequested &&
    !problems.some(isOfVendor);
  if (lacksVendor) {
    for (const { keySetting, baseUrlSetting } of VENDORS) {
      if (values[baseUrlSetting] !== undefined) {
        problems.push(
          `${baseUrlSetting}: is set, but ${keySetting} is not, and a vendor without a key is not called. ` +
            "For a server that needs no key, set the key to any text",
        );
      }
    }
  }
  if (lacksVendor && (onPlatform || !isLoopback(values.HOST))) {
    problems.push(
      `HOST: ${
        onPlatform ? "this deployment is" : `${values.HOST} is`
      } reachable from other machines, but no vendor is configured. Set ${ANY_KEY_SETTING} ` +
        "to call that vendor, or GATEWAY_UPSTREAM=replay to answer from recorded fixtures",
    );
  }
  if (
    values.DATABASE_READ_URL !== undefined &&
    !/^postgres/.test(values.DATABASE_URL ?? "")
  ) {
    problems.push(
      `${
        placeOf("DATABASE_READ_URL", secretFiles)
      }: needs DATABASE_URL=postgres://…, whose replica it is`,
    );
  }
  problems.push(...signInProblems(overrides, values));
  const otlpMetrics = otlpSettings(
    given,
    (name, message) => problems.push(`${name}: ${message}`),
  );
  if (problems.length > 0) throw new ConfigError(problems);
  const config = {
    ...(onPlatform
      ? {}
      : { listen: { hostname: values.HOST, port: values.PORT } }),
    vendors,
    vendorsWithoutKey,
    ...ways,
    proxies,
    replay: isReplayRequested || unconfigured,
    overrides,
    fileContent: content,
    catalogue: models,
    ...compact({ configFile: file, configHash }),
    secretFiles,
    ...compact({
      gatewayKey: values.GATEWAY_KEY,
      adminToken: values.GATEWAY_ADMIN_TOKEN,
    }),
    ...(overrides.sign_in === undefined ? {} : {
      signIn: {
        settings: overrides.sign_in,
        ...compact({ secret: values.GATEWAY_SIGN_IN_SECRET }),
      },
    }),
    console: onPlatform && values.DATABASE_URL === undefined
      ? "off"
      : values.GATEWAY_CONSOLE,
    trustedProxies: trustedProxies(values.GATEWAY_TRUSTED_PROXIES),
    basePath: /^https?:\/\/[^/]+(.*)$/.exec(values.GATEWAY_PUBLIC_URL ?? "")
      ?.[1] ?? "",
    ...compact({
      publicUrl: values.GATEWAY_PUBLIC_URL,
      storeKey: values.GATEWAY_STORE_KEY,
    }),
    // A platform has no persistent disk.
    databaseUrl: values.DATABASE_URL ??
      (onPlatform ? "sqlite::memory:" : DEFAULT_DATABASE_URL),
    ...compact({ databaseReadUrl: values.DATABASE_READ_URL }),
    // Instances of a platform share no memory: another one would not find the replies.
    storeResponses: values.GATEWAY_STORE_RESPONSES === "on" &&
      !(onPlatform && values.DATABASE_URL === undefined),
    responsesAgeMs: values.GATEWAY_RESPONSES_DAYS * DAY_MS,
    responsesBytes: values.GATEWAY_RESPONSES_BYTES,
    ...(values.GATEWAY_CALLS_DAYS === 0
      ? {}
      : { callsAgeMs: values.GATEWAY_CALLS_DAYS * DAY_MS }),
    corsOrigins: values.GATEWAY_CORS_ORIGINS,
    maxBodyBytes: values.GATEWAY_MAX_BODY_BYTES,
    bodyTimeoutMs: values.GATEWAY_BODY_TIMEOUT_SECONDS,
    pingMs: values.GATEWAY_PING_SECONDS,
    slowReaderMs: values.GATEWAY_SLOW_READER_SECONDS,
    leftClientMs: values.GATEWAY_LEFT_CLIENT_SECONDS,
    startWaitMs: values.GATEWAY_START_WAIT_SECONDS * 1000,
    shutdownDelayMs: values.GATEWAY_SHUTDOWN_DELAY_SECONDS * 1000,
    drainMs: values.GATEWAY_DRAIN_SECONDS,
    connectTimeoutMs: values.GATEWAY_CONNECT_TIMEOUT_SECONDS,
    firstByteTimeoutMs: values.GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS,
    idleTimeoutMs: values.GATEWAY_IDLE_TIMEOUT_SECONDS,
    totalTimeoutMs: values.GATEWAY_TOTAL_TIMEOUT_SECONDS,
    maxAttempts: values.GATEWAY_MAX_ATTEMPTS,
    maxConcurrent: values.GATEWAY_MAX_CONCURRENT,
    maxConcurrentPerKey: values.GATEWAY_MAX_CONCURRENT_PER_KEY ??
      values.GATEWAY_MAX_CONCURRENT,
    maxSockets: values.GATEWAY_WEB_SOCKETS,
    maxSocketsPerKey: values.GATEWAY_WEB_SOCKETS_PER_KEY,
    socketAgeMs: values.GATEWAY_WEB_SOCKET_SECONDS,
    socketIdleMs: values.GATEWAY_WEB_SOCKET_IDLE_SECONDS,
    socketBytes: values.GATEWAY_WEB_SOCKET_BYTES,
    // A platform collects spans without a setting.
    traces: onPlatform || /^true$/i.test(env["OTEL_DENO"] ?? ""),
    ...(otlpMetrics === undefined ? {} : { otlpMetrics }),
    logRequests: values.GATEWAY_LOG === "requests",
  };
  return Object.freeze({
    ...config,
    settings: settingsInForce(config, env, secretFiles),
  });
}

/** The variables of proxies are written in either case; the lower one comes first, as in curl. */
function withProxyNames(
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const lower = (["https_proxy", "http_proxy", "no_proxy"] as const).flatMap(
    (name) =>
      env[name] === undefined ? [] : [[name.toUpperCase(), env[name]] as const],
  );
  return { ...env, ...Object.fromEntries(lower) };
}

/** What company sign-in lacks. */
function signInProblems(
  { sign_in: signIn }: CatalogueOverrides,
  { GATEWAY_PUBLIC_URL: publicUrl, HOST: host }: z.output<typeof ENVIRONMENT>,
): readonly string[] {
  const isKnown = publicUrl !== undefined || isLoopback(host);
  return signIn === undefined || isKnown ? [] : [
    "GATEWAY_PUBLIC_URL: must be set for sign_in, because the issuer sends people back to it",
  ];
}

/**
 * The values of the settings; wrong ones count as not set, so that other problems are found too.
 */
function valuesOf(
  env: Readonly<Record<string, string>>,
  onProblem: (name: string, message: string) => void,
): z.output<typeof ENVIRONMENT> {
  const parsed = ENVIRONMENT.safeParse(env);
  if (parsed.success) return parsed.data;
  const wrong = new Set<string>();
  for (const { path, message } of parsed.error.issues) {
    const name = path.join(".");
    wrong.add(name);
    onProblem(name, message);
  }
  return ENVIRONMENT.parse(
    Object.fromEntries(
      Object.entries(env).filter(([name]) => !wrong.has(name)),
    ),
  );
}

/** Whether a problem is that of a vendor's key or of the file that may name vendors. */
function isOfVendor(problem: string): boolean {
  return problem.startsWith("GATEWAY_CONFIG") ||
    VENDORS.some(({ keySetting }) => problem.startsWith(keySetting));
}

/**
 * Whether a variable is a setting of the gateway other than a vendor's key; its value must not be
 * sent to a vendor.
 */
function isOtherSetting(name: string): boolean {
  return name.startsWith("GATEWAY_") || FILE_FORMS.has(name) ||
    (SETTING_NAMES.includes(name) &&
      !VENDORS.some(({ keySetting }) => keySetting === name));
}

/** A single key of a variable is constant; everything else has a plan. */
function plannedAccess(
  plan: CredentialPlan,
): Pick<VendorAccess, "apiKey" | "credential"> {
  const [first, ...others] = plan.type === "keys" ? plan.keys : [];
  return first !== undefined && "variable" in first && others.length === 0
    ? { apiKey: first.key }
    : { credential: plan };
}
