import assert from "node:assert/strict";
import { parsePlan } from "../load/reply_plan.ts";
import {
  DIRECTIONS,
  EXCHANGE_KINDS,
  requestBody,
  selectScenarios,
  usualScenarios,
} from "./scenarios.ts";

const USUAL = { quick: false, tlsOnly: false };

const names = (...chosen: string[]): readonly string[] =>
  selectScenarios(chosen).map(({ name }) => name);

Deno.test("a run without names measures every kind that does not have to be named", () => {
  const all = usualScenarios(USUAL).map(({ name }) => name);
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

Deno.test("a run measures each kind of processor time over TLS too", () => {
  const all = usualScenarios(USUAL);
  const tls = all.filter((one) => one.tls);
  for (const { name, measures, onlyWhenNamed } of EXCHANGE_KINDS) {
    assert.equal(
      tls.some((one) => one.name === `tls/messages/${name}`),
      measures === "cpu" && onlyWhenNamed !== true,
      name,
    );
  }
  assert.ok(tls.every(({ name }) => name.startsWith("tls/")));
  assert.ok(tls.length < all.length);
  assert.deepEqual(usualScenarios({ ...USUAL, tlsOnly: true }), tls);
  const quick = usualScenarios({ ...USUAL, quick: true });
  assert.ok(quick.some((one) => one.tls));
  assert.ok(quick.every((one) => all.includes(one)));
});

Deno.test("a name selects over TLS with `tls/` before it, and without a plain upstream", () => {
  assert.deepEqual(names("tls/messages/whole-small"), [
    "tls/messages/whole-small",
  ]);
  assert.equal(names("tls/whole-small").length, DIRECTIONS.length);
  assert.deepEqual(names("tls/chat", "tls/whole-small"), [
    "tls/chat/whole-small",
  ]);
  assert.deepEqual(names("chat/whole-small", "tls/messages/stream-paced"), [
    "chat/whole-small",
    "tls/messages/stream-paced",
  ]);
  assert.deepEqual(
    names("tls"),
    usualScenarios({ ...USUAL, tlsOnly: true }).map(({ name }) => name),
  );
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
  for (
    const name of [
      "whole-smal",
      "tls/whole-smal",
      "tls/",
      // Delays are compared with the direct connection, which has no TLS.
      "tls/latency",
      "tls/tls",
    ]
  ) assert.throws(() => selectScenarios([name]), RangeError, name);
});

Deno.test("requestBody() has the length and the plan of its kind", () => {
  for (const { kind, direction: { caller } } of usualScenarios(USUAL)) {
    const body = requestBody(caller, "some-model", kind);
    assert.deepEqual(parsePlan(body.slice(0, 2_000)), kind.plan);
    assert.ok(body.length >= kind.promptBytes);
    assert.ok(body.length < kind.promptBytes * 1.2 + 300);
  }
});
