/**
 * The vendors: places that are called with a credential of their own. The built-in ones have
 * settings; others are in the configuration file. How a place is called is in the host table.
 *
 * @module
 */
import { fillHeader, type TemplateValues } from "./hosts/address.ts";
import { BUILT_IN_HOSTS } from "./hosts/built_in.ts";
import type { Host, HostDialect, HostKind, VendorName } from "./hosts/host.ts";

/** A vendor: a built-in row, or one from the configuration file. */
export interface Vendor {
  /** The name that models and the configuration file use. */
  readonly name: string;
  /** Its row in the host table. */
  readonly kind: HostKind;
  /** The built-in vendor whose models it serves; absent: any models. */
  readonly serves?: VendorName;
  /** Without a slash at the end; paths of the dialects are appended. */
  readonly baseUrl: string;
  /** Preferred first, for clients whose dialect the vendor does not support. Headers are filled. */
  readonly dialects: readonly HostDialect[];
  /** Values for the templates of paths. */
  readonly values: TemplateValues;
}

/** A vendor whose key and address have their own settings. */
export interface BuiltInVendor extends Vendor {
  /** Equals its kind. */
  readonly name: VendorName;
  /** The setting that holds its key. If no vendor has a key, the replay offers its models. */
  readonly keySetting: `${Uppercase<VendorName>}_API_KEY`;
  /** The setting that replaces its address; takes precedence over the configuration file. */
  readonly baseUrlSetting: `${Uppercase<VendorName>}_BASE_URL`;
}

const SETTING_PREFIX: Readonly<Record<VendorName, Uppercase<VendorName>>> = {
  vendora: "VENDORA",
  vendorb: "VENDORB",
  vendorc: "VENDORC",
  vendord: "VENDORD",
};

/** Every built-in vendor, with its public address. */
export const VENDORS: readonly BuiltInVendor[] = BUILT_IN_HOSTS.map((host) => ({
  ...vendorOf(host.kind, host, host.base, {}),
  name: host.kind,
  keySetting: `${SETTING_PREFIX[host.kind]}_API_KEY`,
  baseUrlSetting: `${SETTING_PREFIX[host.kind]}_BASE_URL`,
}));

/** A host with the values of one vendor. */
export function vendorOf(
  name: string,
  host: Host,
  baseUrl: string,
  values: TemplateValues,
): Vendor {
  return {
    name,
    kind: host.kind,
    ...(host.serves === undefined ? {} : { serves: host.serves }),
    baseUrl,
    dialects: host.dialects.map((dialect) => withValues(dialect, values)),
    values,
  };
}

function withValues(
  dialect: HostDialect,
  values: TemplateValues,
): HostDialect {
  const { region } = values;
  return {
    ...dialect,
    ...(region === undefined ? {} : { auth: { ...dialect.auth, region } }),
    ...(dialect.headers === undefined ? {} : {
      headers: Object.fromEntries(
        Object.entries(dialect.headers).map(([header, template]) => [
          header,
          fillHeader(template, values),
        ]),
      ),
    }),
  };
}
