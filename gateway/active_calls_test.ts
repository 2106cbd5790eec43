import assert from "node:assert/strict";
import { ActiveCalls } from "./active_calls.ts";

Deno.test("calls are listed in their order until they are removed", () => {
  const calls = new ActiveCalls<string>();
  const removeFirst = calls.add("first");
  calls.add("second");
  const removeThird = calls.add("third");
  removeFirst();
  calls.add("fourth");
  assert.deepEqual([...calls], ["second", "third", "fourth"]);
  removeThird();
  removeThird();
  assert.deepEqual([...calls], ["second", "fourth"]);
  assert.equal(calls.size, 2);
});

Deno.test("a call that is removed while calls are listed is not listed", () => {
  const calls = new ActiveCalls<string>();
  calls.add("first");
  const removeSecond = calls.add("second");
  const listed: string[] = [];
  for (const call of calls) {
    listed.push(call);
    removeSecond();
  }
  assert.deepEqual(listed, ["first"]);
});
