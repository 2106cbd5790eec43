/** Reports from a read replica: their lag is shown, and calls do not depend on it. */
import assert from "node:assert/strict";
import {
  POSTGRES_PROGRAMS,
  replayed,
  startPostgresServer,
} from "../../gateway/accounts/testing/postgres_server.ts";
import { visit } from "../support/console/visitor.ts";
import { startProgram } from "../support/programs/program.ts";
import { until } from "../support/until.ts";
import { withTimeout } from "../support/with_timeout.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { bearer } from "../support/clients/bearer.ts";
import { statusOf } from "../support/status_of.ts";

const KEY = "sk-0123456789abcdefghij";
const ADMIN_TOKEN = "0123456789abcdef";

Deno.test({
  name:
    "reports are read from the replica with its lag, and without it calls go on",
  ignore: POSTGRES_PROGRAMS === undefined,
  async fn() {
    await using primary = await startPostgresServer();
    await using standby = await primary.startStandby();
    // The standby may be away without holding up commits.
    await primary.run("ALTER SYSTEM RESET synchronous_standby_names");
    await primary.run("SELECT pg_reload_conf()");
    await using folder = await temporaryFolder();
    await using program = await startProgram({
      folder: folder.path,
      env: {
        DATABASE_URL: primary.url,
        DATABASE_READ_URL: standby.url,
        GATEWAY_KEY: KEY,
        GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
        GATEWAY_UPSTREAM: "replay",
      },
    });
    await replayed(primary, standby);
    const get = (path: string, token: string): Promise<Response> =>
      fetch(program.url + path, bearer(token));
    const call = async (): Promise<number> => {
      const response = await program.call(KEY);
      await response.body?.cancel();
      return response.status;
    };
    /** Calls in a report, and its lag. */
    const report = async (): Promise<readonly [number, string | null]> => {
      const response = await get("/v1/usage", KEY);
      assert.equal(response.status, 200);
      const { totals } = await response.json();
      return [totals.requests, response.headers.get("x-gateway-report-lag")];
    };
    assert.equal(await call(), 200);
    await withTimeout(
      until(async () => {
        const [calls, lag] = await report();
        return calls === 1 && Number(lag ?? "9") < 1;
      }),
      "the call in a report",
    );

    const before = await get("/admin/v1/ledger", ADMIN_TOKEN);
    assert.equal((await before.json()).data.length, 1);

    // A replica that applies nothing more: figures stay, and their age grows.
    await standby.run("SELECT pg_wal_replay_pause()");
    assert.equal(await call(), 200);
    await withTimeout(
      until(async () => Number((await report())[1]) >= 1),
      "a lag",
    );
    assert.equal((await report())[0], 1);
    const ready = await (await get("/readyz?verbose", ADMIN_TOKEN)).json();
    assert.ok(ready.read_replica.lag_seconds >= 1);
    const metrics = await (await get("/metrics", ADMIN_TOKEN)).text();
    assert.match(metrics, /^gateway_read_replica_lag_seconds [1-9]/m);
    assert.match(metrics, /^gateway_read_replica_up 1$/m);
    const operator = await visit(program.url, "operator", ADMIN_TOKEN);
    const page = await operator.get("/console/operator/ledger");
    assert.match(await page.text(), /Figures: [1-9]\S* s behind/);
    const listed = await get("/admin/v1/ledger", ADMIN_TOKEN);
    assert.ok(Number(listed.headers.get("x-gateway-report-lag")) >= 1);
    assert.equal((await listed.json()).data.length, 1);
    await standby.run("SELECT pg_wal_replay_resume()");
    await withTimeout(
      until(async () => (await report())[0] === 2),
      "the second call in a report",
    );

    standby.kill();
    await withTimeout(
      program.printed(/"read_replica_down"/),
      "the loss of the replica",
    );
    // A busy machine may have lost it before, for a moment.
    await withTimeout(
      until(async () =>
        /^gateway_read_replica_up 0$/m.test(
          await (await get("/metrics", ADMIN_TOKEN)).text(),
        )
      ),
      "the loss of the replica in the metrics",
    );
    assert.equal(await statusOf(get("/v1/usage", KEY)), 503);
    assert.equal(await call(), 200);
    assert.equal(await statusOf(get("/readyz", ADMIN_TOKEN)), 200);
  },
});
