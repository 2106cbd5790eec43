/**
 * The settings as they are in force, for operators to read: values, and where they are from. A
 * secret is only reported as set or not.
 */
import type { CatalogueOverrides } from "../upstream/catalogue/catalogue_shape.ts";
import { SETTING_DESCRIPTIONS } from "./setting_descriptions.ts";
import { SECRET_NAMES, type SettingName } from "./setting_forms.ts";
import type { SecretFile } from "./secret_files.ts";
import { VENDORS } from "../upstream/catalogue/vendors.ts";
import type { Proxy } from "../upstream/http/proxy.ts";
import type { EnvironmentProxies } from "../upstream/http/way.ts";

/** Value and source, without the text of a secret. */
export interface SettingInForce {
  /** Name of the environment variable. */
  readonly name: SettingName;
  /** Absent: not set, and there is no default; also for a secret. */
  readonly value?: string;
  /** Whether it has a value, its default included. */
  readonly isSet: boolean;
  /** True: the value is never part of it. */
  readonly isSecret: boolean;
  /**
   * What its value is from. `file` is the configuration file, `secret_file` the one that the
   * variable `…_FILE` names.
   */
  readonly source: "environment" | "secret_file" | "file" | "default";
}

/** What some values depend on beside their variable. */
interface Settled {
  readonly overrides: CatalogueOverrides;
  readonly vendors: Readonly<Record<string, { readonly baseUrl: string }>>;
  readonly proxies: Pick<EnvironmentProxies, "http" | "https">;
  readonly databaseUrl: string;
  readonly console: string;
  readonly storeResponses: boolean;
  readonly replay: boolean;
  readonly maxConcurrentPerKey: number;
}

/**
 * Every setting, in the order of `docs/configuration.md`. `env` has no empty values, and those of
 * `secretFiles`.
 */
export function settingsInForce(
  config: Settled,
  env: Readonly<Record<string, string>>,
  secretFiles: readonly Pick<SecretFile, "name">[] = [],
): readonly SettingInForce[] {
  return SETTINGS.map(({ name, isSecret, literal }) => {
    const given = env[name];
    const { value = given ?? literal, isFromFile = false } =
      derivedValue(name, config) ?? {};
    return {
      name,
      isSecret,
      isSet: value !== undefined,
      ...(isSecret || value === undefined
        ? {}
        : { value: withoutLogin(value) }),
      source: secretFiles.some((one) => one.name === name)
        ? "secret_file"
        : given !== undefined
        ? "environment"
        : isFromFile
        ? "file"
        : "default",
    };
  });
}

function entries(): readonly (readonly [
  SettingName,
  (typeof SETTING_DESCRIPTIONS)[SettingName],
])[] {
  const names = Object.keys(SETTING_DESCRIPTIONS);
  return names.flatMap((name) =>
    isName(name) ? [[name, SETTING_DESCRIPTIONS[name]] as const] : []
  );
}

function isName(name: string): name is SettingName {
  return name in SETTING_DESCRIPTIONS;
}

const SETTINGS: readonly {
  readonly name: SettingName;
  readonly isSecret: boolean;
  /** The default, where it is a value. */
  readonly literal: string | undefined;
}[] = entries().map(([name, description]) => ({
  name,
  isSecret: SECRET_NAMES.has(name),
  literal: /^`([^`]+)`$/.exec(description.default)?.[1],
}));

/** Values that do not follow from their variable alone. */
function derivedValue(
  name: SettingName,
  config: Settled,
): { readonly value?: string; readonly isFromFile?: boolean } | undefined {
  const vendor = VENDORS.find(({ baseUrlSetting }) => baseUrlSetting === name);
  if (vendor !== undefined) {
    const override = config.overrides.vendors?.[vendor.name]?.base_url;
    const access = config.vendors[vendor.name];
    return {
      value: access?.baseUrl ?? override ?? vendor.baseUrl,
      isFromFile: override !== undefined,
    };
  }
  switch (name) {
    case "HTTPS_PROXY":
      return shownProxy(config.proxies.https);
    case "HTTP_PROXY":
      return shownProxy(config.proxies.http);
    case "DATABASE_URL":
      return { value: config.databaseUrl };
    case "GATEWAY_CONSOLE":
      return { value: config.console };
    case "GATEWAY_STORE_RESPONSES":
      return { value: config.storeResponses ? "on" : "off" };
    case "GATEWAY_UPSTREAM":
      return config.replay ? { value: "replay" } : undefined;
    case "GATEWAY_MAX_CONCURRENT_PER_KEY":
      return { value: String(config.maxConcurrentPerKey) };
    default:
      return undefined;
  }
}

function shownProxy(
  proxy: Proxy | undefined,
): { readonly value: string } | undefined {
  return proxy && { value: `http${proxy.isTls ? "s" : ""}://${proxy.name}` };
}

/** An address without user name, password and query: each may hold a secret. */
function withoutLogin(value: string): string {
  const address = /^([a-z][\w+.-]*:\/\/)(?:[^/?#]*@)?([^?#]*)/i.exec(value);
  return address === null ? value : `${address[1]}${address[2]}`;
}
