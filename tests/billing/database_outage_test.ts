/**
 * Two gateway processes on one Postgres that crashes, closes connections or freezes: they keep
 * running, and the ledger stays exact.
 */
import {
  PGBOUNCER,
  POSTGRES_PROGRAMS,
  type PostgresServer,
  startPooler,
  startPostgresServer,
} from "../../gateway/accounts/testing/postgres_server.ts";
import { withTimeout } from "../support/with_timeout.ts";
import {
  LANES,
  ledgerStaysExact,
  type Load,
} from "../support/programs/store_outage.ts";

/** Outages per test; raise it for a longer run by hand. */
const TIMES = Number(Deno.env.get("DATABASE_OUTAGES") ?? 3);

/** Number of replies between two outages: random. */
function someReplies(): number {
  return 1 + Math.floor(Math.random() * 40);
}

const OUTAGES: readonly {
  readonly name: string;
  /** Divisor of the number of outages: each of these lasts until the store's timeout. */
  readonly part: number;
  readonly happens: (server: PostgresServer, load: Load) => Promise<void>;
}[] = [
  {
    name:
      "two processes on a Postgres that crashes and restarts: the ledger stays exact, no process exits",
    part: 1,
    async happens(server, { refused }) {
      const noticed = refused();
      await server.crash();
      await withTimeout(noticed, "a refusal by each process");
      await server.start();
    },
  },
  {
    name:
      "two processes on a Postgres that closes all connections: the ledger stays exact, no process exits",
    part: 1,
    async happens(server) {
      await server.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
      );
    },
  },
  {
    name:
      "two processes on a Postgres that freezes and resumes: the ledger stays exact, no process exits",
    part: 3,
    async happens(server, { refused }) {
      const noticed = refused();
      server.freeze();
      await withTimeout(noticed, "a refusal by each process");
      server.thaw();
    },
  },
];

async function suffer(
  server: PostgresServer,
  load: Load,
  happens: (typeof OUTAGES)[number]["happens"],
  times: number,
): Promise<void> {
  for (let time = 0; time < times; time++) {
    await withTimeout(load.served(someReplies()), "replies");
    await happens(server, load);
  }
  await withTimeout(load.served(2 * LANES), "replies");
}

if (POSTGRES_PROGRAMS === undefined) {
  Deno.test.ignore(
    "two processes and a database outage: SKIPPED, because PostgreSQL is not installed",
    () => {},
  );
} else {
  for (const { name, happens, part } of OUTAGES) {
    Deno.test(name, async () => {
      await using server = await startPostgresServer();
      await ledgerStaysExact(
        { databaseUrl: server.url, programs: 2 },
        (load) => suffer(server, load, happens, TIMES / part),
      );
    });
  }
}

if (POSTGRES_PROGRAMS === undefined || PGBOUNCER === undefined) {
  Deno.test.ignore(
    "two processes behind PgBouncer: SKIPPED, because PgBouncer is not installed",
    () => {},
  );
} else {
  Deno.test("two processes behind PgBouncer in transaction mode, on a Postgres with outages: the ledger stays exact, no process exits", async () => {
    await using server = await startPostgresServer();
    await using pooler = await startPooler(server);
    await ledgerStaysExact(
      { databaseUrl: pooler.url, adminUrl: server.url, programs: 2 },
      async (load) => {
        for (const { happens } of OUTAGES) {
          await suffer(server, load, happens, TIMES / 3);
        }
      },
    );
  });
}
