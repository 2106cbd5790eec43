import assert from "node:assert/strict";
import { readUsage } from "./reply_facts.ts";

Deno.test("readUsage() does not let a zero take back a prompt figure that was told", () => {
  const zeros = {
    input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    output_tokens: 0,
  };
  assert.deepEqual(
    readUsage(zeros, { input: 1, cacheRead: 2, output: 1 }),
    { cacheWrite: 0, output: 0 },
  );
});
