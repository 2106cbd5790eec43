/**
 * The servers of an address of Postgres, and the choice of one for each connection.
 */
// @ts-types="./pg_driver.d.ts"
import pg from "pg";
import type { PoolClient } from "./pg_driver.d.ts";

/** Values of `target_session_attrs`. */
export const SESSION_TARGETS = [
  "any",
  "read-write",
  "read-only",
  "primary",
  "standby",
  "prefer-standby",
] as const;

/** The server that a session may be on, where an address has several. */
export type SessionTarget = typeof SESSION_TARGETS[number];

export interface PostgresHost {
  /**
   * Host name, IP address without brackets, or the folder of a socket; absent: from the driver's
   * environment variables.
   */
  readonly host?: string;
  readonly port?: number;
}

/**
 * The servers of an address, in the order in which they are tried: those of the parameters `host` and
 * `port`, else those of the URL, each with a port of its own or one for all.
 *
 * @throws {Error} naming the parameter, or `malformed()`
 */
export function hostsOf(
  authority: string,
  parameters: URLSearchParams,
  malformed: () => Error,
): readonly PostgresHost[] {
  const inUrl = authority.split(",").map((text) => {
    const found = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/.exec(text);
    if (found === null) throw malformed();
    const [, six, name = "", port = ""] = found;
    return { host: decodeName(six ?? name, malformed), port };
  });
  const hosts = parameters.get("host")?.split(",") ??
    inUrl.map(({ host }) => host);
  const ports = parameters.get("port")?.split(",") ??
    inUrl.map(({ port }) => port);
  if (ports.length > 1 && ports.length !== hosts.length) {
    throw new Error("port in the address must be one, or one for each host");
  }
  const found = hosts.map((host, at): PostgresHost => {
    const port = ports[at] ?? ports[0] ?? "";
    if (!/^\d{0,5}$/.test(port) || Number(port) > 65535) throw malformed();
    return {
      ...(host === "" ? {} : { host }),
      ...(port === "" ? {} : { port: Number(port) }),
    };
  });
  return inOrder(found, parameters.get("load_balance_hosts"));
}

function decodeName(text: string, malformed: () => Error): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformed();
  }
}

function inOrder(
  hosts: readonly PostgresHost[],
  order: string | null,
): readonly PostgresHost[] {
  if (order === null || order === "disable") return hosts;
  if (order !== "random") {
    throw new Error(
      "load_balance_hosts in the address must be disable or random",
    );
  }
  const from = Math.floor(Math.random() * hosts.length);
  return [...hosts.slice(from), ...hosts.slice(0, from)];
}

/** SQLSTATE of a server that starts, or ends, and of one without a free connection. */
const AWAY = /^(?:57P|53)/;

/** Connects to the first of several servers that fits; the next connection tries that one first. */
export class HostChoice {
  readonly #hosts: readonly PostgresHost[];
  readonly #target: SessionTarget;
  /** Connections that were found to fit. */
  readonly #fitting = new WeakSet<PoolClient>();
  #first = 0;

  constructor(hosts: readonly PostgresHost[], target: SessionTarget = "any") {
    this.#hosts = hosts;
    this.#target = target;
  }

  /**
   * A connection to a server that fits; `connect` makes one, or gives one that is open.
   *
   * @throws {Error} of the last server, if none can be reached or fits
   */
  async connect(
    connect: (host: PostgresHost) => Promise<PoolClient>,
  ): Promise<PoolClient> {
    const targets: readonly SessionTarget[] = this.#target === "prefer-standby"
      ? ["standby", "any"]
      : [this.#target];
    let failure: unknown;
    for (const target of targets) {
      for (let next = 0; next < this.#hosts.length; next++) {
        const at = (this.#first + next) % this.#hosts.length;
        try {
          const client = await connect(this.#hosts[at] ?? {});
          if (this.#fitting.has(client)) return client;
          if (await fits(client, target)) {
            this.#fitting.add(client);
            this.#first = at;
            return client;
          }
          client.release(true);
          failure = new Error(`no server of the address is ${target}`);
        } catch (error) {
          if (
            error instanceof pg.DatabaseError && !AWAY.test(error.code ?? "")
          ) throw error;
          failure = error;
        }
      }
    }
    throw failure;
  }
}

/** Whether a session is on a server of this kind. */
async function fits(
  client: PoolClient,
  target: SessionTarget,
): Promise<boolean> {
  if (target === "any") return true;
  const { rows: [row] } = await client.query(
    "SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS read_only",
  );
  switch (target) {
    case "primary":
      return row?.["standby"] === false;
    case "standby":
    case "prefer-standby":
      return row?.["standby"] === true;
    case "read-write":
      return row?.["read_only"] === false;
    case "read-only":
      return row?.["read_only"] === true;
  }
}
