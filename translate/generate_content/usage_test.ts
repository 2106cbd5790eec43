import assert from "node:assert/strict";
import { readUsage } from "./usage.ts";

Deno.test("readUsage() takes what the total leaves where the candidates have no count", () => {
  const thoughts = { promptTokenCount: 10, thoughtsTokenCount: 4 };
  assert.equal(readUsage({ ...thoughts, totalTokenCount: 20 })?.output, 10);
  assert.equal(readUsage({ ...thoughts, totalTokenCount: 14 })?.output, 4);
  assert.equal(readUsage({ ...thoughts, totalTokenCount: 10 })?.output, 4);
  assert.equal(readUsage(thoughts)?.output, 4);
});
