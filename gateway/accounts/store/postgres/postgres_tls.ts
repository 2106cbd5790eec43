/**
 * The TLS parameters of an address of Postgres, with the values and meanings of libpq.
 */
import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";

export interface PostgresTls {
  /**
   * TLS options with the certificate checks; false: no TLS; absent: from the driver's
   * environment variables.
   */
  readonly ssl?: false | ConnectionOptions;
  /** Whether an unencrypted connection is allowed if the server has no TLS. */
  readonly allowsPlaintext: boolean;
  /** Whether the login is bound to the server's certificate; absent: it is not. */
  readonly channelBinding?: "prefer" | "require";
}

/** Parameters that are read here. */
export const TLS_PARAMETERS: readonly string[] = [
  "sslmode",
  "ssl",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "sslpassword",
  "sslnegotiation",
  "sslsni",
  "sslcompression",
  "sslcertmode",
  "sslcrl",
  "sslcrldir",
  "ssl_min_protocol_version",
  "ssl_max_protocol_version",
  "channel_binding",
];

/** Values that ask for what is done anyway; another value of these is refused. */
const USUAL: ReadonlyMap<string, RegExp> = new Map([
  ["sslnegotiation", /^postgres$/],
  ["sslsni", /^1$/],
  ["sslcompression", /^[01]$/],
  ["sslcertmode", /^allow$/],
  ["sslcrl", /^$/],
  ["sslcrldir", /^$/],
]);

/**
 * The TLS of an address: only `verify-ca` and `verify-full` check the certificate.
 *
 * @throws {Error} naming the parameter
 */
export function tlsOf(parameters: URLSearchParams): PostgresTls {
  for (const [name, usual] of USUAL) {
    const value = parameters.get(name);
    if (value === null || usual.test(value)) continue;
    throw new Error(
      `the gateway cannot follow this ${name} in the address; leave it out`,
    );
  }
  const usesSystem = parameters.get("sslrootcert") === "system";
  const mode = parameters.get("sslmode") ?? parameters.get("ssl") ??
    (usesSystem ? "verify-full" : null);
  const files = {
    ...(usesSystem ? {} : fileIn(parameters, "sslrootcert", "ca")),
    ...fileIn(parameters, "sslcert", "cert"),
    ...fileIn(parameters, "sslkey", "key"),
    ...textIn(parameters, "sslpassword", "passphrase"),
    ...versionIn(parameters, "ssl_min_protocol_version", "minVersion"),
    ...versionIn(parameters, "ssl_max_protocol_version", "maxVersion"),
  };
  return { ...checksOf(mode, files), ...bindingIn(parameters, mode) };
}

function checksOf(
  mode: string | null,
  files: ConnectionOptions,
): Pick<PostgresTls, "ssl" | "allowsPlaintext"> {
  switch (mode) {
    case null:
      return Object.keys(files).length === 0
        ? { allowsPlaintext: false }
        : { ssl: files, allowsPlaintext: false };
    case "disable":
    case "false":
      return { ssl: false, allowsPlaintext: false };
    case "allow":
    case "prefer":
      return {
        ssl: { ...files, rejectUnauthorized: false },
        allowsPlaintext: true,
      };
    case "require":
      return {
        ssl: { ...files, rejectUnauthorized: false },
        allowsPlaintext: false,
      };
    case "verify-ca":
      return {
        ssl: { ...files, checkServerIdentity: () => undefined },
        allowsPlaintext: false,
      };
    case "verify-full":
    case "true":
      return { ssl: files, allowsPlaintext: false };
    default:
      throw new Error(
        "sslmode in the address must be disable, allow, prefer, require, verify-ca or verify-full",
      );
  }
}

/** A binding that is required needs TLS, whatever the server has. */
function bindingIn(
  parameters: URLSearchParams,
  mode: string | null,
): Pick<PostgresTls, "channelBinding" | "allowsPlaintext"> | undefined {
  const value = parameters.get("channel_binding");
  switch (value) {
    case null:
    case "disable":
      return undefined;
    case "prefer":
      return undefined;
    case "require":
      if (mode === null || mode === "disable" || mode === "false") {
        throw new Error(
          "channel_binding=require in the address needs sslmode=require or a stricter one",
        );
      }
      return { channelBinding: "require", allowsPlaintext: false };
    default:
      throw new Error(
        "channel_binding in the address must be disable, prefer or require",
      );
  }
}

function textIn<K extends string>(
  parameters: URLSearchParams,
  name: string,
  option: K,
): Partial<Record<K, string>> {
  const value = parameters.get(name);
  return value === null ? {} : { [option]: value } as Record<K, string>;
}

function versionIn(
  parameters: URLSearchParams,
  name: string,
  option: "minVersion" | "maxVersion",
): ConnectionOptions {
  const value = parameters.get(name);
  switch (value) {
    case null:
    case "":
      return {};
    case "TLSv1":
    case "TLSv1.1":
    case "TLSv1.2":
    case "TLSv1.3":
      return { [option]: value };
    default:
      throw new Error(
        `${name} in the address must be TLSv1, TLSv1.1, TLSv1.2 or TLSv1.3`,
      );
  }
}

function fileIn(
  parameters: URLSearchParams,
  name: string,
  option: "ca" | "cert" | "key",
): Partial<Record<typeof option, string>> {
  const path = parameters.get(name);
  if (path === null) return {};
  try {
    return { [option]: readFileSync(path, "utf8") };
  } catch {
    throw new Error(`${name} in the address names a file that cannot be read`);
  }
}
