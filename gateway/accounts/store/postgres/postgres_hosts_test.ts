/** Addresses as `psql` takes them, on a primary with a standby. */
import assert from "node:assert/strict";
import {
  POSTGRES_PROGRAMS,
  startPostgresServer,
} from "../../testing/postgres_server.ts";
import { openPostgresStore } from "./postgres.ts";

Deno.test({
  name:
    "an address of several servers leads to one that answers and that its target wants",
  ignore: POSTGRES_PROGRAMS === undefined,
  async fn(t) {
    await using primary = await startPostgresServer();
    await using standby = await primary.startStandby();
    const [first, second] = [primary.port, standby.port];
    const of = async (
      hosts: string,
      search: string,
      text = "SELECT inet_server_port() AS found",
    ): Promise<unknown> => {
      const store = openPostgresStore(
        `postgres://postgres@${hosts}/postgres?${search}`,
      );
      try {
        return (await store.read(text))[0]?.["found"];
      } finally {
        await store.close();
      }
    };
    const both = `127.0.0.1:${second},127.0.0.1:${first}`;
    const rows: readonly (readonly [string, string, number])[] = [
      [both, "", second],
      [both, "target_session_attrs=read-write", first],
      [both, "target_session_attrs=primary", first],
      [both, "target_session_attrs=standby", second],
      [both, "target_session_attrs=read-only", second],
      [`127.0.0.1:${first}`, "target_session_attrs=prefer-standby", first],
      [`127.0.0.1:1,127.0.0.1:${first}`, "connect_timeout=2", first],
      ["", `host=127.0.0.1,127.0.0.1&port=1,${first}`, first],
    ];
    for (const [hosts, search, wanted] of rows) {
      await t.step(`${hosts} ${search}`, async () => {
        assert.equal(await of(hosts, search), wanted);
      });
    }
    await t.step("none that fits", () =>
      assert.rejects(
        of(`127.0.0.1:${first}`, "target_session_attrs=standby"),
        /^Error: could not reach the store: no server of the address is standby$/,
      ));
    await t.step("a name of the sessions", async () => {
      const name = "SELECT current_setting('application_name') AS found";
      assert.equal(await of(both, "", name), "gateway");
      assert.equal(await of(both, "application_name=gw", name), "gw");
    });
    await t.step(
      "an unknown parameter is the address's fault",
      () =>
        assert.rejects(
          of(both, "pgbouncer=true"),
          /the address has a parameter pgbouncer that is none/,
        ),
    );
    await t.step("the standby takes over", async () => {
      const store = openPostgresStore(
        `postgres://postgres@127.0.0.1:${first},127.0.0.1:${second}/postgres?target_session_attrs=read-write`,
      );
      try {
        const port = async (): Promise<unknown> =>
          (await store.read("SELECT inet_server_port() AS port"))[0]?.["port"];
        assert.equal(await port(), first);
        await primary.crash();
        await standby.run("SELECT pg_promote()");
        while (await port().catch(() => undefined) !== second) {
          // The pool pauses after a failure.
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      } finally {
        await store.close();
      }
    });
  },
});
