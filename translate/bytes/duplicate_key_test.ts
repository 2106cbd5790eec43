import assert from "node:assert/strict";
import { duplicateKey, keysIn } from "./duplicate_key.ts";
import { exactJson } from "./exact_json.ts";
import { topLevelOf } from "./json_splice.ts";

const TEXTS: readonly (readonly [json: string, path: string | undefined])[] = [
  ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}', undefined],
  ['{"a":1,"b":2,"a":3}', "a"],
  ['{"models":{"g":{"x":1},"h":{},"g":{}}}', "models.g"],
  ['{"a":[1,{"b":1,"\\u0062":2}]}', "a[1].b"],
  ['{"a":"\\"b\\":1,","b":"{\\"b\\":","c":[]}', undefined],
  ['{"a":{},"":1,"":2}', ""],
  ["[]", undefined],
  ['{ "a" : [ ] , "b" : { "c" : "a" , "c" : 1 } }', "b.c"],
];

Deno.test("duplicateKey() finds the first key that an object has twice", () => {
  for (const [json, path] of TEXTS) {
    assert.equal(duplicateKey(json), path, json);
  }
});

Deno.test("duplicateKey() does not search objects of free form", () => {
  const free = new Set(["input"]);
  const text = '{"input":{"a":{"b":1,"b":2},"a":1},"c":{"d":1,"d":2}}';
  assert.equal(duplicateKey(text, free), "c.d");
  // A list is no object of free form.
  assert.equal(
    duplicateKey('{"input":[{"role":"a","role":"b"}]}', free),
    "input[0].role",
  );
});

Deno.test("duplicateKey() reads strings of any length", () => {
  const long = '\\"'.repeat(500_000);
  assert.equal(duplicateKey(`{"a":"${long}","b":{"c":1,"c":2}}`), "b.c");
});

Deno.test("keysIn() counts what topLevelOf() counts, unless a key occurs twice", () => {
  const count = (text: string): readonly [number, number] => [
    topLevelOf(new TextEncoder().encode(text)).keys,
    keysIn(Object(exactJson(text))),
  ];
  for (
    const [text, written, kept] of [
      ["{}", 0, 0],
      ['{"a":1,"b":[{"c":{"d":":"}},{},[],null]}', 4, 4],
      ['{"a":12345678901234567890,"é:":{"__proto__":{"x":1}}}', 4, 4],
      ['{"a":{"b":1,"\\u0062":2}}', 3, 2],
      ['{"a":{"b":{"x":1},"b":{"x":1}}}', 5, 3],
    ] as const
  ) assert.deepEqual(count(text), [written, kept], text);
});
