/**
 * The reservation made before a call, and a client that disconnects while the reservation is being
 * written.
 */
import assert from "node:assert/strict";
import { isObject } from "../../translate/bytes/json.ts";
import {
  eachPair,
  ledgerEntryOf,
  requestBody,
  requestIdOf,
} from "../support/tables/billing.ts";
import { RefusedCall } from "../../gateway/accounts/accounts.ts";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";

Deno.test("the reservation covers the longest possible output, and hardly more", (t) =>
  eachPair(t, async (gateway, pair) => {
    const { accounts: books, replay } = gateway;
    const price = gateway.gateway.models.model(pair.model)?.price;
    assert.ok(price !== undefined);
    for (const cap of [undefined, 1000]) {
      if (cap === undefined && pair.path === "/v1/messages") continue;
      const nonce = `held-${pair.path}-${pair.model}-${cap}`
        .replaceAll("/", "-");
      const { max_tokens: _, ...body } = requestBody(
        pair,
        `[[fx:text?gate=${nonce}#${nonce}]]`,
        true,
      );
      const response = await gateway.post(
        pair.path,
        cap === undefined ? body : { ...body, max_tokens: cap },
      );
      const { json } = await replay.requestLog.waitForNonce(nonce);
      const sent = isObject(json) ? json["max_tokens"] : undefined;
      const most = typeof sent === "number" ? sent : cap ??
        gateway.gateway.models.model(pair.model)?.capabilities.maxOutputTokens;
      assert.ok(most !== undefined);
      const { reservedMicroUsd } = await books.admin.accounts.get("default");
      const outputMicroUsd = most * price.output / 1e6;
      assert.ok(
        reservedMicroUsd > outputMicroUsd &&
          reservedMicroUsd < outputMicroUsd + 1000,
        `${reservedMicroUsd} is reserved, ${outputMicroUsd} can be generated`,
      );
      replay.openGate(nonce);
      await response.text();
      await ledgerEntryOf(gateway, requestIdOf(response));
      assert.equal(
        (await books.admin.accounts.get("default")).reservedMicroUsd,
        0,
      );
    }
  }));

Deno.test("several replies are reserved for, and an estimate covers all of them", async () => {
  await using gateway = await startTestGateway();
  const price = gateway.gateway.models.model("vendorb-5.5")?.price;
  assert.ok(price !== undefined);
  const controller = new AbortController();
  const response = await gateway.post(
    "/v1/chat/completions",
    {
      model: "vendorb-5.5",
      max_completion_tokens: 1000,
      n: 3,
      stream: true,
      messages: [{
        role: "user",
        content: "[[fx:hold-mid?frames=4#several]]",
      }],
    },
    {},
    controller.signal,
  );
  const { reservedMicroUsd } = await gateway.accounts.admin.accounts.get(
    "default",
  );
  const outputMicroUsd = 3 * 1000 * price.output / 1e6;
  assert.ok(
    reservedMicroUsd > outputMicroUsd &&
      reservedMicroUsd < outputMicroUsd + 1000,
    `${reservedMicroUsd} is reserved`,
  );
  const reader = response.body?.pipeThrough(new TextDecoderStream())
    .getReader();
  let text = "";
  while (!text.includes(" The")) text += (await reader?.read())?.value ?? "";
  controller.abort();
  const { outputTokens, estimated } = await ledgerEntryOf(
    gateway,
    requestIdOf(response),
  );
  // `Hello! The` is ten characters.
  assert.deepEqual({ outputTokens, estimated }, {
    outputTokens: 8,
    estimated: true,
  });
});

Deno.test("a client that disconnects while the reservation is being written is recorded as caller_left, not as a failure", async () => {
  await using gateway = await startTestGateway();
  const { accounts } = gateway.accounts;
  const awaited = Promise.withResolvers<void>();
  const stored = Promise.withResolvers<void>();
  const reserve = accounts.reserve.bind(accounts);
  accounts.reserve = async (caller, call) => {
    const reservation = await reserve(caller, call);
    return {
      ...reservation,
      async durable() {
        awaited.resolve();
        await stored.promise;
        return await reservation.durable();
      },
    };
  };
  const controller = new AbortController();
  const path = "/v1/messages";
  const response = fetch(gateway.url + path, {
    method: "POST",
    headers: { "x-api-key": TEST_KEY, "content-type": "application/json" },
    body: JSON.stringify(requestBody(
      { path, model: "vendora-opus-4-8" },
      "[[fx:hold-mid#late]]",
      true,
    )),
    signal: controller.signal,
  });
  await awaited.promise;
  controller.abort();
  await assert.rejects(response);
  const asked = await gateway.replay.requestLog.waitForNonce("late");
  assert.equal(await asked.ended, "caller-hung-up");
  stored.resolve();
  const { request_id } = await gateway.logEntry((entry) =>
    entry.key_id !== undefined
  );
  const entry = await ledgerEntryOf(gateway, request_id);
  assert.equal(entry.ended, "caller_left");
  assert.equal(entry.inputTokens, 25);
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
});

for (const stream of [false, true]) {
  Deno.test(`a call that is refused while its upstream is called ends at once, upstream too${stream ? ", streamed" : ""}`, async () => {
    await using gateway = await startTestGateway();
    const { accounts } = gateway.accounts;
    const decision = Promise.withResolvers<void>();
    const reserve = accounts.reserve.bind(accounts);
    accounts.reserve = async (caller, call) => {
      const reservation = await reserve(caller, call);
      return {
        ...reservation,
        decided: decision.promise,
        durable: () => decision.promise.then(() => reservation.durable()),
      };
    };
    const path = "/v1/messages";
    const response = gateway.post(
      path,
      requestBody(
        { path, model: "vendora-opus-4-8" },
        "[[fx:hold#refused]]",
        stream,
      ),
    );
    const asked = await gateway.replay.requestLog.waitForNonce("refused");
    decision.reject(
      new RefusedCall("rate_limit", "no requests are left", {
        code: "requests_per_minute",
        retryable: true,
        retryAfterSeconds: 7,
      }, { requests: { limit: 9, remaining: 0, resetAtMs: 0 } }),
    );
    const { status, headers } = await response;
    assert.equal(status, 429);
    assert.equal(headers.get("retry-after"), "7");
    assert.equal(headers.get("anthropic-ratelimit-requests-limit"), "9");
    assert.match(await (await response).text(), /no requests are left/);
    assert.equal(await asked.ended, "caller-hung-up");
    const { error_of, ended, upstream_calls, status: logged } = await gateway
      .logEntry(({ status }) => status === 429);
    assert.deepEqual({ error_of, ended, logged }, {
      error_of: "gateway",
      ended: "refused",
      logged: 429,
    });
    // The attempt has no outcome: the upstream is not to blame.
    assert.deepEqual(upstream_calls?.map(({ error }) => error), [undefined]);
  });
}
