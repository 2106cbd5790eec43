import assert from "node:assert/strict";
import { accountsSpec } from "../../specs/accounts_spec.ts";
import { backfillSpec } from "../../specs/backfill_spec.ts";
import { callBookSpec } from "../../specs/call_book_spec.ts";
import { clockSpec } from "../../specs/clock_spec.ts";
import { cutProcesses } from "../../testing/cut_processes.ts";
import { lateSettlementSpec } from "../../specs/late_settlement_spec.ts";
import { processesSpec } from "../../specs/processes_spec.ts";
import { storeSpec } from "../../specs/store_spec.ts";
import { openAdmin } from "../../repositories/admin.ts";
import { openStore } from "../open_store.ts";
import { openPostgresStore } from "./postgres.ts";
import { isSealed, type SecretSeal, textSeal } from "../secret_seal.ts";
import { type Store, textOf } from "../store.ts";
import { claimMessages } from "../../rows/webhook_rows.ts";
import { severalProcesses } from "../../testing/several_processes.ts";
import { startCutProxy } from "../../testing/cut_proxy.ts";
import {
  createTestCaller,
  expectRefusal,
  openTestAccounts,
  settleWhole,
  testCall,
  testClock,
} from "../../testing/open_test_accounts.ts";
import {
  POSTGRES_PROGRAMS,
  startPostgresServer,
} from "../../testing/postgres_server.ts";
import { onServer, postgresAt } from "../../testing/stores.ts";
import { compact } from "../../../../translate/bytes/compact.ts";

const serverUrl = Deno.env.get("TEST_POSTGRES_URL");

if (serverUrl === undefined) {
  Deno.test.ignore(
    "postgres: SKIPPED, because TEST_POSTGRES_URL names no server",
    () => {},
  );
} else {
  const POSTGRES = postgresAt(serverUrl);
  storeSpec(POSTGRES);
  accountsSpec(POSTGRES);
  processesSpec(POSTGRES);
  backfillSpec(POSTGRES);
  callBookSpec(POSTGRES);
  clockSpec(POSTGRES);
  lateSettlementSpec(POSTGRES);

  Deno.test("secrets of webhooks are sealed with the key of the setting, those of older versions at the next start", async () => {
    await using database = await POSTGRES.createDatabase();
    const key = "a-random-text-of-thirty-two-characters";
    const within = async <T>(
      secrets: SecretSeal | undefined,
      work: (store: Store) => Promise<T>,
    ): Promise<T> => {
      await using store = await database.open(compact({ secrets }));
      return await work(store);
    };
    const stored = async (store: Store): Promise<string> =>
      textOf(
        (await store.read("SELECT secret FROM webhooks"))[0] ?? {},
        "secret",
      );
    /** The secret with which the next message is signed. */
    const used = async (store: Store): Promise<string | undefined> => {
      const admin = await openAdmin(store, () => true);
      await admin.webhooks.test("a");
      const nowMs = Date.now() + 1_000;
      const [message] = await claimMessages(store, nowMs, [0], [], 1);
      return message?.secret;
    };
    const secret = await within(undefined, async (store) => {
      const admin = await openAdmin(store, () => true);
      await admin.plans.create({ id: "p" });
      await admin.accounts.create({ id: "a", planId: "p" });
      const set = await admin.webhooks.set("a", "https://h.example/");
      assert.equal(await stored(store), set.secret);
      return set.secret;
    });
    await within(textSeal(key), async (store) => {
      assert.ok(isSealed(await stored(store)));
      assert.equal(await used(store), secret);
    });
    // Another process on the store, with the same key and with another one.
    assert.equal(await within(textSeal(key), used), secret);
    assert.equal(await within(textSeal(`${key}x`), used), undefined);
    assert.equal(await within(undefined, used), undefined);
  });

  Deno.test("a report's statement ends at its limit, and the store goes on", async () => {
    await using database = await POSTGRES.createDatabase();
    await using store = await database.open({ reportMs: 300 });
    await assert.rejects(
      store.report("SELECT pg_sleep(4)"),
      /statement timeout/,
    );
    assert.equal((await store.report("SELECT 1 AS one"))[0]?.["one"], 1);
  });

  Deno.test("a COMMIT whose answer is lost: the call is settled once, and a refused call reserves nothing", async () => {
    await using database = await POSTGRES.createDatabase();
    await using proxy = startCutProxy(database.url);
    const clock = testClock();
    const store = await openStore(proxy.url);
    await using opened = await openTestAccounts(store, clock, {
      timer: () => () => {},
    });
    const { caller, accountId } = await createTestCaller(opened, {
      balanceMicroUsd: 1000,
    });
    const { accounts, admin, flush } = opened;
    const afterOutage = async (): Promise<void> => {
      do {
        clock.ms += 10_000;
        await flush();
      } while (accounts.backlog() > 0);
    };

    const decision = accounts.reserve(caller, testCall());
    await flush();
    const reservation = await decision;
    settleWhole(reservation, 10, 10);
    proxy.loseNextCommit();
    await flush();
    assert.equal(accounts.backlog(), 1);
    await afterOutage();
    assert.equal((await admin.accounts.get(accountId)).balanceMicroUsd, 970);

    proxy.loseNextCommit();
    const refused = expectRefusal(accounts, caller, { status: 503 });
    await flush();
    await refused;
    await afterOutage();
    const account = await admin.accounts.get(accountId);
    assert.equal(account.balanceMicroUsd, 970);
    assert.deepEqual([account.reservedMicroUsd, account.openRequests], [0, 0]);
    const { data } = await admin.ledger({ accountId, kind: "charge" });
    assert.deepEqual(data.map(({ microUsd }) => microUsd), [-30]);
    assert.deepEqual(await admin.audit(), []);
  });
}

if (POSTGRES_PROGRAMS === undefined) {
  Deno.test.ignore(
    "postgres that goes away: SKIPPED, because PostgreSQL is not installed",
    () => {},
  );
} else {
  /** Raise it for a longer run by hand. */
  const cuts = Number(Deno.env.get("ONE_SIDED_CUTS") ?? 3);

  Deno.test(`postgres: a process that alone loses the store, or is suspended, ${cuts} times: every reply is charged exactly`, async () => {
    await using server = await startPostgresServer();
    await cutProcesses(postgresAt(server.url), cuts);
  });

  /** Raise it for a longer run by hand. */
  const mishaps = Number(Deno.env.get("MISHAPS") ?? 6);

  Deno.test(`postgres: three processes serve the same accounts through ${mishaps} kills, suspensions and crashes of the server: the books balance all the time`, async () => {
    await using server = await startPostgresServer();
    await severalProcesses(server, { processes: 3, accounts: 12, mishaps });
  });

  Deno.test("a server that accepts no writes for a while is an outage, and connections are renewed until it does", async () => {
    await using server = await startPostgresServer();
    await using store = await openStore(server.url);
    const admin = new URL(server.url);
    admin.searchParams.set("options", "-c default_transaction_read_only=off");
    const write = () => store.write((sql) => sql.all("SELECT 1 AS one"));
    await write();
    await onServer(
      admin.href,
      "ALTER DATABASE postgres SET default_transaction_read_only = on",
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
    );
    const create = () =>
      store.write((sql) => sql.all("CREATE TABLE later (id TEXT)"));
    await assert.rejects(create(), /terminat|read-only/);
    for (;;) {
      const error = await create().then(() => "", String);
      assert.notEqual(error, "", "a standby was written to");
      if (/could not reach the store: .*read-only/.test(error)) break;
    }
    await onServer(
      admin.href,
      "ALTER DATABASE postgres RESET default_transaction_read_only",
    );
    await untilAnswered(create, /could not reach the store|read-only/);
  });

  Deno.test("an outage of the server does not expire another process's lease", async () => {
    await using server = await startPostgresServer();
    const clock = { ms: 0 };
    await using store = openPostgresStore(server.url, {
      leaseMs: 1000,
      elapsed: () => clock.ms,
    });
    await store.write((sql) =>
      sql.all("CREATE TABLE owners (id TEXT PRIMARY KEY, beat BIGINT)")
    );
    await store.leases.register("other");
    assert.deepEqual(await store.leases.expired("me"), []);
    clock.ms = 600;
    await server.crash();
    await assert.rejects(store.leases.expired("me"), /could not reach/);
    await server.start();
    assert.deepEqual(
      await untilAnswered(() => store.leases.expired("me")),
      [],
    );
    clock.ms = 1200;
    // Longer than a lease since its last renewal, but not since the outage.
    assert.deepEqual(await store.leases.expired("me"), []);
    clock.ms = 1600;
    assert.deepEqual(await store.leases.expired("me"), ["other"]);
  });
}

/** Repeats until the store answers: after an outage it is retried with pauses. */
async function untilAnswered<T>(
  read: () => Promise<T>,
  outage = /could not reach the store/,
): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      assert.match(String(error), outage);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
