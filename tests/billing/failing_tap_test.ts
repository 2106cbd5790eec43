/**
 * A call whose reply a tap does not let pass: it is paid for, and nothing of it stays under way.
 */
import assert from "node:assert/strict";
import type { CallRequest } from "../../gateway/pipeline/call_request.ts";
import { payFor } from "../../gateway/pipeline/paid_call.ts";
import type { Tap } from "../../gateway/pipeline/tap.ts";
import { noFacts } from "../../gateway/observability/call_facts.ts";
import {
  endedProgress,
  type Operation,
  type Reply,
} from "../../gateway/upstream/operation.ts";
import { encodeText } from "../../translate/bytes/buffers.ts";
import { messages } from "../../translate/formats/messages/mod.ts";
import { ApiError } from "../../translate/model/error.ts";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";

const MODEL = "vendora-opus-4-8";
const REQUEST = encodeText(JSON.stringify({
  model: MODEL,
  max_tokens: 9,
  messages: [{ role: "user", content: "Hi" }],
}));

const OPERATION: Operation<Reply> = {
  isStream: false,
  candidates: (models, model) => models.candidates(model, "messages"),
  prepare: (candidate) => ({
    candidate,
    url: candidate.address.whole,
    request: { bytes: REQUEST, headers: {}, dropped: [] },
    isRelayed: () => false,
    read: () =>
      Promise.resolve({
        type: "whole",
        reply: {
          body: encodeText("{}"),
          progress: endedProgress({ input: 3, output: 4 }),
        },
        hadKey: () => false,
      }),
  }),
};

for (
  const [name, error, status] of [
    ["refuses", new ApiError("permission", "not this text"), 403],
    ["fails", new Error("a fault"), 500],
  ] as const
) {
  Deno.test(`a call is settled once where a tap ${name}`, async () => {
    await using test = await startTestGateway();
    const { gateway } = test;
    const caller = await gateway.accounts.authenticate([TEST_KEY]);
    const model = gateway.models.model(MODEL);
    assert.ok(model !== undefined);
    const call: CallRequest = {
      dialect: messages,
      caller,
      requestId: "req_tap",
      headers: new Headers(),
      signal: new AbortController().signal,
      arrivedMs: gateway.now(),
      path: "/v1/messages",
      endpoint: "/v1/messages",
      facts: noFacts(),
      slot: gateway.concurrency.acquire(caller.keyId),
    };
    const tap: Tap = {
      stream: (reply) => reply,
      whole: () => Promise.reject(error),
      logged: () => ({}),
    };
    await assert.rejects(
      payFor(gateway, call, {
        name: "chat",
        model,
        operation: OPERATION,
        replyCount: 1,
        mostUsage: () => ({ input: 100, output: 100 }),
        taps: [tap],
        worstCase: () => ({ inputTokens: 100, maxOutputTokens: 100 }),
      }),
      error,
    );
    assert.deepEqual(
      [[...gateway.activeCalls].length, gateway.concurrency.inUse()],
      [0, 0],
    );
    const [entry] = test.logged;
    assert.equal(entry?.status, status);
    assert.ok((entry.cost_micro_usd ?? 0) > 0, "the upstream was paid");
    assert.deepEqual(await test.accounts.admin.audit(), []);
  });
}
