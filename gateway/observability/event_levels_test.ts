import assert from "node:assert/strict";
import { levelOf } from "./event_levels.ts";

Deno.test("levelOf() warns of what is no fault of the client, and is an error for the gateway's own", () => {
  for (
    const [level, entry] of [
      ["info", { status: 200, ended: "complete" }],
      ["info", { status: 499, ended: "caller_left" }],
      ["info", { status: 429, ended: "refused", code: "requests_per_minute" }],
      ["warn", { status: 200, ended: "failed", error_of: "upstream" }],
      ["warn", { status: 502, ended: "refused", error_of: "upstream" }],
      ["warn", { status: 503, ended: "refused", code: "unavailable" }],
      ["warn", { status: 404, ended: "refused", note: "set the key" }],
      ["error", { status: 500, ended: "refused", code: "internal" }],
      ["error", { status: 200, ended: "failed", error_of: "gateway" }],
    ] as const
  ) assert.equal(levelOf(entry), level, JSON.stringify(entry));
});
