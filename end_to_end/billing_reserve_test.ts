/** What is held for a call before it is made, and a caller that leaves before that is written. */
import assert from "node:assert/strict";
import { isObject } from "../translate/json.ts";
import { ask, eachPair, entryOf, requestIdOf } from "./test_billing.ts";
import { startTestGateway, TEST_KEY } from "./test_gateway.ts";

Deno.test("what is held covers the most that can be generated, and hardly more", (t) =>
  eachPair(t, async (gateway, pair) => {
    const { books, replay } = gateway;
    const price = gateway.gateway.offer.model(pair.model)?.price;
    assert.ok(price !== undefined);
    for (const cap of [undefined, 1000]) {
      if (cap === undefined && pair.path === "/v1/messages") continue;
      const nonce = `held-${pair.path}-${pair.model}-${cap}`
        .replaceAll("/", "-");
      const { max_tokens: _, ...body } = ask(
        pair,
        `[[fx:text?gate=${nonce}#${nonce}]]`,
        true,
      );
      const response = await gateway.post(
        pair.path,
        cap === undefined ? body : { ...body, max_tokens: cap },
      );
      const { json } = await replay.journal.waitForNonce(nonce);
      const sent = isObject(json) ? json["max_tokens"] : undefined;
      const most = typeof sent === "number" ? sent : cap ??
        gateway.gateway.offer.model(pair.model)?.capabilities.maxOutputTokens;
      assert.ok(most !== undefined);
      const { reservedMicroUsd } = await books.admin.accounts.get("default");
      const outputMicroUsd = most * price.output / 1e6;
      assert.ok(
        reservedMicroUsd > outputMicroUsd &&
          reservedMicroUsd < outputMicroUsd + 1000,
        `${reservedMicroUsd} is held, ${outputMicroUsd} can be generated`,
      );
      replay.openGate(nonce);
      await response.text();
      await entryOf(gateway, requestIdOf(response));
      assert.equal(
        (await books.admin.accounts.get("default")).reservedMicroUsd,
        0,
      );
    }
  }));

Deno.test("a caller that leaves while the reservation is being written is told apart from a failure", async () => {
  const gateway = await startTestGateway();
  const { accounts } = gateway.books;
  const awaited = Promise.withResolvers<void>();
  const stored = Promise.withResolvers<void>();
  const reserve = accounts.reserve.bind(accounts);
  let looks = 0;
  accounts.reserve = async (caller, call) => {
    const { limits, settle } = await reserve(caller, call);
    return {
      limits,
      settle,
      get written() {
        // The second look is the one before the first byte.
        if (++looks === 2) awaited.resolve();
        return stored.promise;
      },
    };
  };
  try {
    const controller = new AbortController();
    const path = "/v1/messages";
    const response = fetch(gateway.url + path, {
      method: "POST",
      headers: { "x-api-key": TEST_KEY, "content-type": "application/json" },
      body: JSON.stringify(ask(
        { path, model: "vendora-opus-4-8" },
        "[[fx:hold-mid#late]]",
        true,
      )),
      signal: controller.signal,
    });
    await awaited.promise;
    controller.abort();
    await assert.rejects(response);
    const asked = await gateway.replay.journal.waitForNonce("late");
    assert.equal(await asked.ended, "caller-hung-up");
    stored.resolve();
    const { request_id } = await gateway.logEntry((entry) =>
      entry.key_id !== undefined
    );
    const entry = await entryOf(gateway, request_id);
    assert.equal(entry.ended, "caller_left");
    assert.equal(entry.inputTokens, 25);
    assert.deepEqual(await gateway.books.admin.audit(), []);
  } finally {
    await gateway.close();
  }
});
