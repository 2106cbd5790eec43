/**
 * `deno task admin config check`: whether a start with these settings would succeed, and what it
 * would change. Opens no store and calls nothing but the running gateway; with `--reach` it connects
 * to vendors.
 */
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import {
  type Config,
  ConfigError,
  type ConfigSources,
  isLoopback,
  readConfig,
} from "../settings/config.ts";
import {
  type ComparedConfiguration,
  type ComparedSetting,
  type Difference,
  differences,
  shownContent,
} from "../settings/configuration_difference.ts";
import { missingNotes, vendorNotes } from "../settings/configuration_notes.ts";
import {
  isOffered,
  unpricedModels,
} from "../upstream/catalogue/not_offered.ts";
import { FlagError } from "./flag_values.ts";
import { type Reached, reachLines, reachVendors } from "./reach.ts";
import { withClientFetch } from "./with_client_fetch.ts";

export interface ConfigCheck {
  /** Every mistake, one a line; none: a start would read these settings. */
  readonly problems: readonly string[];
  /** What an operator should know of valid settings. */
  readonly notes: readonly string[];
  /** The vendors' addresses, tried; absent if that was not asked for. */
  readonly reached?: readonly Reached[];
  /** The comparison with the running gateway; absent with a mistake. */
  readonly running?: Running;
}

/** What would change, or why that is not known. */
type Running =
  & { readonly url: string }
  & (
    | { readonly differences: readonly Difference[] }
    | { readonly unknown: string }
  );

const ANSWER_MS = 3_000;

/** Checks the settings of the environment; `file` takes the place of `GATEWAY_CONFIG`. */
export async function checkConfig(
  sources: ConfigSources,
  file: string | undefined,
  url: string | undefined,
  reach = false,
): Promise<ConfigCheck> {
  let config: Config;
  try {
    config = readConfig({
      ...sources,
      env: file === undefined
        ? sources.env
        : { ...sources.env, GATEWAY_CONFIG: file },
    });
    await checkAddress(config.databaseUrl);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems, notes: [] };
  }
  const offered = config.catalogue.models.filter((model) =>
    isOffered(config, model)
  );
  const unpriced = unpricedModels(config.catalogue);
  return {
    problems: [],
    notes: [
      config.replay
        ? "Upstream: the embedded replay"
        : `${offered.length} models of ${
          Object.entries(config.vendors).map(([name, { baseUrl }]) =>
            `${name} (${baseUrl})`
          ).join(", ")
        }`,
      ...vendorNotes(config),
      ...missingNotes(config),
      ...(unpriced.length === 0 ? [] : [
        `Without a price, so that they cannot be called: ${
          unpriced.join(", ")
        }`,
      ]),
    ],
    ...(reach ? { reached: await reachVendors(config) } : {}),
    running: await withClientFetch(
      config.way,
      (ask) => compare(config, url ?? addressOf(config), ask),
    ),
  };
}

/** @throws {ConfigError} for an address of Postgres that cannot be read */
async function checkAddress(databaseUrl: string): Promise<void> {
  if (databaseUrl.startsWith("sqlite:")) return;
  const { postgresAddress } = await import(
    "../accounts/store/postgres/postgres_address.ts"
  );
  try {
    postgresAddress(databaseUrl);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown reason";
    throw new ConfigError([`DATABASE_URL: ${reason}`]);
  }
}

function addressOf({ listen }: Config): string | undefined {
  if (listen === undefined || listen.port === 0) return undefined;
  const { hostname, port } = listen;
  const isAny = hostname === "0.0.0.0" || hostname === "::";
  const host = isAny ? "127.0.0.1" : hostname;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

async function compare(
  config: Config,
  url: string | undefined,
  ask: typeof fetch,
): Promise<Running> {
  if (url === undefined) {
    return { url: "", unknown: "its address is not known; give it with --url" };
  }
  const { adminToken } = config;
  if (adminToken === undefined) {
    return { url, unknown: "without GATEWAY_ADMIN_TOKEN it cannot be asked" };
  }
  let response: Response;
  try {
    response = await ask(new URL("/admin/v1/settings", withoutRisk(url)), {
      headers: { authorization: `Bearer ${adminToken}` },
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  } catch (error) {
    if (error instanceof FlagError) throw error;
    return { url, unknown: "no gateway answers there" };
  }
  const body: unknown = await response.json().catch(() => undefined);
  const running = response.ok ? configurationOf(body) : undefined;
  if (running === undefined) {
    return {
      url,
      unknown: response.status === 401
        ? "it has another admin token"
        : `no settings of a gateway came from there (status ${response.status})`,
    };
  }
  return {
    url,
    differences: differences(running, {
      content: shownContent(config.fileContent),
      settings: config.settings,
    }),
  };
}

/** @throws {FlagError} for an address to which the admin token must not be sent */
function withoutRisk(url: string): string {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (
    address === undefined ||
    !(address.protocol === "https:" ||
      (address.protocol === "http:" && isLoopback(address.hostname)))
  ) {
    throw new FlagError(
      "--url: must be https://…, or http:// on this machine, because the admin token is sent there",
    );
  }
  return url;
}

function configurationOf(body: unknown): ComparedConfiguration | undefined {
  if (!isObject(body) || !isObject(body["configuration"])) return undefined;
  const { content } = body["configuration"];
  const { data } = body;
  if (!Array.isArray(data)) return undefined;
  return {
    content: isObject(content) ? content : {},
    settings: data.filter(isObject).map(settingOf),
  };
}

function settingOf(
  { name, value, is_set: isSet }: JsonObject,
): ComparedSetting {
  return {
    name: String(name),
    isSet: isSet === true,
    ...(typeof value === "string" ? { value } : {}),
  };
}

export function checkText(
  { problems, notes, reached = [], running }: ConfigCheck,
): string {
  if (problems.length > 0) return problems.join("\n");
  return [
    "The settings are valid.",
    ...notes,
    ...reachLines(reached),
    ...(running === undefined ? [] : runningLines(running)),
  ].join("\n");
}

function runningLines(running: Running): readonly string[] {
  if ("unknown" in running) {
    const of = running.url === "" ? "" : ` at ${running.url}`;
    return [`Not compared with the running gateway${of}: ${running.unknown}.`];
  }
  const { url, differences } = running;
  if (differences.length === 0) {
    return [
      `The gateway at ${url} has the same settings; secrets are not compared.`,
    ];
  }
  return [
    `The gateway at ${url} differs; secrets are not compared:`,
    ...differences.map(({ at, before, after, takesEffect }) =>
      `  ${at}: ${before} → ${after}${
        takesEffect === "start" ? " (at the next start)" : ""
      }`
    ),
  ];
}

export function checkJson(
  { problems, notes, reached, running }: ConfigCheck,
): JsonObject {
  return {
    object: "config_check",
    valid: problems.length === 0,
    problems,
    notes,
    reached: reached?.map((
      { vendor, address, proxy = null, failure = null },
    ) => ({ vendor, address, proxy, failure })) ?? null,
    running: running === undefined ? null : {
      url: running.url,
      unknown: "unknown" in running ? running.unknown : null,
      differences: "unknown" in running
        ? null
        : running.differences.map(({ at, before, after, takesEffect }) => ({
          at,
          before,
          after,
          takes_effect: takesEffect,
        })),
    },
  };
}
