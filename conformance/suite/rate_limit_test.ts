import assert from "node:assert/strict";
import type { Exchange } from "../evidence/exchange.ts";
import { exchangeOf } from "../evidence/testing/exchange_of.ts";
import { RateLimited, RateLimitWait, requestedWaitMs } from "./rate_limit.ts";

function limitedReply(
  headers: readonly (readonly [string, string])[],
): Exchange {
  return exchangeOf({
    head: { status: 429, headers: [...headers], atMs: 0 },
    ending: "complete",
  });
}

Deno.test("requestedWaitMs() reads milliseconds, seconds and dates", () => {
  const asked = (name: string, value: string) =>
    requestedWaitMs(limitedReply([[name, value]]));
  assert.equal(asked("retry-after-ms", "5"), 5);
  assert.equal(asked("retry-after", "0"), 0);
  assert.equal(asked("retry-after", "7"), 7000);
  assert.equal(asked("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT"), 0);
  assert.ok((asked("retry-after", "Fri, 01 Jan 2100 00:00:00 GMT") ?? 0) > 1e9);
  assert.equal(asked("retry-after", "soon"), undefined);
  assert.equal(requestedWaitMs(limitedReply([])), undefined);
});

Deno.test("limited() stops repeating a request after seven attempts", () => {
  const patience = new RateLimitWait();
  const reply = limitedReply([["retry-after", "0"]]);
  for (let attempt = 0; attempt < 6; attempt++) {
    patience.limited(reply, attempt);
  }
  assert.throws(() => patience.limited(reply, 6), RateLimited);
});

Deno.test("limited() stops a run that has waited for five minutes, and requests that are limited together share a wait", () => {
  let now = 0;
  const patience = new RateLimitWait(() => now);
  const reply = limitedReply([["retry-after", "9999"]]);
  for (; now < 300_000; now += 60_000) {
    patience.limited(reply, 0);
    patience.limited(reply, 0);
  }
  assert.throws(() => patience.limited(reply, 0), RateLimited);
});
