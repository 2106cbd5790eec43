import assert from "node:assert/strict";
import { parsePlan } from "./reply_plan.ts";
import {
  DIRECTIONS,
  EXCHANGE_KINDS,
  requestBody,
  selectScenarios,
} from "./scenarios.ts";

const names = (...chosen: string[]): readonly string[] =>
  selectScenarios(chosen).map(({ name }) => name);

Deno.test("without names every scenario is selected that does not have to be named", () => {
  const all = names();
  assert.equal(new Set(all).size, all.length);
  for (const { name, onlyWhenNamed: onRequest } of EXCHANGE_KINDS) {
    assert.equal(
      all.some((one) => one.endsWith(`/${name}`)),
      onRequest !== true,
      name,
    );
  }
});

Deno.test("a kind, a direction, both, or a full name select scenarios", () => {
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

Deno.test("only the requests of stored replies leave out `store`", () => {
  const stores = (name: string): unknown => {
    const [scenario] = selectScenarios([name]);
    assert.ok(scenario !== undefined);
    return JSON.parse(requestBody("responses", "m", scenario.kind)).store;
  };
  assert.equal(stores("responses/stream-unpaced"), false);
  assert.equal(stores("responses/stream-stored"), undefined);
  assert.equal(stores("responses/whole-stored"), undefined);
});

Deno.test("an unknown name is refused", () => {
  assert.throws(() => selectScenarios(["whole-smal"]), RangeError);
});

Deno.test("requestBody() has the length and the plan of its kind", () => {
  for (const { kind, direction: { caller } } of selectScenarios([])) {
    const body = requestBody(caller, "some-model", kind);
    assert.deepEqual(parsePlan(body.slice(0, 2_000)), kind.plan);
    assert.ok(body.length >= kind.promptBytes);
    assert.ok(body.length < kind.promptBytes * 1.2 + 300);
  }
});
