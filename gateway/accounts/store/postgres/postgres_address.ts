/**
 * Parses `postgres://…` into driver settings, with the parameters and meanings of libpq. The
 * driver's own parser is not used: it is about to change the meaning of `sslmode`, and it drops
 * session settings.
 */
import { compact } from "../../../../translate/bytes/compact.ts";
import {
  hostsOf,
  type PostgresHost,
  SESSION_TARGETS,
  type SessionTarget,
} from "./postgres_hosts.ts";
import { type PostgresTls, TLS_PARAMETERS, tlsOf } from "./postgres_tls.ts";

export interface PostgresAddress extends PostgresHost, PostgresTls {
  /** Servers that are tried after the first; absent: there are none. */
  readonly others?: readonly PostgresHost[];
  /** Absent: any server. */
  readonly target?: SessionTarget;
  /** An absent field is taken from the driver's environment variables, here and below. */
  readonly user?: string;
  /** Password; absent if the server requires none. */
  readonly password?: string;
  /** Database name; absent: the name of the user. */
  readonly database?: string;
  /** Session settings, as server command-line options. */
  readonly options?: string;
  /** Name of the sessions in `pg_stat_activity`; absent: the gateway's. */
  readonly applicationName?: string;
  /** Time limit for a connection to one server; 0: none of its own. */
  readonly connectMs?: number;
  /** Absent: with keep-alive probes. */
  readonly keepAlive?: false;
  /** Idle time before the first keep-alive probe. */
  readonly keepAliveIdleMs?: number;
  /**
   * Whether statements are prepared by name: faster, but some poolers in transaction mode
   * do not support it.
   */
  readonly prepare: boolean;
}

/** Parameters that are read here. */
const READ: ReadonlySet<string> = new Set([
  ...TLS_PARAMETERS,
  "host",
  "port",
  "user",
  "password",
  "dbname",
  "options",
  "application_name",
  "fallback_application_name",
  "connect_timeout",
  "keepalives",
  "keepalives_idle",
  "target_session_attrs",
  "load_balance_hosts",
  "prepare",
]);

/** Values with which a parameter asks for nothing that is missing; undefined: with every value. */
const WITHOUT_EFFECT: ReadonlyMap<string, RegExp | undefined> = new Map([
  // The platform has no such options of a socket; every answer has a limit of five seconds.
  ["keepalives_interval", undefined],
  ["keepalives_count", undefined],
  ["tcp_user_timeout", undefined],
  ["client_encoding", /^(?:utf-?8|auto)$/i],
  ["gssencmode", /^(?:disable|prefer)$/],
  ["gssdelegation", /^0$/],
  ["replication", /^(?:false|off|no|0)$/],
]);

/** Parameters of libpq that the gateway does not follow. */
const REFUSED: ReadonlySet<string> = new Set(
  "hostaddr passfile service servicefile require_auth krbsrvname gsslib requirepeer min_protocol_version max_protocol_version scram_client_key scram_server_key"
    .split(" ").concat(...WITHOUT_EFFECT.keys()),
);

/**
 * Parses an address.
 *
 * @throws {Error} naming the part or parameter; the message never repeats the address
 */
export function postgresAddress(text: string): PostgresAddress {
  const found =
    /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/
      .exec(text);
  if (found === null) throw notAnAddress();
  const [, login, servers = "", path = "", search = ""] = found;
  const [, name = "", password] = /^([^:]*)(?::(.*))?$/.exec(login ?? "") ?? [];
  const parameters = new URLSearchParams(search);
  requireFollowed(parameters);
  const of = (parameter: string, part: string, value = ""): string =>
    parameters.get(parameter) ?? decodePart(part, value);
  const [first = {}, ...others] = hostsOf(servers, parameters, notAnAddress);
  const options = sessionOptions(parameters);
  const omitEmpty = (value: string): string | undefined =>
    value === "" ? undefined : value;
  return {
    ...first,
    ...(others.length === 0 ? {} : { others }),
    ...compact({
      target: targetOf(parameters),
      user: omitEmpty(of("user", "user", name)),
      password: omitEmpty(of("password", "password", password)),
      database: omitEmpty(of("dbname", "database", path)),
      options: omitEmpty(options),
      applicationName: parameters.get("application_name") ??
        parameters.get("fallback_application_name") ?? undefined,
      connectMs: secondsIn(parameters, "connect_timeout"),
      keepAlive: parameters.get("keepalives") === "0" ? false : undefined,
      keepAliveIdleMs: secondsIn(parameters, "keepalives_idle"),
    }),
    ...tlsOf(parameters),
    prepare: parameters.get("prepare") !== "false",
  };
}

function notAnAddress(): Error {
  return new Error(
    "the address is not a URL: it must be postgres://USER:PASSWORD@HOST/DATABASE, with special characters percent-encoded",
  );
}

function decodePart(part: string, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new Error(`the ${part} in the address is not percent-encoded`);
  }
}

function requireFollowed(parameters: URLSearchParams): void {
  for (const [name, value] of parameters) {
    if (!REFUSED.has(name)) continue;
    if (
      WITHOUT_EFFECT.has(name) &&
      WITHOUT_EFFECT.get(name)?.test(value) !== false
    ) continue;
    throw new Error(
      `the gateway cannot follow ${name} in the address; leave it out`,
    );
  }
}

function targetOf(parameters: URLSearchParams): SessionTarget | undefined {
  const value = parameters.get("target_session_attrs");
  if (value === null) return undefined;
  const target = SESSION_TARGETS.find((one) => one === value);
  if (target !== undefined) return target;
  throw new Error(
    `target_session_attrs in the address must be ${SESSION_TARGETS.join(", ")}`,
  );
}

/** A number of seconds, in milliseconds; as in libpq, one below 1 is none. */
function secondsIn(
  parameters: URLSearchParams,
  name: string,
): number | undefined {
  const value = parameters.get(name);
  if (value === null) return undefined;
  if (!/^-?\d{1,9}$/.test(value)) {
    throw new Error(`${name} in the address must be a number of seconds`);
  }
  return Math.max(0, Number(value)) * 1000;
}

/** Every other parameter is a session setting, such as `search_path`. */
function sessionOptions(parameters: URLSearchParams): string {
  const options = parameters.getAll("options");
  for (const [name, value] of parameters) {
    if (READ.has(name) || REFUSED.has(name)) continue;
    options.push(`-c ${name}=${value.replaceAll(/[\\\s]/g, "\\$&")}`);
  }
  return options.join(" ");
}
