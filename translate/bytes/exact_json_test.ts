import assert from "node:assert/strict";
import { ApiError } from "../model/error.ts";
import { objectOr } from "./json.ts";
import { exactJson, upstreamJson, withDoubles } from "./exact_json.ts";

Deno.test("exactJson() keeps the digits of long integers", async (t) => {
  const texts = [
    '{"id":12345678901234567890}',
    '{"a":[1,-9007199254740993,{"b":9007199254740993}]}',
    '{"safe":9007199254740991,"text":"12345678901234567890"}',
    "12345678901234567890",
    "-12345678901234567890",
    `{"longest":${"9".repeat(400)}}`,
  ];
  for (const text of texts) {
    await t.step(text, () => {
      assert.equal(JSON.stringify(exactJson(text)), text);
    });
  }
});

Deno.test("exactJson() keeps numbers beyond the range of a double", async (t) => {
  const texts = [
    "1e400",
    "[-1.5E+999,1]",
    '{"a":{"b":1e400},"id":12345678901234567890}',
    '{"hash":"1e400","small":1}',
  ];
  for (const text of texts) {
    await t.step(text, () => {
      assert.equal(JSON.stringify(exactJson(text)), text);
    });
  }
});

Deno.test("exactJson() finds a long number at any position", () => {
  for (let before = 0; before < 20; before++) {
    for (const number of ["9007199254740993", "-98765432109876543210"]) {
      const text = `{"${"k".repeat(before)}":${number}}`;
      assert.equal(JSON.stringify(exactJson(text)), text);
    }
  }
});

Deno.test("exactJson() returns plain numbers where a double is exact", () => {
  assert.deepEqual(
    exactJson('{"a":9007199254740991,"b":1.5}'),
    { a: 9007199254740991, b: 1.5 },
  );
});

Deno.test("exactJson() returns undefined for text that is not JSON", () => {
  assert.equal(exactJson('{"a":12345678901234567890'), undefined);
});

Deno.test("exactJson() parses values that are nested too deep for its reviver", () => {
  const deep = `${"[".repeat(200_000)}12345678901234567${"]".repeat(200_000)}`;
  assert.ok(Array.isArray(exactJson(deep)));
});

Deno.test("upstreamJson() throws an upstream error for values nested too deep to be written", () => {
  assert.equal(upstreamJson({ a: [1] }), '{"a":[1]}');
  const deep = exactJson(`${'{"5":'.repeat(9_000)}1${"}".repeat(9_000)}`);
  assert.throws(
    () => upstreamJson(deep),
    (error) => error instanceof ApiError && error.kind === "upstream",
  );
});

Deno.test("withDoubles() reads the object's own numbers, and keeps the text of deeper ones", () => {
  const text =
    '{"a":12345678901234567890,"b":{"c":12345678901234567890},"d":1}';
  const { a, b, d } = withDoubles(objectOr(exactJson(text)));
  assert.deepEqual([a, d], [12345678901234567890, 1]);
  assert.equal(JSON.stringify(b), '{"c":12345678901234567890}');
  const plain = { a: 1 };
  assert.equal(withDoubles(plain), plain);
});
