import assert from "node:assert/strict";
import { decodeUsage } from "./usage.ts";

Deno.test("decodeUsage() uses the remainder of the total where the candidates have no count", () => {
  const thoughts = { promptTokenCount: 10, thoughtsTokenCount: 4 };
  assert.equal(decodeUsage({ ...thoughts, totalTokenCount: 20 })?.output, 10);
  assert.equal(decodeUsage({ ...thoughts, totalTokenCount: 14 })?.output, 4);
  assert.equal(decodeUsage({ ...thoughts, totalTokenCount: 10 })?.output, 4);
  assert.equal(decodeUsage(thoughts)?.output, 4);
});
