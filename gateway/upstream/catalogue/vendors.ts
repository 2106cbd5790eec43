/**
 * The vendors: places that are called with a credential of their own. The built-in ones have
 * settings; others are in the configuration file. How a place is called is in the host table.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { DialectName } from "../../../translate/model/request.ts";
import { fillHeader, type TemplateValues } from "../hosts/address.ts";
import { BUILT_IN_HOSTS } from "../hosts/built_in.ts";
import type { Host, HostDialect, HostKind, VendorName } from "../hosts/host.ts";

/** A vendor: a built-in row, or one from the configuration file. */
export interface Vendor {
  /** The name that models and the configuration file use. */
  readonly name: string;
  /** Its row in the host table. */
  readonly kind: HostKind;
  /** The built-in vendor whose models it serves; absent: any models. */
  readonly serves?: VendorName;
  /** Whether a reply that is cancelled is generated and billed to its end. */
  readonly billsCancelled: boolean;
  /** Without a slash at the end; paths of the dialects are appended. */
  readonly baseUrl: string;
  /** Preferred first, for clients whose dialect the vendor does not support. Headers are filled. */
  readonly dialects: readonly HostDialect[];
  /** Values for the templates of paths. */
  readonly values: TemplateValues;
}

/** A vendor whose key and address have their own settings. */
interface BuiltInVendor extends Vendor {
  /** Equals its kind. */
  readonly name: VendorName;
  /** The setting that holds its key. If no vendor has a key, the replay offers its models. */
  readonly keySetting: `${Uppercase<VendorName>}_API_KEY`;
  /** The setting that replaces its address; takes precedence over the configuration file. */
  readonly baseUrlSetting: `${Uppercase<VendorName>}_BASE_URL`;
  /** What its settings mean, as Markdown of one line. */
  readonly texts: { readonly key: string; readonly baseUrl: string };
}

const FORMATS: Readonly<Record<DialectName, string>> = {
  messages: "messages",
  chat_completions: "chat completions",
  generate_content: "generate content",
  responses: "Responses",
  converse: "Converse",
};

const EACH = new Intl.ListFormat("en-GB", { type: "conjunction" });
const ANY = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** Every built-in vendor, with its public address. */
export const VENDORS: readonly BuiltInVendor[] = BUILT_IN_HOSTS.map((host) => {
  const prefix = host.kind.toUpperCase() as Uppercase<VendorName>;
  const label = host.kind.replace(
    /^vendor(.)$/,
    (_, letter: string) => `vendor ${letter.toUpperCase()}`,
  );
  const formats = host.dialects.map(({ dialect }) => FORMATS[dialect]);
  return {
    ...vendorOf(host.kind, host, host.base, {}),
    name: host.kind,
    keySetting: `${prefix}_API_KEY`,
    baseUrlSetting: `${prefix}_BASE_URL`,
    texts: {
      key: `key for ${label} (${EACH.format(formats)})`,
      baseUrl: `address of ${label}${host.addressText}`,
    },
  };
});

/** The settings of the built-in vendors' keys in one text, because one key is enough. */
export const ANY_KEY_SETTING = ANY.format(
  VENDORS.map(({ keySetting }) => keySetting),
);

/** A value for one setting of each built-in vendor, by the setting's name. */
export function byVendorSetting<
  S extends "keySetting" | "baseUrlSetting",
  T,
>(
  setting: S,
  value: (vendor: BuiltInVendor) => T,
): Readonly<Record<BuiltInVendor[S], T>> {
  return Object.fromEntries(
    VENDORS.map((vendor) => [vendor[setting], value(vendor)]),
  ) as Record<BuiltInVendor[S], T>;
}

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
    ...compact({ serves: host.serves }),
    billsCancelled: host.billsCancelled === true,
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
