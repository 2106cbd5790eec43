/**
 * A small connection pool for Postgres; a connection that failed is not reused. While the
 * server is away, one connection attempt runs at a time, with pauses, and other calls are
 * refused at once: one attempt per refused call would flood the server, and on Deno 2.7.13
 * to 2.9.0 every closed connection leaks some memory.
 */
import { compact } from "../../../../translate/bytes/compact.ts";
import { createHash } from "node:crypto";
import process from "node:process";
import { TLSSocket } from "node:tls";
// @ts-types="./pg_driver.d.ts"
import pg from "pg";
import type { CertificateEnds } from "../../../certificate_ends.ts";
import type { ClientConfig, PoolClient } from "./pg_driver.d.ts";
import type { PostgresAddress } from "./postgres_address.ts";
import { HostChoice, type PostgresHost } from "./postgres_hosts.ts";
import {
  READ_ONLY,
  type SqlRow,
  type SqlValue,
  UNREACHABLE,
} from "../store.ts";

/** What Postgres answers to a statement. */
export interface StatementResult {
  readonly rows: readonly SqlRow[];
  /** First word of the command tag, such as `SELECT` or `COMMIT`. */
  readonly command: string;
}

/**
 * Runs a statement on a borrowed connection. Statements started in the same turn share one
 * round trip.
 */
export type Query = (
  text: string,
  values?: readonly SqlValue[],
) => Promise<StatementResult>;

export interface PostgresPool {
  /**
   * Lends a connection to `use`, for at most the deadline. After a failed query it is
   * closed, and the server rolls back what was not committed. `use` runs a second time if
   * prepared statements turn out not to be supported by a pooler.
   */
  lend<T>(use: (query: Query) => Promise<T>): Promise<T>;
  /** Makes new connections with another user and password; those that are open stay. */
  setLogin(login: Pick<PostgresAddress, "user" | "password">): void;
  /** Closes all connections, after the queries under way. */
  close(): Promise<void>;
}

const CONNECT_MS = 3000;
const KEEP_ALIVE_MS = 30_000;
const MAX_AGE_SECONDS = 3600;
const FIRST_PAUSE_MS = 25;
const MAX_PAUSE_MS = 500;
/** The id of the type, whose values the driver gives as text unless it has a parser. */
const INT8 = 20;
const NO_ANSWER = "no answer in time";

/**
 * On Deno 2.7.13 to 2.9.0 a closed socket is never garbage-collected; removing its
 * listeners frees what they refer to.
 */
class Client extends pg.Client {
  constructor(config?: ClientConfig) {
    super(config);
    this.once("end", () => {
      const { connection } = this;
      connection.removeAllListeners();
      connection.stream.removeAllListeners();
      connection.stream.on("error", () => {});
    });
  }
}

/** A client whose login is bound to the server's certificate, or fails. */
class BoundClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    let isBound = false;
    this.connection.on("authenticationSASL", ({ mechanisms }) => {
      isBound = mechanisms.includes("SCRAM-SHA-256-PLUS");
    });
    this.connection.on("authenticationOk", () => {
      if (isBound) return;
      this.connection.stream.destroy(
        new Error("the server offers no login for channel_binding=require"),
      );
    });
  }
}

/** Creates a pool; connections are made when first needed. `ends` receives the certificates. */
export function openPostgresPool(
  address: PostgresAddress,
  deadlineMs: number,
  maxConnections: number,
  ends?: CertificateEnds,
): PostgresPool {
  const { allowsPlaintext, host, port, others = [] } = address;
  const { user, password, database, ssl, options } = address;
  const servers = [compact({ host, port }), ...others];
  const choice = new HostChoice(servers, address.target);
  const connectMs = address.connectMs === 0
    ? deadlineMs
    : address.connectMs ?? CONNECT_MS;
  const pool = new pg.Pool({
    ...compact({ user, password, database, ssl, options }),
    Client: address.channelBinding === "require" ? BoundClient : Client,
    enableChannelBinding: address.channelBinding === "require",
    application_name: address.applicationName ?? "gateway",
    max: maxConnections,
    pipeline: true,
    // A server that does not answer leaves time for the next.
    connectionTimeoutMillis: Math.min(connectMs, deadlineMs / servers.length),
    keepAlive: address.keepAlive ?? true,
    keepAliveInitialDelayMillis: address.keepAliveIdleMs ?? KEEP_ALIVE_MS,
    // Idle connections are kept: they are few, and closing one costs more than keeping it.
    idleTimeoutMillis: 0,
    maxLifetimeSeconds: MAX_AGE_SECONDS,
    types: {
      getTypeParser: (oid, format) =>
        oid === INT8 ? Number : pg.types.getTypeParser(oid, format),
    },
  });
  // The pool removes an idle connection that breaks. One in use fails its queries; the
  // error is handled there.
  pool.on("error", () => {});
  const open = new Set<Promise<void>>();
  pool.on("connect", (client) => {
    const { stream } = client.connection;
    ends?.note(
      `${client.host}:${client.port}`,
      stream instanceof TLSSocket ? stream.getPeerCertificate().valid_to : "",
    );
    client.on("error", () => {});
    const ended = new Promise<void>((resolve) => client.once("end", resolve));
    open.add(ended);
    void ended.then(() => open.delete(ended));
  });
  // The pool's own end does not wait until the sockets are closed.
  const end = async (): Promise<void> => {
    await pool.end();
    await Promise.all(open);
  };

  const slots = openSlots(maxConnections);
  let outage: { pauseMs: number; untilMs: number; cause: unknown } | undefined;
  let probing = false;
  const noteFailure = (cause: unknown): void => {
    const nowMs = performance.now();
    // Simultaneous failures count as one.
    if (outage !== undefined && nowMs < outage.untilMs) return;
    const pauseMs = Math.min(
      MAX_PAUSE_MS,
      (outage?.pauseMs ?? FIRST_PAUSE_MS) * 2,
    );
    outage = { pauseMs, untilMs: nowMs + pauseMs, cause };
  };

  const connectTo = async (
    { host, port }: PostgresHost,
  ): Promise<PoolClient> => {
    // The pool reads them at once.
    Object.assign(pool.options, { host, port });
    try {
      return await pool.connect();
    } catch (error) {
      if (!allowsPlaintext || !isWithoutTls(error)) throw error;
      Object.assign(pool.options, { host, port, ssl: false });
      return await pool.connect();
    }
  };

  let prepares = address.prepare;
  const names = new Map<string, string>();
  /** How often the tables have changed, so that statements of before are not used again. */
  let changes = 0;
  /** Derived from the text: behind a pooler another process may have prepared the same name. */
  const nameOf = (text: string): { readonly name?: string } => {
    if (!prepares) return {};
    let name = names.get(text);
    if (name === undefined) {
      name = createHash("sha256").update(`${changes}${text}`).digest(
        "base64url",
      );
      names.set(text, name);
    }
    return { name };
  };

  /** Holds a slot: gets a connection, uses it, and returns or closes it. */
  const use = async <T>(
    endMs: number,
    work: (query: Query) => Promise<T>,
  ): Promise<T> => {
    let client: PoolClient;
    try {
      client = await withDeadline(endMs, choice.connect(connectTo), (late) => {
        late.then((one) => one.release(), () => {});
      });
    } catch (error) {
      noteFailure(error);
      throw unreachable(error);
    }
    let failure: { readonly error: unknown } | undefined;
    const { stream } = client.connection;
    let isCorked = false;
    const query: Query = async (text, values) => {
      if (!isCorked) {
        isCorked = true;
        stream.cork();
        // Later than the promises of this turn, which may start further statements.
        process.nextTick(() => {
          isCorked = false;
          stream.uncork();
        });
      }
      try {
        return await client.query({
          text,
          ...(values !== undefined && { values: [...values], ...nameOf(text) }),
        });
      } catch (error) {
        failure ??= { error };
        throw error;
      }
    };
    const close = (): void => {
      client.connection.stream.destroy();
    };
    try {
      return await withDeadline(endMs, work(query), () => {
        failure ??= { error: NO_ANSWER };
        close();
      });
    } catch (error) {
      // Statements that were sent together: the first that failed has the reason.
      throw codeOf(error) === IN_FAILED_TRANSACTION
        ? failure?.error ?? error
        : error;
    } finally {
      if (failure === undefined) {
        outage = undefined;
        client.release();
      } else {
        if (!isOfStatement(failure.error)) noteFailure(failure.error);
        close();
        client.release(true);
      }
    }
  };

  const lend: PostgresPool["lend"] = async (work) => {
    const endMs = performance.now() + deadlineMs;
    await withDeadline(endMs, slots.take(), (late) => {
      late.then(slots.give);
    });
    const probes = outage !== undefined && pool.idleCount === 0;
    try {
      if (
        outage !== undefined && probes &&
        (probing || performance.now() < outage.untilMs)
      ) throw unreachable(outage.cause);
      if (probes) probing = true;
      try {
        return await use(endMs, work);
      } finally {
        if (probes) probing = false;
      }
    } finally {
      slots.give();
    }
  };

  return {
    async lend(work) {
      const prepared = prepares;
      try {
        return await lend(work);
      } catch (error) {
        if (prepared && UNPREPARED.has(codeOf(error))) prepares = false;
        else if (isOfChangedTable(error)) {
          changes++;
          names.clear();
        } else throw error;
        // The transaction of the failed statement was rolled back.
        return await lend(work);
      }
    },
    setLogin: ({ user, password }) => {
      Object.assign(pool.options, { user, password });
    },
    close: () =>
      withDeadline(performance.now() + deadlineMs, end(), () => {}).catch(
        () => {},
      ),
  };
}

/**
 * Rejects at `endMs`: a network that drops packets reports no error. `onLate` receives the
 * work, which may still end.
 */
async function withDeadline<T>(
  endMs: number,
  work: Promise<T>,
  onLate: (work: Promise<T>) => void,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    onLate(work);
    late.reject(unreachable(NO_ANSWER));
  }, Math.max(0, endMs - performance.now()));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

interface Slots {
  take(): Promise<void>;
  give(): void;
}

/**
 * A semaphore in first-come order. The pool's own queue would try to connect for each
 * waiting call.
 */
function openSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    take() {
      if (free === 0) return new Promise((resolve) => waiting.push(resolve));
      free--;
      return Promise.resolve();
    },
    give() {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    },
  };
}

function unreachable(cause: unknown): Error {
  if (cause instanceof Error && cause.message.startsWith(UNREACHABLE)) {
    return cause;
  }
  return new Error(`${UNREACHABLE}: ${reason(cause)}`, { cause });
}

/** If every address of a host refused, the error has no message of its own. */
function reason(cause: unknown): string {
  if (typeof cause === "string") return cause;
  if (!(cause instanceof Error)) return "unknown reason";
  const [, parameter] =
    /^unrecognized configuration parameter "(.+)"$/.exec(cause.message) ?? [];
  if (parameter !== undefined) {
    return `the address has a parameter ${parameter} that is none of the gateway, of libpq or of the server`;
  }
  if (cause.message !== "") return cause.message;
  return "code" in cause ? String(cause.code) : cause.name;
}

/**
 * SQLSTATE classes that concern the connection or server: connection, transaction timeouts,
 * resources, operator intervention, system. A server that has become a standby accepts no writes:
 * its connections are closed until another server, or the same one, does.
 */
const OF_CONNECTION = new RegExp(`^(08|${READ_ONLY}|25P|53|57P|58|XX)`);

/** Whether the server refused the statement and the connection remains usable. */
function isOfStatement(error: unknown): boolean {
  return error instanceof pg.DatabaseError &&
    !OF_CONNECTION.test(error.code ?? "08");
}

/**
 * SQLSTATE of an unknown or duplicate prepared statement: a pooler gave the session to another
 * client in between.
 */
const UNPREPARED: ReadonlySet<string> = new Set(["26000", "42P05"]);

/** SQLSTATE of a statement after one that failed. */
const IN_FAILED_TRANSACTION = "25P02";

/** The SQLSTATE; empty if the error is not the server's. */
function codeOf(error: unknown): string {
  return error instanceof pg.DatabaseError ? error.code ?? "" : "";
}

/**
 * A prepared `SELECT *`, after another program has added a column. Its SQLSTATE has other reasons,
 * too, and its message is in the server's language, so it is known by the server's routine:
 * PostgreSQL, src/backend/utils/cache/plancache.c.
 */
function isOfChangedTable(error: unknown): boolean {
  return error instanceof pg.DatabaseError &&
    error.routine === "RevalidateCachedQuery";
}

function isWithoutTls(error: unknown): boolean {
  return error instanceof Error &&
    error.message.includes("does not support SSL");
}
