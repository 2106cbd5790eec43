import assert from "node:assert/strict";
import { callIds, replyCallIds } from "./call_ids.ts";

Deno.test("callIds() gives repeated calls different ids, and each result the id of its call", () => {
  const ids = callIds(64);
  const calls = ["a", "a", "b", "a"].map((id) => ids.ofCall(id));
  assert.deepEqual(calls, ["a", "a_1", "b", "a_2"]);
  assert.deepEqual(
    ["b", "a", "a", "a", "a"].map((id) => ids.ofResult(id)),
    ["b", "a", "a_1", "a_2", "a_2"],
  );
});

Deno.test("callIds() gives no id that another call of the conversation has", () => {
  const ids = callIds(64);
  const given = ["a_1", "a", "a", "a_1"];
  const calls = given.map((id) => ids.ofCall(id));
  assert.deepEqual(calls, ["a_1", "a", "a_2", "a_1_1"]);
  assert.deepEqual(given.map((id) => ids.ofResult(id)), calls);
});

Deno.test("callIds() hashes ids that are too long, repeated ones too", () => {
  const ids = callIds(40);
  const long = "x".repeat(41);
  const full = "y".repeat(40);
  const calls = [long, full, long, full].map((id) => ids.ofCall(id));
  assert.equal(new Set(calls).size, 4);
  assert.ok(calls.every((id) => id.length <= 40));
  assert.deepEqual(
    [long, full, long, full].map((id) => ids.ofResult(id)),
    calls,
  );
});

Deno.test("callIds() numbers many equal ids", () => {
  const ids = callIds(64);
  const many = Array.from({ length: 20_000 }, () => ids.ofCall("call_0"));
  assert.equal(new Set(many).size, many.length);
  assert.equal(many.at(-1), "call_0_19999");
});

Deno.test("replyCallIds() gives every call of a reply an id of its own that its client can send back", () => {
  const seed = "0123456789abcdefghijABCDE";
  const made = (n: string): string => `call_${seed.slice(0, 24)}${n}`;
  const hash = "call_d6bdd4de328a22edd610f9548b4f419f";
  const given = [undefined, "a", "a", "", "functions.f:0"];
  for (
    const [max, last] of [[undefined, "functions.f:0"], [64, hash]] as const
  ) {
    const id = replyCallIds("call_", seed, max);
    assert.deepEqual(given.map(id), [
      made(""),
      "a",
      made("2"),
      made("3"),
      last,
    ]);
  }
});
