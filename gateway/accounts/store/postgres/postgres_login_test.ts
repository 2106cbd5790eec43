import assert from "node:assert/strict";
import { onServer } from "../../testing/stores.ts";
import { openPostgresStore } from "./postgres.ts";

const serverUrl = Deno.env.get("TEST_POSTGRES_URL");

Deno.test({
  name: "another user of the address is that of new connections",
  ignore: serverUrl === undefined,
  async fn() {
    assert.ok(serverUrl !== undefined);
    const users = ["gateway_first", "gateway_second"] as const;
    const [first, second] = users.map((user) => {
      const url = new URL(serverUrl);
      url.username = user;
      return url.href;
    });
    assert.ok(first !== undefined && second !== undefined);
    await onServer(
      serverUrl,
      ...users.flatMap((user) => [
        `DROP ROLE IF EXISTS ${user}`,
        `CREATE ROLE ${user} LOGIN`,
      ]),
    );
    const store = openPostgresStore(first);
    try {
      const user = async (): Promise<unknown> =>
        (await store.read("SELECT current_user AS name"))[0]?.["name"];
      assert.equal(await user(), users[0]);
      store.setLogin?.(second);
      assert.equal(await user(), users[0]);
      await onServer(
        serverUrl,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${
          users[0]
        }'`,
      );
      while (await user().catch(() => undefined) === undefined) {
        // The pool has not noticed yet, or pauses.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assert.equal(await user(), users[1]);
      assert.equal(
        (await store.report("SELECT current_user AS name"))[0]?.["name"],
        users[1],
      );
    } finally {
      await store.close();
      await onServer(serverUrl, ...users.map((user) => `DROP ROLE ${user}`));
    }
  },
});
