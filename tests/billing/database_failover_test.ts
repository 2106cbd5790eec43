/**
 * Two gateway processes on a Postgres with a synchronous standby, behind an address that moves: the
 * primary is lost, or the standby is reached by mistake.
 */
import assert from "node:assert/strict";
import { startCutProxy } from "../../gateway/accounts/testing/cut_proxy.ts";
import {
  POSTGRES_PROGRAMS,
  startPostgresServer,
} from "../../gateway/accounts/testing/postgres_server.ts";
import { LANES, ledgerStaysExact } from "../support/programs/store_outage.ts";
import { withTimeout } from "../support/with_timeout.ts";

/** From the promotion to a complete reply of each process, in milliseconds. */
const BACK_MS = 5_000;
/** Refusals of each process on the standby: several attempts of each to reach a writer. */
const REFUSALS = 40;

Deno.test({
  name:
    "a standby that is reached by mistake is an outage; the primary is killed and the standby promoted: the ledger stays exact, and service is back within five seconds",
  ignore: POSTGRES_PROGRAMS === undefined,
  async fn() {
    await using primary = await startPostgresServer();
    await using standby = await primary.startStandby();
    await using address = startCutProxy(primary.url);
    await ledgerStaysExact({
      databaseUrl: address.url,
      setUpUrl: primary.url,
      adminUrl: standby.url,
      programs: 2,
    }, async ({ programs, served, refused }) => {
      await withTimeout(served(LANES), "replies");
      address.move(standby.url);
      for (const program of programs) {
        await withTimeout(
          // A write that was under way has lost its connection; the lease is renewed all the time.
          program.printed(/"(?:store_down|recovery_failed)".*read-only/),
          "an outage",
        );
      }
      const ups = (): number =>
        programs.reduce(
          (sum, program) =>
            sum + program.output().split('"store_up"').length - 1,
          0,
        );
      const before = ups();
      await withTimeout(refused(REFUSALS), "refusals");
      for (const { url } of programs) {
        const ready = await fetch(`${url}/readyz`);
        assert.equal(ready.status, 503);
        await ready.body?.cancel();
      }
      assert.equal(ups(), before, "the outage was reported as over");
      address.move(primary.url);
      await withTimeout(served(2 * LANES), "replies");

      const noticed = refused();
      primary.kill();
      await withTimeout(noticed, "a refusal by each process");
      await standby.promote();
      const promotedMs = performance.now();
      address.move(standby.url);
      await withTimeout(served(1), "replies");
      const backMs = performance.now() - promotedMs;
      assert.ok(backMs < BACK_MS, `back after ${backMs} ms`);
      await withTimeout(served(2 * LANES), "replies");
    });
  },
});
