/**
 * Types for the used part of `npm:pg`. `npm:@types/pg` would bring the types of Node.js
 * along, which replace Deno's own in every module of the project.
 */
import type { ConnectionOptions } from "node:tls";
import type { Duplex } from "node:stream";

export interface QueryResult {
  /** Rows, keyed by column name. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** First word of the command tag, such as `SELECT` or `COMMIT`. */
  readonly command: string;
}

/** Connection settings. */
export interface ClientConfig {
  /** Host name or IP address. */
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  /** TLS options; false: no TLS. */
  readonly ssl?: false | ConnectionOptions;
  /** Session settings, as server command-line options. */
  readonly options?: string;
  /** Name of the session in `pg_stat_activity`. */
  readonly application_name?: string;
  /** Whether statements are sent without waiting for the previous one. */
  readonly pipeline?: boolean;
  /** Time limit for connecting, in milliseconds. */
  readonly connectionTimeoutMillis?: number;
  readonly keepAlive?: boolean;
  /** Whether a login by SCRAM is bound to the server's certificate, if the server offers it. */
  readonly enableChannelBinding?: boolean;
  /** Idle time before the first keep-alive probe, in milliseconds. */
  readonly keepAliveInitialDelayMillis?: number;
  readonly types?: {
    /** The parser for a type, by its OID. */
    getTypeParser(oid: number, format?: string): (text: string) => unknown;
  };
}

export interface PoolConfig extends ClientConfig {
  /** Class of the connections. */
  readonly Client?: typeof Client;
  readonly max?: number;
  /** Idle time after which a connection is closed, in milliseconds; 0: never. */
  readonly idleTimeoutMillis?: number;
  /** Age after which a connection is closed, in seconds. */
  readonly maxLifetimeSeconds?: number;
}

export class Client {
  /** Creates an unconnected client. */
  constructor(config?: ClientConfig | string);
  readonly host: string;
  readonly port: number;
  /** The protocol layer. */
  readonly connection: {
    /** The socket, or TLS on top of it. */
    readonly stream: Duplex;
    removeAllListeners(): void;
    /** The server's request for a login by SASL. */
    on(
      event: "authenticationSASL",
      listener: (message: { readonly mechanisms: readonly string[] }) => void,
    ): void;
    /** The server asks for no login, or no more. */
    on(event: "authenticationOk", listener: () => void): void;
  };
  connect(): Promise<unknown>;
  /** Runs a statement; a named one stays prepared. */
  query(
    statement: string | {
      readonly text: string;
      readonly values?: readonly unknown[];
      readonly name?: string;
    },
  ): Promise<QueryResult>;
  end(): Promise<void>;
  /** `error`: the connection broke; `end`: it is closed. */
  on(event: "error" | "end", listener: () => void): this;
  /** Like `on`, for the next event only. */
  once(event: "error" | "end", listener: () => void): this;
}

/** A connection borrowed from a pool. */
export interface PoolClient extends Client {
  /** Returns the connection to the pool; true: closes it instead. */
  release(spent?: boolean): void;
}

export class Pool {
  /** Creates a pool without connections. */
  constructor(config: PoolConfig);
  readonly idleCount: number;
  /** Options of future connections. */
  readonly options: {
    /** TLS options; false: no TLS. */
    ssl?: false | ConnectionOptions;
    host?: string | undefined;
    port?: number | undefined;
  };
  connect(): Promise<PoolClient>;
  end(): Promise<void>;
  /** `connect`: a connection was made. `error`: an idle one broke. */
  on(event: "connect", listener: (client: PoolClient) => void): this;
  /** See the overload above. */
  on(event: "error", listener: () => void): this;
}

/** An error reported by the server. */
export class DatabaseError extends Error {
  /** SQLSTATE. */
  readonly code: string | undefined;
  /** The function of the server's source that reported it. */
  readonly routine: string | undefined;
}

/** The module's default export. */
declare const pg: {
  /** See {@linkcode Client}. */
  readonly Client: typeof Client;
  readonly Pool: typeof Pool;
  readonly DatabaseError: typeof DatabaseError;
  /** The default parsers of column values. */
  readonly types: NonNullable<ClientConfig["types"]>;
};
export default pg;
