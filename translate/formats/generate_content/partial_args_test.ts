import assert from "node:assert/strict";
import { partialArgs } from "./partial_args.ts";

function gathered(...pieces: unknown[]): string {
  const args = partialArgs();
  for (const piece of pieces) args.add(piece);
  return JSON.stringify(args.whole());
}

Deno.test("partialArgs() assembles values of every kind, and text from fragments", () => {
  assert.equal(
    gathered(
      { jsonPath: "$.city", stringValue: "Bos", willContinue: true },
      { jsonPath: "$.n", numberValue: 1.5 },
      { jsonPath: "$.city", stringValue: "ton" },
      { jsonPath: "$.ok", boolValue: false },
      { jsonPath: "$.no", nullValue: "NULL_VALUE" },
    ),
    '{"city":"Boston","n":1.5,"ok":false,"no":null}',
  );
});

Deno.test("partialArgs() follows names, indexes and quoted names", () => {
  assert.equal(
    gathered(
      { jsonPath: "$.a.b[0].c", stringValue: "x" },
      { jsonPath: "$.a.b[1]", numberValue: 2 },
      { jsonPath: "$['odd key']['it\\'s']", boolValue: true },
      { jsonPath: '$["q"]', boolValue: true },
      { jsonPath: "$.a.b[0].c", stringValue: "y" },
    ),
    '{"a":{"b":[{"c":"xy"},2]},"odd key":{"it\'s":true},"q":true}',
  );
});

Deno.test("partialArgs() ignores malformed pieces", () => {
  assert.equal(
    gathered(
      null,
      { jsonPath: "$.announced", willContinue: true },
      { jsonPath: "city", stringValue: "x" },
      { jsonPath: "$", stringValue: "x" },
      { jsonPath: "$..x", stringValue: "x" },
      { jsonPath: "$.list[1000000000]", stringValue: "x" },
      { jsonPath: "$" + ".a".repeat(100_000), stringValue: "x" },
      { stringValue: "x" },
    ),
    '{"list":[]}',
  );
});

Deno.test("partialArgs() keeps an argument called __proto__ and leaves prototypes alone", () => {
  assert.equal(
    gathered({ jsonPath: "$.__proto__.polluted", boolValue: true }),
    '{"__proto__":{"polluted":true}}',
  );
  assert.equal("polluted" in {}, false);
});
