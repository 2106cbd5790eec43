/**
 * Fills the templates of addresses and headers, such as `https://{resource}.example.com`.
 */
import type { HostSetting } from "./host.ts";

const PLACEHOLDER = /\{(\w+)\}/g;

/** Hosts of Vertex whose name does not begin with the location. */
const VERTEX_HOSTS: Readonly<Record<string, string>> = {
  global: "aiplatform.googleapis.com",
  us: "aiplatform.us.rep.googleapis.com",
  eu: "aiplatform.eu.rep.googleapis.com",
};

/** The placeholder for the host name that belongs to the `location`. */
const VERTEX_HOST = "vertex_host";

/** What each setting may be, with an example. It becomes part of a host name or a path segment. */
export const HOST_SETTINGS: Readonly<
  Record<HostSetting, { readonly pattern: RegExp; readonly example: string }>
> = {
  region: { pattern: /^[a-z]{2}(-[a-z0-9]+)+$/, example: "eu-central-1" },
  resource: {
    pattern: /^[A-Za-z0-9]([A-Za-z0-9-]{0,62}[A-Za-z0-9])?$/,
    example: "contoso",
  },
  project: { pattern: /^[A-Za-z0-9:._-]+$/, example: "contoso-ml" },
  location: { pattern: /^[a-z]+(-[a-z0-9]+)*$/, example: "global" },
  workspace: { pattern: /^[A-Za-z0-9_-]+$/, example: "wrkspc_01AbCd" },
  api_version: { pattern: /^[A-Za-z0-9-]+$/, example: "2024-10-21" },
};

/** Values for a template by the names of its placeholders. */
export type TemplateValues = Readonly<Record<string, string>>;

/** The names of settings that a template needs, each once; `model` is not a setting. */
export function settingsIn(template: string): readonly HostSetting[] {
  const names = [...template.matchAll(PLACEHOLDER)].map(([, name = ""]) =>
    name === VERTEX_HOST ? "location" : name
  );
  return [...new Set(names)].filter((name): name is HostSetting =>
    name in HOST_SETTINGS
  );
}

/**
 * The template with every placeholder replaced by its value, percent-encoded once.
 *
 * @throws {Error} for a placeholder whose value is absent or empty
 */
export function fill(template: string, values: TemplateValues): string {
  return template.replaceAll(PLACEHOLDER, (_, name: string) => {
    if (name === VERTEX_HOST) return vertexHost(valueOf(values, "location"));
    return encodeURIComponent(valueOf(values, name));
  });
}

/** {@linkcode fill} for a header: values are not encoded. */
export function fillHeader(template: string, values: TemplateValues): string {
  return template.replaceAll(
    PLACEHOLDER,
    (_, name: string) => valueOf(values, name),
  );
}

function valueOf(values: TemplateValues, name: string): string {
  const value = values[name];
  if (value === undefined || value === "") {
    throw new Error(`the address needs a value for {${name}}`);
  }
  return value;
}

function vertexHost(location: string): string {
  return VERTEX_HOSTS[location] ??
    `${encodeURIComponent(location)}-aiplatform.googleapis.com`;
}
