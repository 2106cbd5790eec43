import assert from "node:assert/strict";
import { exactJson } from "./exact_json.ts";

Deno.test("exactJson() lets long whole numbers be written again digit by digit", async (t) => {
  const texts = [
    '{"id":12345678901234567890}',
    '{"a":[1,-9007199254740993,{"b":9007199254740993}]}',
    '{"safe":9007199254740991,"text":"12345678901234567890"}',
  ];
  for (const text of texts) {
    await t.step(text, () => {
      assert.equal(JSON.stringify(exactJson(text)), text);
    });
  }
});

Deno.test("exactJson() finds a long number wherever it stands", () => {
  for (let before = 0; before < 20; before++) {
    for (const number of ["9007199254740993", "-98765432109876543210"]) {
      const text = `{"${"k".repeat(before)}":${number}}`;
      assert.equal(JSON.stringify(exactJson(text)), text);
    }
  }
});

Deno.test("exactJson() gives plain numbers where a double holds them", () => {
  assert.deepEqual(
    exactJson('{"a":9007199254740991,"b":1.5}'),
    { a: 9007199254740991, b: 1.5 },
  );
});

Deno.test("exactJson() answers undefined for text that is not JSON", () => {
  assert.equal(exactJson('{"a":12345678901234567890'), undefined);
});

Deno.test("exactJson() reads what is nested too deep for a second look", () => {
  const deep = `${"[".repeat(200_000)}12345678901234567${"]".repeat(200_000)}`;
  assert.ok(Array.isArray(exactJson(deep)));
});
