import assert from "node:assert/strict";
import { planIn } from "./reply_plan.ts";
import {
  chosenScenarios,
  DIRECTIONS,
  EXCHANGE_KINDS,
  requestBody,
} from "./scenarios.ts";

const names = (...chosen: string[]): readonly string[] =>
  chosenScenarios(chosen).map(({ name }) => name);

Deno.test("no name chooses every scenario that is not on request only", () => {
  const all = names();
  assert.equal(new Set(all).size, all.length);
  for (const { name, onRequest } of EXCHANGE_KINDS) {
    assert.equal(
      all.some((one) => one.endsWith(`/${name}`)),
      onRequest !== true,
      name,
    );
  }
});

Deno.test("a kind, a direction, both, or a whole name choose", () => {
  assert.equal(names("whole-small").length, DIRECTIONS.length);
  assert.equal(names("stream-coalesced").length, DIRECTIONS.length);
  assert.deepEqual(names("whole-100k"), [
    "messages/whole-100k",
    "chat/whole-100k",
  ]);
  assert.ok(names("chat").every((name) => name.startsWith("chat/")));
  assert.deepEqual(names("chat", "whole-small"), ["chat/whole-small"]);
  assert.deepEqual(names("chat-to-messages/stream-paced"), [
    "chat-to-messages/stream-paced",
  ]);
});

Deno.test("a name that is none is refused", () => {
  assert.throws(() => chosenScenarios(["whole-smal"]), RangeError);
});

Deno.test("requestBody() is as long as its kind says and asks for its plan", () => {
  for (const { kind, direction: { caller } } of chosenScenarios([])) {
    const body = requestBody(caller, "some-model", kind);
    assert.deepEqual(planIn(body.slice(0, 2_000)), kind.plan);
    assert.ok(body.length >= kind.promptBytes);
    assert.ok(body.length < kind.promptBytes * 1.2 + 300);
  }
});
