/**
 * Parses `postgres://…` into driver settings. The driver's own parser is not used: it is
 * about to change the meaning of `sslmode`, and it drops session settings.
 */
import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";

export interface PostgresAddress {
  /**
   * Host name, or IP address without brackets. An absent field is taken from the driver's
   * environment variables, here and below.
   */
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  /** Password; absent if the server requires none. */
  readonly password?: string;
  /** Database name; absent: the name of the user. */
  readonly database?: string;
  /**
   * TLS options with the certificate checks; false: no TLS; absent: from the driver's
   * environment variables.
   */
  readonly ssl?: false | ConnectionOptions;
  /** Whether an unencrypted connection is allowed if the server has no TLS. */
  readonly allowsPlaintext: boolean;
  /** Session settings, as server command-line options. */
  readonly options?: string;
  /**
   * Whether statements are prepared by name: faster, but some poolers in transaction mode
   * do not support it.
   */
  readonly prepare: boolean;
}

/** Parameters that are not session settings. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  "sslmode",
  "ssl",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "options",
  "prepare",
]);

/**
 * Parses an address.
 *
 * @throws {Error} naming the part or parameter; the message never repeats the address
 */
export function postgresAddress(text: string): PostgresAddress {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new Error(
      "the address is not a URL: it must be postgres://USER:PASSWORD@HOST/DATABASE, with special characters percent-encoded",
    );
  }
  const part = (name: string, value: string): string => {
    try {
      return decodeURIComponent(value);
    } catch {
      throw new Error(`the ${name} in the address is not percent-encoded`);
    }
  };
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const database = part("database", url.pathname.slice(1));
  const options = sessionOptions(url.searchParams);
  const tls = tlsOf(url.searchParams);
  return {
    ...(host === "" ? {} : { host: part("host", host) }),
    ...(url.port === "" ? {} : { port: Number(url.port) }),
    ...(url.username === "" ? {} : { user: part("user", url.username) }),
    ...(url.password === ""
      ? {}
      : { password: part("password", url.password) }),
    ...(database === "" ? {} : { database }),
    ...tls,
    ...(options === "" ? {} : { options }),
    prepare: url.searchParams.get("prepare") !== "false",
  };
}

/** Every other parameter is a session setting, such as `search_path`. */
function sessionOptions(parameters: URLSearchParams): string {
  const options = parameters.getAll("options");
  for (const [name, value] of parameters) {
    if (OWN_PARAMETERS.has(name)) continue;
    options.push(`-c ${name}=${value.replaceAll(/[\\\s]/g, "\\$&")}`);
  }
  return options.join(" ");
}

/** The values and meaning of libpq: only `verify-ca` and `verify-full` check the certificate. */
function tlsOf(
  parameters: URLSearchParams,
): Pick<PostgresAddress, "ssl" | "allowsPlaintext"> {
  const mode = parameters.get("sslmode") ?? parameters.get("ssl");
  const files = {
    ...fileIn(parameters, "sslrootcert", "ca"),
    ...fileIn(parameters, "sslcert", "cert"),
    ...fileIn(parameters, "sslkey", "key"),
  };
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
