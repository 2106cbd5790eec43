import assert from "node:assert/strict";
import { duplicateKey } from "./duplicate_key.ts";

const TEXTS: readonly (readonly [json: string, path: string | undefined])[] = [
  ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}', undefined],
  ['{"a":1,"b":2,"a":3}', "a"],
  ['{"models":{"g":{"x":1},"h":{},"g":{}}}', "models.g"],
  ['{"a":[1,{"b":1,"\\u0062":2}]}', "a.b"],
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
