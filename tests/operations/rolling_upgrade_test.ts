/**
 * Processes of two versions on one store, upgraded one by one under load, and back. The later
 * version is this one with one more migration: see `next_version.ts`.
 */
import assert from "node:assert/strict";
import { openAdmin } from "../../gateway/accounts/repositories/admin.ts";
import { MIGRATIONS } from "../../gateway/accounts/store/migrations.ts";
import {
  postgresAt,
  SQLITE,
  type TestDatabase,
  type TestStore,
} from "../../gateway/accounts/testing/stores.ts";
import { intOf } from "../../gateway/accounts/store/store.ts";
import { ROUTES } from "../../routes/mod.ts";
import { type Program, startProgram } from "../support/programs/program.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { TEST_KEY } from "../support/test_gateway.ts";
import { until } from "../support/until.ts";
import { withTimeout } from "../support/with_timeout.ts";

const ADMIN_TOKEN = "an-operators-token-of-32-characters";
const NEXT = ["tests/support/programs/next_version.ts"];
/** Calls that each process serves before the next step. */
const ENOUGH = 20;

/** What operators can read without an id: of every table. */
const READABLE = ROUTES.flatMap(({ method, path }) =>
  method === "GET" && /^\/admin\/v1\/(?!.*(?::|live))/.test(path) ? [path] : []
);

/** Calls the processes in `serving` in turn, as a load balancer does. */
class Load {
  readonly #served = new Map<Program, number>();
  readonly #underWay = new Map<Program, Set<Promise<void>>>();
  readonly failed: string[] = [];
  calls = 0;
  #ended = false;
  #workers: readonly Promise<void>[] = [];

  readonly serving: Program[];

  constructor(first: Program) {
    this.serving = [first];
    this.#workers = Array.from({ length: 4 }, (_, at) => this.#work(at));
  }

  async #work(at: number): Promise<void> {
    for (let turn = at; !this.#ended; turn++) {
      const program = this.serving[turn % this.serving.length];
      assert.ok(program !== undefined);
      const call = this.#call(program, turn % 2 === 0);
      const calls = this.#underWay.get(program) ?? new Set();
      this.#underWay.set(program, calls.add(call));
      await call;
      calls.delete(call);
    }
  }

  async #call(program: Program, stream: boolean): Promise<void> {
    this.calls++;
    try {
      const response = await program.call(TEST_KEY, {
        model: "vendorb-5",
        stream,
        text: "[[fx:text]]",
      });
      const text = await response.text();
      if (!text.includes(stream ? "message_stop" : "end_turn")) {
        this.failed.push(`${response.status} ${text.slice(0, 200)}`);
      }
    } catch (error) {
      this.failed.push(String(error));
    }
    this.#served.set(program, (this.#served.get(program) ?? 0) + 1);
  }

  /** Resolves once each process has served {@linkcode ENOUGH} calls from now on. */
  async eachServes(): Promise<void> {
    const before = new Map(this.#served);
    await withTimeout(
      until(() =>
        this.failed.length > 0 ||
        this.serving.every((program) =>
          (this.#served.get(program) ?? 0) - (before.get(program) ?? 0) >=
            ENOUGH
        )
      ),
      "calls of each process",
    );
  }

  /** Takes a process out, and stops it while its last calls are under way. */
  async stop(program: Program): Promise<void> {
    this.serving.splice(this.serving.indexOf(program), 1);
    await Promise.all(this.#underWay.get(program) ?? []);
    program.signal("SIGTERM");
    assert.equal(await program.ended, 0, program.output());
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#workers);
  }
}

async function asOperator(
  { url }: Program,
  path: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url + path, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  return { status: response.status, text: await response.text() };
}

/** What of the process operators cannot read. */
async function unreadable(program: Program): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of READABLE) {
    const { status, text } = await asOperator(program, path);
    if (status !== 200) found.push(`${path}: ${text.slice(0, 200)}`);
  }
  return found;
}

async function assertExact(
  database: TestDatabase,
  calls: number,
): Promise<void> {
  await using store = await database.open();
  const admin = await openAdmin(store, () => true);
  assert.deepEqual(await admin.audit(), []);
  const [row] = await store.read(
    "SELECT CAST(COUNT(*) AS BIGINT) AS charges, (SELECT CAST(COUNT(*) AS BIGINT) FROM open_calls) AS open " +
      "FROM ledger WHERE kind = 'charge' AND estimated = 0 AND ended = 'complete'",
  );
  assert.equal(intOf(row ?? {}, "charges"), calls);
  assert.equal(intOf(row ?? {}, "open"), 0);
}

function rollingUpgradeTest(kind: TestStore): void {
  Deno.test(`${kind.name}: processes are upgraded one by one and back under load: no call fails, and each is charged once`, async () => {
    await using database = await kind.createDatabase();
    await using folder = await temporaryFolder();
    await using started = new AsyncDisposableStack();
    const start = async (command?: readonly string[]): Promise<Program> =>
      started.use(
        await startProgram({
          folder: folder.path,
          ...(command === undefined ? {} : { command }),
          env: {
            DATABASE_URL: database.url,
            GATEWAY_KEY: TEST_KEY,
            GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
            GATEWAY_UPSTREAM: "replay",
          },
        }),
      );
    const old = await start();
    const load = new Load(old);
    try {
      await load.eachServes();
      assert.deepEqual(await unreadable(old), []);
      const next = await start(NEXT);
      load.serving.push(next);
      await load.eachServes();
      assert.deepEqual(await unreadable(old), []);
      await load.stop(old);
      await load.eachServes();
      assert.deepEqual(await unreadable(next), []);
      // Back: a start with the program before, and no backup.
      const again = await start();
      load.serving.push(again);
      await load.eachServes();
      await load.stop(next);
      await load.eachServes();
      assert.deepEqual(await unreadable(again), []);
      const program = MIGRATIONS.length;
      assert.match(
        again.output(),
        new RegExp(
          `"level":"warn","type":"store_newer","stored":${
            program + 1
          },"program":${program}`,
        ),
      );
      assert.match(
        (await asOperator(again, "/readyz?verbose")).text,
        new RegExp(
          `"store_schema":{"stored":${program + 1},"program":${program}}`,
        ),
      );
      assert.match(
        (await asOperator(again, "/metrics")).text,
        /^gateway_store_schema_ahead 1$/m,
      );
      await load.end();
      await load.stop(again);
    } finally {
      await load.end();
    }
    assert.deepEqual(load.failed, []);
    await assertExact(database, load.calls);
  });
}

rollingUpgradeTest(SQLITE);

const serverUrl = Deno.env.get("TEST_POSTGRES_URL");
if (serverUrl === undefined) {
  Deno.test.ignore(
    "postgres: a rolling upgrade: SKIPPED, because TEST_POSTGRES_URL names no server",
    () => {},
  );
} else rollingUpgradeTest(postgresAt(serverUrl));
