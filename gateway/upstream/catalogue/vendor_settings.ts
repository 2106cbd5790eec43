/**
 * The rows of `vendors` in the configuration file: their shape, what is wrong with them, and the
 * vendors that they add.
 */
import { z } from "zod";
import { compact } from "../../../translate/bytes/compact.ts";
import {
  AUTH_FIELDS,
  authProblem,
  isUnencrypted,
  variableName,
} from "../credentials/auth_settings.ts";
import { fill, HOST_SETTINGS } from "../hosts/address.ts";
import type { Host, HostSetting } from "../hosts/host.ts";
import {
  HOST_KINDS,
  hostOf,
  knownSettings,
  neededSettings,
} from "../hosts/hosts.ts";
import { type Preset, PRESETS } from "../hosts/presets.ts";
import { PROXY_FORM, readProxy } from "../http/proxy.ts";
import { noSuch } from "./setting_errors.ts";
import { type Vendor, vendorOf, VENDORS } from "./vendors.ts";

const HEADER_NAME = /^[a-z0-9][a-z0-9-]*$/;
const BAD_HEADER_NAME = "must be a header's name in lower case";

/** Headers that carry credentials, or that the gateway sets. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "api-key",
  "x-api-key",
  "x-goog-api-key",
  "x-amz-security-token",
  "accept",
  "accept-encoding",
  "connection",
  "content-length",
  "content-type",
  "host",
  "transfer-encoding",
]);

const filePath = z.string().min(1);

/** The shape of a row. */
export const vendorSettings = z.strictObject({
  kind: z.string(),
  preset: z.string(),
  base_url: z.url({ protocol: /^https?$/ }).transform((text) =>
    text.replace(/\/+$/, "")
  ),
  // Names are checked in `settingProblems`: the library reports no reason for a key.
  headers: z.record(
    z.string(),
    z.string().regex(/^[\x20-\x7e]+$/, "must be one line of ASCII text"),
  ),
  key_header: z.string().regex(HEADER_NAME, BAD_HEADER_NAME),
  allow_http: z.boolean(),
  bills_cancelled: z.boolean(),
  proxy: z.string().refine(
    (text) => text === "none" || readProxy(text) !== undefined,
    PROXY_FORM,
  ).refine(
    (text) => readProxy(text)?.authorization === undefined,
    "must have no user, because the file is shown to operators; name a variable that holds the whole address with proxy_env",
  ),
  proxy_env: variableName,
  tls: z.strictObject({
    ca: filePath,
    cert: filePath,
    key: filePath,
    min_version: z.enum(["1.2", "1.3"]),
  }).partial().refine(
    ({ cert, key }) => (cert === undefined) === (key === undefined),
    "must have both cert and key, or neither",
  ),
  region: z.string(),
  resource: z.string(),
  project: z.string(),
  location: z.string(),
  workspace: z.string(),
  api_version: z.string(),
  ...AUTH_FIELDS,
  // Reported in `vendorProblems`, with the row's other problems.
  api_key: z.unknown(),
}).partial();

type VendorSettings = z.infer<typeof vendorSettings>;

/** The fields of a built-in vendor's row. */
const OF_BUILT_IN: ReadonlySet<string> = new Set(
  [
    "base_url",
    "allow_http",
    "proxy",
    "proxy_env",
    "tls",
  ] satisfies readonly (keyof VendorSettings)[],
);

const SETTINGS = Object.keys(HOST_SETTINGS) as readonly HostSetting[];

/** Address of a host in examples. */
const EXAMPLE_BASE = "https://api.groq.com/openai/v1";

/** What is wrong with a row; each problem begins with the row's path. */
export function vendorProblems(
  name: string,
  row: VendorSettings,
): readonly string[] {
  const at = `vendors.${name}`;
  const problems: string[] = [];
  if (row.api_key !== undefined) {
    problems.push(
      `${at}.api_key: no key may stand in the file; name a variable with api_key_env or a file with api_key_file`,
    );
  }
  if (row.proxy !== undefined && row.proxy_env !== undefined) {
    problems.push(`${at}.proxy: must not be given together with proxy_env`);
  }
  const { kind } = row;
  if (VENDORS.some((vendor) => vendor.name === name)) {
    const unencrypted = row.base_url && unencryptedProblem(row.base_url, row);
    return [
      ...problems,
      ...(Object.keys(row).every((field) => OF_BUILT_IN.has(field)) ? [] : [
        `${at}: a built-in vendor takes neither kind nor api_key_env, but base_url, proxy and tls alone; add a vendor with another name`,
      ]),
      ...(unencrypted ? [`${at}.${unencrypted}`] : []),
    ];
  }
  const hasCredential = row.auth !== undefined ||
    row.api_key_env !== undefined || row.api_key_file !== undefined;
  if (kind === undefined || !hasCredential) {
    problems.push(
      `${at}: needs kind (the host whose API it has) and api_key_env (the variable that holds its key), api_key_file or auth`,
    );
  }
  if (kind === undefined) return problems;
  const host = hostOf(kind);
  if (host === undefined) {
    return [...problems, `${at}.kind: ${noSuch("kind", kind, HOST_KINDS)}`];
  }
  return [
    ...problems,
    ...settingProblems(host, row).map((problem) => `${at}.${problem}`),
    ...credentialProblems(host, row, hasCredential).map((problem) =>
      `${at}.${problem}`
    ),
  ];
}

function settingProblems(host: Host, row: VendorSettings): readonly string[] {
  const problems: string[] = [];
  const { kind } = host;
  const preset = row.preset === undefined ? undefined : PRESETS[row.preset];
  if (row.preset !== undefined && kind !== "openai_compatible") {
    problems.push("preset: only openai_compatible takes one");
  } else if (row.preset !== undefined && preset === undefined) {
    problems.push(
      `preset: ${noSuch("preset", row.preset, Object.keys(PRESETS))}`,
    );
  }
  if (row.key_header !== undefined && kind !== "openai_compatible") {
    problems.push("key_header: only openai_compatible takes one");
  }
  for (const name of Object.keys(row.headers ?? {})) {
    if (!HEADER_NAME.test(name)) {
      problems.push(`headers.${name}: ${BAD_HEADER_NAME}`);
    } else if (OWN_HEADERS.has(name)) {
      problems.push(
        `headers.${name}: must not be a header of the gateway or of a credential; a key is named with api_key_env`,
      );
    }
  }
  const hasBase = row.base_url !== undefined;
  if (row.base_url !== undefined && !isPlainAddress(row.base_url)) {
    problems.push(
      "base_url: must have neither a user, a query nor a fragment; a key is named with api_key_env",
    );
  }
  const mayHaveBase = row.preset !== undefined && preset === undefined;
  if (
    !hasBase && !mayHaveBase && host.base === undefined &&
    preset?.base === undefined
  ) {
    problems.push(`base_url: needed by ${kind}, such as ${EXAMPLE_BASE}`);
  }
  const needed = new Set(neededSettings(host, hasBase));
  // A signature is for a region, wherever the call goes.
  const isSigned = host.dialects.some(({ auth }) =>
    auth.schemes.includes("sigv4")
  );
  if (isSigned && typeof row.auth === "object" && "aws" in row.auth) {
    needed.add("region");
  }
  const known = knownSettings(host);
  for (const setting of SETTINGS) {
    const value = row[setting];
    const { pattern, example } = HOST_SETTINGS[setting];
    if (value === undefined || value === "") {
      if (needed.has(setting)) {
        problems.push(`${setting}: needed by ${kind}, such as ${example}`);
      }
    } else if (!known.includes(setting)) {
      problems.push(`${setting}: not used by ${kind}`);
    } else if (!pattern.test(value)) {
      problems.push(
        `${setting}: must be a part of an address, such as ${example}`,
      );
    }
  }
  return problems;
}

/** A credential in an address would end up in logs, and paths are appended to it. */
function isPlainAddress(text: string): boolean {
  const { username, password, search, hash } = new URL(text);
  return username === "" && password === "" && search === "" && hash === "" &&
    !/[?#]/.test(text);
}

function credentialProblems(
  host: Host,
  row: VendorSettings,
  hasCredential: boolean,
): readonly string[] {
  const schemes = host.dialects.flatMap(({ auth }) => auth.schemes);
  const problem = hasCredential
    ? authProblem(host.kind, schemes, row)
    : undefined;
  const base = row.base_url ?? presetOf(row)?.base;
  return [
    problem,
    base === undefined ? undefined : unencryptedProblem(base, row),
  ].filter((one) => one !== undefined);
}

function unencryptedProblem(
  base: string,
  { allow_http }: VendorSettings,
): string | undefined {
  return allow_http === true || !isUnencrypted(base)
    ? undefined
    : 'base_url: without https only loopback, unless "allow_http" is true: prompts and the credential can be read on the way';
}

function presetOf(row: VendorSettings): Preset | undefined {
  return row.preset === undefined ? undefined : PRESETS[row.preset];
}

/** The vendor that a row adds; undefined for a built-in vendor's row and for one with a problem. */
export function addedVendor(
  name: string,
  row: VendorSettings,
): Vendor | undefined {
  const host = row.kind === undefined ? undefined : hostOf(row.kind);
  if (host === undefined || vendorProblems(name, row).length > 0) {
    return undefined;
  }
  const values = Object.fromEntries(
    SETTINGS.flatMap((setting) => {
      const value = row[setting];
      return value === undefined ? [] : [[setting, value]];
    }),
  );
  const preset = presetOf(row);
  const base = row.base_url ?? preset?.base ?? fill(host.base ?? "", values);
  const vendor = vendorOf(name, host, base, values);
  const { key_header: keyHeader } = row;
  return {
    ...vendor,
    billsCancelled: row.bills_cancelled ??
      (vendor.billsCancelled || preset?.billsCancelled === true),
    dialects: vendor.dialects.map((dialect) => ({
      ...dialect,
      ...compact({
        errors: preset?.errors,
        edits: preset?.edits,
      }),
      ...(preset?.modelRules === undefined ? {} : {
        modelRules: [...preset.modelRules, ...dialect.modelRules ?? []],
      }),
      auth: keyHeader === undefined
        ? dialect.auth
        : { ...dialect.auth, schemes: ["header"], header: keyHeader },
      headers: { ...dialect.headers, ...row.headers },
      capabilities: { ...dialect.capabilities, ...preset?.capabilities },
    })),
  };
}
