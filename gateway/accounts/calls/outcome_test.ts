import assert from "node:assert/strict";
import { attemptError, outcomeOf } from "./outcome.ts";

const FAILED = { upstream: "a", status: 503, error: "unavailable" };
const REFUSED = { upstream: "a", status: 400, error: "invalid_request" };
const REPLIED = { upstream: "b", status: 200 };

Deno.test("outcomeOf() tells apart who refused a call and who failed", () => {
  for (
    const [record, outcome] of [
      [{ ended: "complete", status: 200, attempts: [REPLIED] }, "complete"],
      [
        { ended: "complete", status: 200, attempts: [FAILED, REPLIED] },
        "rescued",
      ],
      [{ ended: "failed", status: 200, attempts: [REPLIED] }, "cut"],
      [{ ended: "caller_left", status: 499 }, "caller_left"],
      [{ ended: "lost" }, "lost"],
      [
        { ended: "refused", status: 502, attempts: [FAILED] },
        "upstream_failed",
      ],
      [
        {
          ended: "refused",
          status: 429,
          code: "rate_limit",
          attempts: [{ status: 429, error: "rate_limit" }],
        },
        "upstream_failed",
      ],
      [{ ended: "refused", status: 400, attempts: [REFUSED] }, "invalid"],
      [{ ended: "refused", status: 404, code: "model_not_found" }, "invalid"],
      [
        { ended: "refused", status: 429, code: "requests_per_minute" },
        "limited",
      ],
      [
        { ended: "refused", status: 429, code: "key_spending_per_day" },
        "limited",
      ],
      [
        { ended: "refused", status: 429, code: "key_concurrent_requests" },
        "limited",
      ],
      [
        { ended: "refused", status: 402, code: "insufficient_balance" },
        "limited",
      ],
      [{ ended: "refused", status: 401, code: "key_expired" }, "limited"],
      [
        { ended: "refused", status: 503, code: "unavailable" },
        "gateway_failed",
      ],
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
