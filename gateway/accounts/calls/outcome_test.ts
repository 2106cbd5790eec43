import assert from "node:assert/strict";
import { attemptError, outcomeOf } from "./outcome.ts";
import { compact } from "../../../translate/bytes/compact.ts";
import { type JsonObject } from "../../../translate/bytes/json.ts";

const FAILED = { upstream: "a", status: 503, error: "unavailable" };
const REFUSED = { upstream: "a", status: 400, error: "invalid_request" };
const REPLIED = { upstream: "b", status: 200 };

Deno.test("outcomeOf() tells apart who refused a call and who failed", () => {
  const refused = (status: number, code: string, attempts?: JsonObject[]) =>
    ({ ended: "refused", status, code, ...compact({ attempts }) }) as const;
  const limited = { status: 429, error: "rate_limit" };
  for (
    const [record, outcome] of [
      [{ ended: "complete", attempts: [REPLIED] }, "complete"],
      [{ ended: "complete", attempts: [FAILED, REPLIED] }, "rescued"],
      [{ ended: "failed", status: 200, attempts: [REPLIED] }, "cut"],
      [{ ended: "caller_left", status: 499 }, "caller_left"],
      [{ ended: "lost" }, "lost"],
      [refused(502, "upstream", [FAILED]), "upstream_failed"],
      [refused(429, "rate_limit", [limited]), "upstream_failed"],
      [refused(400, "invalid_request", [REFUSED]), "invalid"],
      [refused(404, "model_not_found"), "invalid"],
      [refused(429, "requests_per_minute"), "limited"],
      [refused(429, "key_spending_per_day"), "limited"],
      [refused(429, "key_concurrent_requests"), "limited"],
      [refused(402, "insufficient_balance"), "limited"],
      [refused(401, "key_expired"), "limited"],
      [refused(503, "unavailable"), "gateway_failed"],
      [refused(500, "internal"), "gateway_failed"],
    ] as const
  ) assert.equal(outcomeOf(record), outcome, JSON.stringify(record));
});

Deno.test("attemptError() is the status, or the kind where there was none", () => {
  assert.equal(attemptError(FAILED), "503");
  assert.equal(attemptError({ error: "timeout" }), "timeout");
  assert.equal(attemptError({ status: 200, error: "upstream" }), "upstream");
  assert.equal(attemptError(REFUSED), undefined);
  assert.equal(attemptError(REPLIED), undefined);
});
