import assert from "node:assert/strict";
import { exactJson } from "./exact_json.ts";
import { parseJson } from "./json.ts";
import { parseText } from "./parse_text.ts";

/** An earlier text, a text with an escaped key in the same place, and the key that it has. */
const TEXTS: readonly (readonly [string, string, string])[] = [
  ['{"1st":1,"\\\\u0073":1}', '{"1st":1,"\\u0073tream":1}', "stream"],
  ['{"2nd":1,"a\\\\u0":1}', '{"2nd":1,"a\\u00e9bc":1}', "a\u00e9bc"],
  ['{"3rd":1,"\\\\":1}', '{"3rd":1,"\\n":1}', "\n"],
  ['{"4th":1,"\\\\\\\\u00":1}', '{"4th":1,"\\\\u0073":1}', "\\u0073"],
];

Deno.test("a key is read as it is written, whatever was parsed before", async (t) => {
  for (const [earlier, text, key] of TEXTS) {
    for (const parse of [parseText, parseJson, exactJson]) {
      await t.step(`${text} by ${parse.name}()`, () => {
        JSON.parse(earlier);
        assert.deepEqual(Object.keys(Object(parse(text)))[1], key);
      });
    }
  }
});

Deno.test("parseText() equals JSON.parse() beside that", async (t) => {
  const texts = [
    '{"\\u0061":1,"a":2,"b":{"\\u0061":[{"\\n":null}]}}',
    '{"a":1,"\\u0061":2}',
    '{"~0":1,"\\u007e1":2,"~":{"\\t":"~0"}}',
    '{"\\u005f_proto__":{"a":1},"z":"\\n"}',
    '{"\\u0032":1,"1":2,"x":3}',
    '["a\\n","b\\n",{"\\"":"{,\\"a\\\\\\":"}]',
    '{ "a" : "\\n" , "\\u0062"\n: [ ] }',
    '"\\n"',
  ];
  for (const text of texts) {
    await t.step(text, () => {
      const read = parseText(text);
      assert.deepEqual(read, JSON.parse(text));
      assert.equal(JSON.stringify(read), JSON.stringify(JSON.parse(text)));
    });
  }
});

Deno.test("exactJson() keeps digits beside an escaped key", () => {
  const text = '{"\\n":12345678901234567890,"b":[1e400]}';
  assert.equal(JSON.stringify(exactJson(text)), text);
});

Deno.test("parseText() throws the error of the text", () => {
  for (
    const text of ['{"a":1,"\\n":x}', '{"\\x":1}', '{"\\n":1', '{"a":"\\n']
  ) {
    let wanted: unknown;
    try {
      JSON.parse(text);
    } catch (error) {
      wanted = error;
    }
    assert.throws(() => parseText(text), wanted as Error);
  }
});
