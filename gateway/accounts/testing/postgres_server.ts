/**
 * A private Postgres server that a test may kill, freeze and restart, and a PgBouncer in
 * front of it. Uses Debian's packages; tests skip if they are not installed.
 */
import { connect } from "node:net";
import { freePort } from "./free_port.ts";

/** A server. Disposing of it stops it and removes its files. */
export interface PostgresServer extends AsyncDisposable {
  /** Address of its database, as for `DATABASE_URL`. */
  readonly url: string;
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Stops it without a shutdown, like a crash (`pg_ctl -m immediate stop`). */
  crash(): Promise<void>;
  /** Kills all of its processes, like a machine that is switched off. */
  kill(): void;
  /** Starts it again. Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Starts a standby for whose confirmation each commit of this server waits. */
  startStandby(): Promise<PostgresServer>;
  /** Makes a standby the primary. Resolves when it accepts writes. */
  promote(): Promise<void>;
  /** Sends SIGSTOP to all of its processes: connections stay open, but nothing answers. */
  freeze(): void;
  /** Sends SIGCONT to all of its processes. */
  thaw(): void;
  /** Restores a dump of its database, made as documented, into another one; returns its address. */
  restoreDump(database: string): Promise<string>;
  /** Runs SQL in a new session and returns its output, without headers. */
  run(sql: string): Promise<string>;
}

/** A connection pooler in transaction mode. Disposing of it stops it. */
interface Pooler extends AsyncDisposable {
  /** Address of the server's database through the pooler. */
  readonly url: string;
}

/** Folder of the newest installed PostgreSQL, or undefined. */
export const POSTGRES_PROGRAMS: string | undefined = newestPrograms();

/** Path of PgBouncer, or undefined. */
export const PGBOUNCER: string | undefined = programAt("/usr/sbin/pgbouncer");

function newestPrograms(): string | undefined {
  try {
    const [newest] = [...Deno.readDirSync("/usr/lib/postgresql")]
      .map(({ name }) => Number(name))
      .toSorted((a, b) => b - a);
    return programAt(`/usr/lib/postgresql/${newest}/bin`);
  } catch {
    return undefined;
  }
}

function programAt(path: string): string | undefined {
  try {
    Deno.statSync(path);
    return path;
  } catch {
    return undefined;
  }
}

/** PostgreSQL refuses to run as root: as root, run it as the user postgres. */
function asPostgres(command: readonly string[]): Deno.Command {
  const root = "setpriv --reuid=postgres --regid=postgres --init-groups";
  const [program = "", ...args] = [
    ...(Deno.uid() === 0 ? root.split(" ") : []),
    ...command,
  ];
  return new Deno.Command(program, {
    args,
    cwd: "/",
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

async function done(command: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await asPostgres(command).output();
  const text = new TextDecoder().decode(stdout);
  if (success) return text;
  throw new Error(
    `${command.join(" ")}: ${text}${new TextDecoder().decode(stderr)}`,
  );
}

/** Starts an empty server with its data in a temporary folder. */
export function startPostgresServer(): Promise<PostgresServer> {
  return startServer((programs, data) =>
    `${programs}/initdb -D ${data} -A trust -U postgres --no-sync`.split(" ")
  );
}

/** The name by which a primary knows its standby. */
const STANDBY = "standby";

/** Starts a server on the data that a command makes. */
async function startServer(
  making: (programs: string, data: string) => readonly string[],
): Promise<PostgresServer> {
  const programs = POSTGRES_PROGRAMS;
  if (programs === undefined) throw new Error("PostgreSQL is not installed");
  const folder = (await done(["mktemp", "-d"])).trim();
  const data = `${folder}/data`;
  const port = Number(freePort());
  await done(making(programs, data));
  const control = (...args: string[]): Promise<string> =>
    done([`${programs}/pg_ctl`, "-D", data, "-w", "-t", "30", ...args]);
  const start = async (): Promise<void> => {
    const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1`;
    await control("-l", `${folder}/log`, "-o", options, "start");
  };
  const crash = async (): Promise<void> => {
    await control("-m", "immediate", "stop");
  };
  const signal = (name: Deno.Signal): void => {
    for (const pid of processes(data)) {
      try {
        Deno.kill(pid, name);
      } catch {
        // The process has just ended.
      }
    }
  };
  const at = `-h ${folder} -p ${port} -U postgres`.split(" ");
  const run = (sql: string): Promise<string> =>
    done([`${programs}/psql`, "-XAtq", ...at, "-c", sql]);
  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    start,
    crash,
    kill: () => signal("SIGKILL"),
    async startStandby() {
      const standby = await startServer((programs, copy) => [
        ...`${programs}/pg_basebackup -D ${copy} -R -c fast --no-sync -d`
          .split(" "),
        `host=127.0.0.1 port=${port} user=postgres application_name=${STANDBY}`,
      ]);
      await run(`ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
      await run("SELECT pg_reload_conf()");
      while (
        (await run("SELECT sync_state FROM pg_stat_replication")).trim() !==
          "sync"
      ) await new Promise((resolve) => setTimeout(resolve, 20));
      return standby;
    },
    async restoreDump(database) {
      const dump = `${folder}/dump`;
      const what = ["-Fc", "-f", dump, "postgres"];
      await done([`${programs}/pg_dump`, ...at, ...what]);
      await run(`CREATE DATABASE ${database}`);
      const into = ["--exit-on-error", "-d", database, dump];
      await done([`${programs}/pg_restore`, ...at, ...into]);
      return `postgres://postgres@127.0.0.1:${port}/${database}`;
    },
    promote: async () => void await control("promote"),
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    run,
    async [Symbol.asyncDispose]() {
      signal("SIGCONT");
      await crash().catch(() => {});
      await done(["rm", "-rf", folder]);
    },
  };
}

/** Resolves when a standby has replayed what its primary has written so far, such as its tables. */
export async function replayed(
  primary: PostgresServer,
  standby: PostgresServer,
): Promise<void> {
  const end = (await primary.run("SELECT pg_current_wal_lsn()")).trim();
  const isBehind = `SELECT pg_last_wal_replay_lsn() < '${end}'`;
  while ((await standby.run(isBehind)).trim() !== "f") {
    // Starting psql takes longer than a pause would.
  }
}

/** Starts PgBouncer in transaction mode in front of a server, as the README advises. */
export async function startPooler(server: PostgresServer): Promise<Pooler> {
  if (PGBOUNCER === undefined) throw new Error("PgBouncer is not installed");
  const folder = (await done(["mktemp", "-d"])).trim();
  const port = Number(freePort());
  const settings = `[databases]
* = host=127.0.0.1 port=${server.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
server_login_retry = 1
`;
  await done(["sh", "-c", `printf %s '${settings}' >${folder}/pooler.ini`]);
  const child = asPostgres([PGBOUNCER, "-q", `${folder}/pooler.ini`]);
  const process = child.spawn();
  const reading = Promise.all([
    process.stdout.pipeTo(new WritableStream()),
    process.stderr.pipeTo(new WritableStream()),
  ]);
  while (!await listens(port)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async [Symbol.asyncDispose]() {
      process.kill("SIGKILL");
      await process.status;
      await reading;
      await done(["rm", "-rf", folder]);
    },
  };
}

/** Ids of the server's main process and its children. */
function processes(data: string): readonly number[] {
  try {
    const [first] = Deno.readTextFileSync(`${data}/postmaster.pid`).split("\n");
    const children = Deno.readTextFileSync(
      `/proc/${first}/task/${first}/children`,
    );
    // The main process first: once frozen, it starts no more children.
    return [Number(first), ...children.trim().split(" ").map(Number)];
  } catch {
    return [];
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
