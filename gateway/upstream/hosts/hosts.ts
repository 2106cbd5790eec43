/**
 * The table of hosts: every place where models are called, as data.
 */
import { AWS_HOSTS } from "./aws.ts";
import { AZURE_HOSTS } from "./azure.ts";
import { BUILT_IN_HOSTS } from "./built_in.ts";
import { OPENAI_COMPATIBLE } from "./compatible.ts";
import { GOOGLE_HOSTS } from "./google.ts";
import type { Host, HostDialect, HostKind } from "./host.ts";
import { fill, settingsIn, type TemplateValues } from "./address.ts";
import type { HostSetting } from "./host.ts";

/** Every row; kinds are unique. */
const HOSTS: readonly Host[] = [
  ...BUILT_IN_HOSTS,
  ...AZURE_HOSTS,
  ...AWS_HOSTS,
  ...GOOGLE_HOSTS,
  OPENAI_COMPATIBLE,
];

const BY_KIND: ReadonlyMap<string, Host> = new Map(
  HOSTS.map((host) => [host.kind, host]),
);

export const HOST_KINDS: readonly HostKind[] = HOSTS.map(({ kind }) => kind);

/** The row with this name; undefined if there is none. */
export function hostOf(kind: string): Host | undefined {
  return BY_KIND.get(kind);
}

/**
 * The settings that a host needs: those in its templates; its base address is left out where the
 * configuration file gives another one.
 */
export function neededSettings(
  host: Host,
  hasOwnBase: boolean,
): readonly HostSetting[] {
  const templates = [
    ...(hasOwnBase || host.base === undefined ? [] : [host.base]),
    ...host.dialects.flatMap((
      { whole, stream, routes, count, embeddings, headers },
    ) => [
      whole,
      stream ?? "",
      count?.path ?? "",
      embeddings?.path ?? "",
      ...Object.values(routes ?? {}).flatMap((paths) => [
        paths.whole,
        paths.stream ?? "",
      ]),
      ...Object.values(headers ?? {}),
    ]),
  ];
  return [...new Set(templates.flatMap(settingsIn))];
}

/** Every setting that a host reads: those that it needs, and the region of its signatures. */
export function knownSettings(host: Host): readonly HostSetting[] {
  const signs = host.dialects.some(({ auth }) =>
    auth.schemes.includes("sigv4")
  );
  return [
    ...new Set([
      ...neededSettings(host, false),
      ...(signs ? ["region"] as const : []),
    ]),
  ];
}

/** The addresses of a model's calls. */
export interface CallAddress {
  /** Address for a whole reply. */
  readonly whole: string;
  /** Address for an event stream, with its query. */
  readonly stream: string;
  /** Address for a token count; absent if the host does not count. */
  readonly count?: string;
  /** Address for embeddings; absent if the host makes none. */
  readonly embeddings?: string;
}

/**
 * The addresses of a model's calls in one dialect of a host.
 *
 * @param baseUrl without a slash at the end
 * @param values of the host's settings, and the `model`
 * @param route a key of the dialect's `routes`
 * @throws {Error} for a setting that is absent, or an unknown route
 */
export function callAddress(
  baseUrl: string,
  dialect: HostDialect,
  values: TemplateValues,
  route?: string,
): CallAddress {
  const paths = route === undefined ? dialect : dialect.routes?.[route];
  if (paths === undefined) throw new Error(`there is no route ${route}`);
  const url = (path: string): string => `${baseUrl}${fill(path, values)}`;
  return {
    whole: url(paths.whole),
    stream: url(paths.stream ?? paths.whole),
    ...(dialect.embeddings === undefined
      ? {}
      : { embeddings: url(dialect.embeddings.path) }),
    ...(dialect.count === undefined ? {} : {
      count: url(
        dialect.count.wrap === "bedrock"
          ? dialect.count.path.replace(
            "{model}",
            encodeURIComponent(bareModel(values)),
          )
          : dialect.count.path,
      ),
    }),
  };
}

/** The model id without the prefix of an inference profile, which the token count refuses. */
function bareModel(values: TemplateValues): string {
  return (values["model"] ?? "").replace(
    /^(?:us|eu|apac|jp|au|ca|us-gov|global)\./,
    "",
  );
}
