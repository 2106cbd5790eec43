import assert from "node:assert/strict";
import { decodeUsage } from "./usage.ts";

Deno.test("decodeUsage() lets an earlier count of cached tokens stand where a later usage is silent", () => {
  const first = decodeUsage({
    prompt_tokens: 100,
    prompt_tokens_details: { cached_tokens: 60 },
  });
  assert.deepEqual(decodeUsage({ prompt_tokens: 100 }, first), {
    input: 40,
    cacheRead: 60,
  });
});
