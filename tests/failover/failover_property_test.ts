/**
 * For any behaviour of two upstreams: one well-formed answer or error per call, nothing left
 * running, and a correct ledger.
 */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { isObject } from "../../translate/bytes/json.ts";
import type { Action } from "../support/upstreams/scripted_upstream.ts";
import { withCandidates } from "../support/with_candidates.ts";

const ACTIONS: fc.Arbitrary<Action> = fc.oneof(
  fc.constantFrom<Action>("ok", "whole", "reset", "cut", "silence", "stall"),
  fc.constantFrom(400, 401, 404, 408, 413, 429, 500, 502, 503, 504, 529).map((
    status,
  ) => ({ status })),
  fc.constantFrom(
    "overloaded_error",
    "rate_limit_error",
    "invalid_request_error",
    "authentication_error",
    "what_is_this",
  ).map((inBand) => ({ inBand })),
);

const CALLS = fc.array(
  fc.record({
    path: fc.constantFrom("/v1/messages", "/v1/chat/completions"),
    stream: fc.boolean(),
    a: fc.array(ACTIONS, { maxLength: 3 }),
    b: fc.array(ACTIONS, { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 6 },
);

const STATUSES = [200, 400, 404, 413, 429, 500, 502, 503, 504, 529];

function checkAnswer(status: number, stream: boolean, text: string): void {
  assert.ok(STATUSES.includes(status), String(status));
  if (status !== 200 || !stream) {
    const body: unknown = JSON.parse(text);
    assert.ok(isObject(body));
    assert.equal(status === 200, !isObject(body["error"]), text);
    return;
  }
  const ended = /event: message_stop|data: \[DONE\]/.test(text);
  const failed = /event: error|^data: \{[^\n]*"error":\{/m.test(text);
  assert.ok(ended !== failed, text);
  assert.equal(ended, /from [ab]/.test(text) && !failed);
}

Deno.test("each call gets one answer or one error, whatever the upstreams do", async () => {
  await fc.assert(
    fc.asyncProperty(CALLS, (calls) =>
      withCandidates({
        random: () => 0,
        model: {
          timeouts: { first_byte_seconds: 0.02, idle_seconds: 0.02 },
        },
      }, async ({ a, b, ask, gateway }) => {
        for (const call of calls) {
          a.play(call.a);
          b.play(call.b);
          const before = a.calls.length + b.calls.length;
          const response = await ask(call);
          checkAnswer(response.status, call.stream, await response.text());
          const sent = a.calls.length + b.calls.length - before;
          assert.ok(sent <= 3, `${sent} calls`);
        }
        assert.equal(gateway.gateway.activeCalls.size, 0);
        assert.equal(gateway.gateway.concurrency.inUse(), 0);
        assert.equal(gateway.logged.length, calls.length);
        await gateway.accounts.flush();
        const { data } = await gateway.accounts.admin.ledger({
          kind: "charge",
        });
        const ids = new Set(data.map(({ requestId }) => requestId));
        assert.equal(ids.size, data.length, "a call is charged twice");
        for (const { request_id, cost_micro_usd, attempts } of gateway.logged) {
          assert.ok(attempts === 1 || attempts === 2 || attempts === 3);
          const entry = data.find(({ requestId }) => requestId === request_id);
          assert.equal(Math.abs(entry?.microUsd ?? 0), cost_micro_usd);
        }
      })),
    { numRuns: 40 },
  );
});
