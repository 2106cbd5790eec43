import assert from "node:assert/strict";
import { openStore } from "../store/open_store.ts";
import type { Sql, Store } from "../store/store.ts";
import { insertMessages } from "../rows/webhook_rows.ts";
import {
  type Deliveries,
  RETRY_PAUSES_MS,
  startDeliveries,
} from "./deliveries.ts";
import { postWebhook } from "./post_webhook.ts";
import { newWebhookSecret } from "./signature.ts";
import { serveLoopback } from "../../../tests/support/serve_loopback.ts";
import { readingAdmin } from "../testing/reading_admin.ts";

const URL_WITH_SECRET = "http://127.0.0.1:1/hook-secret-path";

/** Adds an account with a webhook and a message. */
async function addAccount(
  sql: Sql,
  accountId: string,
  id: string,
  atMs: number,
  url = URL_WITH_SECRET,
): Promise<void> {
  await sql.all(
    "INSERT INTO accounts (id, name, status, billing, plan_id, created_at_ms) VALUES ($1, 'x', 'active', 'prepaid', 'p', 0)",
    [accountId],
  );
  await sql.all(
    "INSERT INTO webhooks (account_id, url, secret, created_at_ms) VALUES ($1, $2, $3, 0)",
    [accountId, url, newWebhookSecret()],
  );
  await insertMessages(sql, [{ id, accountId, body: "{}", atMs }]);
}

async function withMessage(
  run: (
    start: (
      post: typeof postWebhook,
    ) => {
      readonly deliveries: Deliveries;
      readonly givenUp: string[];
      /** Begins the next look at the store. */
      look(): void;
    },
    clock: { ms: number },
    store: Store,
  ) => Promise<void>,
): Promise<void> {
  await using store = await openStore("sqlite::memory:");
  const clock = { ms: 1000 };
  await store.write(async (sql) => {
    await sql.all("INSERT INTO plans (id, created_at_ms) VALUES ('p', 0)");
    await addAccount(sql, "a", "msg_1", clock.ms);
  });
  await run(
    (post) => {
      const givenUp: string[] = [];
      let look = (): void => {};
      const deliveries = startDeliveries({
        store,
        now: () => clock.ms,
        timer: (_ms, run) => {
          look = run;
          return () => {};
        },
        post,
        onGivenUp: ({ id, attempts }, reason) =>
          givenUp.push(`${id} ${attempts} ${reason}`),
      });
      return { deliveries, givenUp, look: () => look() };
    },
    clock,
    store,
  );
}

Deno.test("a message is given up after its last attempt", () =>
  withMessage(async (start, clock) => {
    let sent = 0;
    const { deliveries, givenUp } = start(() => {
      sent++;
      return Promise.resolve("status 500");
    });
    for (const pauseMs of [0, ...RETRY_PAUSES_MS, 1e9]) {
      clock.ms += pauseMs;
      await deliveries.deliver();
    }
    assert.equal(sent, RETRY_PAUSES_MS.length + 1);
    assert.deepEqual(givenUp, ["msg_1 7 status 500"]);
    await deliveries.stop();
  }));

Deno.test("stop() aborts a message, which is sent again later", () =>
  withMessage(async (start, clock) => {
    const begun = Promise.withResolvers<void>();
    const first = start((_message, _target, signal) => {
      begun.resolve();
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve("aborted"))
      );
    });
    const delivering = first.deliveries.deliver();
    await begun.promise;
    await first.deliveries.stop();
    await delivering;
    assert.deepEqual(first.givenUp, []);
    clock.ms += RETRY_PAUSES_MS[0] ?? 0;
    const ids: string[] = [];
    const second = start(({ id }) => {
      ids.push(id);
      return Promise.resolve(undefined);
    });
    await second.deliveries.deliver();
    await second.deliveries.stop();
    assert.deepEqual(ids, ["msg_1"]);
  }));

Deno.test("the reason of a failed attempt contains neither the address nor the secret", async () => {
  const secret = newWebhookSecret();
  const reason = await postWebhook(
    { id: "msg_1", atMs: 0, body: "{}" },
    { url: URL_WITH_SECRET, secret },
    new AbortController().signal,
  );
  assert.equal(reason, "the address could not be reached");
});

Deno.test("what became of a message is kept: why an attempt failed, and how it ended", () =>
  withMessage(async (start, clock, store) => {
    const { webhooks } = readingAdmin(store, () => clock.ms);
    const outcomes = ["status 500", undefined];
    const { deliveries } = start(() => Promise.resolve(outcomes.shift()));
    await deliveries.deliver();
    const failing = await webhooks.get("a");
    assert.deepEqual(
      [failing.pending, failing.lastError, failing.deliveries],
      [1, "status 500", []],
    );
    clock.ms += RETRY_PAUSES_MS[0] ?? 0;
    await deliveries.deliver();
    const { pending, lastError, deliveries: [one] } = await webhooks.get("a");
    assert.deepEqual([pending, lastError], [0, undefined]);
    assert.deepEqual(one, {
      id: "msg_1",
      atMs: clock.ms,
      type: "",
      attempts: 2,
    });
    assert.deepEqual((await webhooks.list())[0]?.deliveries, [one]);
    await deliveries.stop();
  }));

Deno.test("a receiver that does not answer delays its own account's messages alone", () =>
  withMessage(async (start, _clock, store) => {
    const released = Promise.withResolvers<void>();
    const first = Promise.withResolvers<void>();
    const other = Promise.withResolvers<void>();
    let slow = 0;
    await using server = serveLoopback(async (request) => {
      if (request.url.endsWith("/other")) other.resolve();
      else {
        slow++;
        first.resolve();
        await released.promise;
      }
      return new Response();
    });
    const to = (path: string): string =>
      `http://127.0.0.1:${server.addr.port}${path}`;
    await store.write(async (sql) => {
      await sql.all("UPDATE webhooks SET url = $1", [to("/slow")]);
      await insertMessages(
        sql,
        Array.from({ length: 200 }, (_, n) => ({
          id: `more_${n}`,
          accountId: "a",
          body: "{}",
          atMs: 999,
        })),
      );
    });
    const { deliveries, look } = start(postWebhook);
    look();
    await first.promise;
    await store.write((sql) =>
      addAccount(sql, "b", "msg_2", 1000, to("/other"))
    );
    look();
    await other.promise;
    assert.equal(slow, 1);
    released.resolve();
    await deliveries.deliver();
    assert.equal(slow, 201);
    await deliveries.stop();
  }));

Deno.test("receivers that did not answer leave places for the messages of others", () =>
  withMessage(async (start, clock, store) => {
    const addMessage = (accountId: string): Promise<void> =>
      store.write((sql) => addAccount(sql, accountId, accountId, clock.ms));
    for (let n = 0; n < 50; n++) await addMessage(`silent_${n}`);
    const waiting: (() => void)[] = [];
    const full = Promise.withResolvers<void>();
    const other = Promise.withResolvers<void>();
    const { deliveries } = start(({ id }) => {
      if (id === "other") other.resolve();
      if (!id.startsWith("silent")) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        waiting.push(() => resolve("no reply in time"));
        if (waiting.length === 50) full.resolve();
      });
    });
    const endAll = (): void => {
      clock.ms += 10_000;
      for (const end of waiting.splice(0)) end();
    };
    const first = deliveries.deliver();
    await full.promise;
    endAll();
    await first;
    clock.ms += RETRY_PAUSES_MS[0] ?? 0;
    await addMessage("other");
    const second = deliveries.deliver();
    await other.promise;
    const stopped = deliveries.stop();
    endAll();
    await Promise.all([second, stopped]);
  }));
