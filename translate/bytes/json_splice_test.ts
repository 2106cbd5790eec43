import assert from "node:assert/strict";
import fc from "fast-check";
import { atOnce } from "../steps.ts";
import { spliceFields, spliceLong, topLevelOf } from "./json_splice.ts";

/** In steps and at once, which must be equal. */
function splice(json: string, fields: Record<string, unknown>): string {
  const bytes = new TextEncoder().encode(json);
  const spliced = new TextDecoder().decode(spliceFields(bytes, fields));
  assert.equal(
    new TextDecoder().decode(
      atOnce(spliceLong(bytes, fields, topLevelOf(bytes))),
    ),
    spliced,
  );
  return spliced;
}

Deno.test("spliceFields() changes one value and no other byte", async (t) => {
  const rows: readonly [string, string, string][] = [
    ["alone", `{"model":"a"}`, `{"model":"b"}`],
    [
      "blanks stay",
      `{ "n" : 1.0 ,\n "model" : "a" , "z":[] }`,
      `{ "n" : 1.0 ,\n "model" : "b" , "z":[] }`,
    ],
    [
      "last",
      `{"x":{"model":"q"},"model":"a"\n}`,
      `{"x":{"model":"q"},"model":"b"\n}`,
    ],
    [
      "nested ones stay",
      `{"a":[{"model":"q"}],"model":"a"}`,
      `{"a":[{"model":"q"}],"model":"b"}`,
    ],
    [
      "quotes inside strings",
      `{"t":"\\"model\\":\\"x\\\\","model":"a"}`,
      `{"t":"\\"model\\":\\"x\\\\","model":"b"}`,
    ],
    [
      "every duplicate",
      `{"model":"a","model":"c"}`,
      `{"model":"b","model":"b"}`,
    ],
    [
      "an escaped key is the same key",
      `{"mod\\u0065l":"a"}`,
      `{"mod\\u0065l":"b"}`,
    ],
    [
      "a value that is an object",
      `{"model":{"x":[1,2]},"y":2}`,
      `{"model":"b","y":2}`,
    ],
    [
      "a key as a value",
      `{"x":"model","model":"a"}`,
      `{"x":"model","model":"b"}`,
    ],
    ["absent", `{"x":1}`, `{"x":1,"model":"b"}`],
    ["absent from nothing", `{ }`, `{ "model":"b"}`],
    [
      "big numbers",
      `{"n":12345678901234567890,"model":"a"}`,
      `{"n":12345678901234567890,"model":"b"}`,
    ],
  ];
  for (const [name, before, after] of rows) {
    await t.step(
      name,
      () => assert.equal(splice(before, { model: "b" }), after),
    );
  }
});

Deno.test("spliceFields() sets several fields at once", () => {
  assert.equal(
    splice(`{"model":"a","stream":true}`, {
      model: "b",
      stream_options: { include_usage: true },
    }),
    `{"model":"b","stream":true,"stream_options":{"include_usage":true}}`,
  );
});

Deno.test("spliceFields() equals assignment for any object", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.string(),
      (object, model) => {
        for (const blanks of [0, 2]) {
          const spliced = JSON.parse(
            splice(JSON.stringify(object, null, blanks), { model }),
          );
          assert.deepEqual(
            spliced,
            JSON.parse(JSON.stringify({ ...object, model })),
          );
        }
      },
    ),
  );
});

Deno.test("spliceFields() leaves fields out with one comma each", async (t) => {
  const rows:
    readonly (readonly [string, readonly string[], object, string])[] = [
      ['{"a": 1, "b": 2, "c": 3}', ["a"], {}, '{"b": 2, "c": 3}'],
      ['{"a": 1, "b": 2, "c": 3}', ["b"], {}, '{"a": 1, "c": 3}'],
      ['{"a": 1, "b": 2, "c": 3}', ["c"], {}, '{"a": 1, "b": 2}'],
      ['{"a": 1, "b": 2, "c": 3}', ["a", "b"], {}, '{"c": 3}'],
      ['{"a": 1, "b": 2, "c": 3 }', ["b", "c"], {}, '{"a": 1 }'],
      ['{ "a" : 1 }', ["a"], {}, "{  }"],
      ['{"a": 1, "b": 2}', ["a", "b"], { z: 0 }, '{"z":0}'],
      ['{"a":1,"a":2,"b":3}', ["a"], { b: 4 }, '{"b":4}'],
      ['{"a":1.0,"b":"x"}', ["c"], {}, '{"a":1.0,"b":"x"}'],
    ];
  for (const [before, remove, fields, after] of rows) {
    await t.step(`${before} without ${remove}`, () => {
      const bytes = new TextEncoder().encode(before);
      const out = spliceFields(bytes, { ...fields }, undefined, remove);
      assert.equal(new TextDecoder().decode(out), after);
    });
  }
});

Deno.test("topLevelOf() finds the same fields with the text and without it", () => {
  const encoder = new TextEncoder();
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()),
      fc.boolean(),
      (value, isAscii) => {
        const written = JSON.stringify(value);
        const text = isAscii
          ? written.replace(
            /[^\0-\x7f]/g,
            (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
          )
          : written;
        const bytes = encoder.encode(text);
        assert.deepEqual(topLevelOf(bytes, text), topLevelOf(bytes));
      },
    ),
    { numRuns: 30 },
  );
});

Deno.test("topLevelOf() knows whether a double may round a number", async (t) => {
  const long = [
    '{"a":9007199254740993}',
    '{"a":[1,-9007199254740993]}',
    '{"a":{"b":1e400}}',
    '{"a":-1.5E+999 }',
    '{"a":12345678901234567.5}',
  ];
  const short = [
    '{"a":900719925474099,"b":[true,false,null]}',
    '{"a":[0.12345678901234567,1e22,1e-400,1.5E+99,2]}',
    '{"text":"9007199254740993 1e400","1e400":1}',
  ];
  for (const text of [...long, ...short]) {
    await t.step(text, () => {
      const { hasLongNumber } = topLevelOf(
        new TextEncoder().encode(text),
        text,
      );
      assert.equal(hasLongNumber, long.includes(text));
    });
  }
});
