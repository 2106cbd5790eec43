import assert from "node:assert/strict";
import fc from "fast-check";
import { setField } from "./set_field.ts";

const TEXT = `{
    "vendors": { "größe": {"base_url":"https://example.com"} },
    "models": {
        "a": {"price": null, "created": 12345678901234567890},
        "b": {
            "price": {
                "input": 1.0
            },
            "betas": []
        },
        "c": {}
    }
}
`;

Deno.test("setField() replaces one value and leaves every other byte", () => {
  assert.equal(
    setField(TEXT, ["models", "a", "price"], { input: 2 }),
    TEXT.replace("null", '{\n                "input": 2\n            }'),
  );
  assert.equal(
    setField(TEXT, ["models", "b", "price", "input"], 3),
    TEXT.replace("1.0", "3"),
  );
});

Deno.test("setField() adds what is absent at the end, indented as the text is", () => {
  assert.equal(
    setField(TEXT, ["models", "d", "price"], 1),
    TEXT.replace(
      '"c": {}',
      '"c": {},\n        "d": {\n            "price": 1\n        }',
    ),
  );
  assert.equal(
    setField(TEXT, ["models", "c", "price"], 1),
    TEXT.replace('"c": {}', '"c": {\n            "price": 1\n        }'),
  );
  assert.equal(
    setField("{}", ["models", "a", "price"], 1),
    '{\n  "models": {\n    "a": {\n      "price": 1\n    }\n  }\n}',
  );
});

Deno.test("setField() changes the field that a parser reads, and no other value", () => {
  const key = fc.string({ unit: "grapheme", maxLength: 3 });
  const inner = fc.dictionary(key, fc.jsonValue(), { maxKeys: 3 });
  fc.assert(fc.property(
    fc.dictionary(key, inner, { maxKeys: 3 }),
    key,
    key,
    fc.jsonValue(),
    fc.constantFrom(0, 1, 4, "\t"),
    (file, outer, name, value, indent) => {
      const before = JSON.stringify(file, null, indent);
      const text = setField(before, [outer, name], value);
      const expected = JSON.parse(JSON.stringify({
        ...file,
        [outer]: { ...file[outer], [name]: value },
      }));
      assert.deepEqual(JSON.parse(text), expected);
    },
  ));
  const twice = '{"a":{"b":1},"a":{"b":2}}';
  assert.equal(setField(twice, ["a", "b"], 3), '{"a":{"b":1},"a":{"b":3}}');
});
