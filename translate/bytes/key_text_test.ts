import assert from "node:assert/strict";
import fc from "fast-check";
import { type JsonObject, objectOr } from "./json.ts";
import { nullFieldEdits, spliceFields, topLevelOf } from "./json_splice.ts";
import { keyText, unsharedKey } from "./key_text.ts";
import { largeObject } from "./large_json.ts";
import { parseText } from "./parse_text.ts";

const ENCODER = new TextEncoder();
/** As the gateway decodes a whole body. */
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const LOOK = {
  isOther: (): boolean => false,
  maxFields: Infinity,
  maxParts: Infinity,
};
/** Keys that splicing sets or leaves out. */
const SET = { stream: true, stream_options: { include_usage: true } };
const LEFT_OUT = ["store", "generate"];

/** What readers of JSON, of Unicode or of names treat in a way of their own. */
const ODD = [
  "\ufeff",
  "\u200c",
  "\u200d",
  "\u0301",
  "\u00e9",
  "e\u0301",
  "\ud800",
  "\udc00",
  "\u{1f600}",
  "\0",
  "\u2028",
  "\ufffd",
  "\u017f",
  "\u212a",
  "\u0130",
  "\uff53",
  "\u00a0",
  " ",
  '"',
  "\\",
  "/",
  "\\u0073",
  ":",
  ",",
  "{",
  "}",
  "__proto__",
  "constructor",
];
const KNOWN = [...Object.keys(SET), ...LEFT_OUT, "model"];
const keys = fc.oneof(
  fc.constantFrom(...KNOWN, ...ODD),
  fc.array(
    fc.oneof(fc.constantFrom(...KNOWN), fc.constantFrom(...ODD)),
    { maxLength: 4 },
  ).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 8 }),
);

/** A key, and the same as JSON, each of its characters raw or escaped. */
const writtenKeys = fc.tuple(keys, fc.array(fc.nat(3))).map(
  ([key, ways]): readonly [string, string] => [
    key,
    `"${[...key].map((char, at) => written(char, ways[at] ?? 0)).join("")}"`,
  ],
);

function written(char: string, way: number): string {
  const isRaw = way < 2 && char.isWellFormed();
  if (isRaw) return JSON.stringify(char).slice(1, -1);
  let text = "";
  for (let at = 0; at < char.length; at++) {
    const code = char.charCodeAt(at).toString(16).padStart(4, "0");
    text += `\\u${way === 2 ? code : code.toUpperCase()}`;
  }
  return text;
}

const blanks = fc.constantFrom("", " ", "\n\t");
/** A text, and the keys that it has. */
const objects = fc.tuple(
  fc.array(
    fc.tuple(
      writtenKeys,
      fc.constantFrom("1", "null", '"a:b,}"', '{"store":1}', "[{}]"),
    ),
    { maxLength: 5 },
  ),
  blanks,
).map(([fields, blank]): readonly [string, readonly string[]] => [
  `{${
    fields.map(([[, key], value]) => `${blank}${key}${blank}:${blank}${value}`)
      .join(`${blank},`)
  }${blank}}`,
  fields.map(([[key]]) => key),
]);

/** The objects that readers see who take the last or the first of equal keys. */
function readingsOf(text: string): readonly JsonObject[] {
  const pairs = [
    ...text.slice(1, -1).matchAll(
      /\s*("(?:[^"\\]|\\.)*")\s*:\s*(\{[^}]*\}|\[[^\]]*\]|"(?:[^"\\]|\\.)*"|[^,]*)\s*(?:,|$)/gs,
    ),
  ].map(([, key = "", value = ""]): [string, unknown] => [
    JSON.parse(key),
    JSON.parse(value),
  ]);
  return [Object.fromEntries(pairs), Object.fromEntries(pairs.toReversed())];
}

/** All that must hold for the text of an object with these keys. */
function assertOneReading(text: string, keys: readonly string[]): void {
  const wanted = [...new Set(keys)].sort();
  const bytes = ENCODER.encode(text);
  const json = objectOr(parseText(text));
  assert.deepEqual(Object.keys(json).sort(), wanted);
  const { top, parse } = drained(largeObject(bytes, LOOK));
  assert.deepEqual(drained(parse()), json);
  for (const { fields } of [topLevelOf(bytes), topLevelOf(bytes, text), top]) {
    assert.deepEqual(fields.map(({ key }) => key), keys);
    assert.equal(
      unsharedKey(fields, json),
      undefined,
    );
  }
  const spliced = DECODER.decode(
    spliceFields(bytes, SET, undefined, LEFT_OUT),
  );
  for (const reading of readingsOf(spliced)) {
    for (const [key, value] of Object.entries(SET)) {
      assert.deepEqual(reading[key], value);
    }
    assert.deepEqual(
      Object.keys(reading).sort(),
      [...new Set([...keys, ...Object.keys(SET)])]
        .filter((key) => !LEFT_OUT.includes(key)).sort(),
    );
  }
}

function drained<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

Deno.test("splicing and parsing read the same keys, however they are written", () => {
  fc.assert(
    fc.property(objects, ([text, keys]) => assertOneReading(text, keys)),
    { numRuns: RUNS },
  );
});

/** Objects of some three keys; 400,000 of them take half a minute. */
const RUNS = 500;

Deno.test("a key that begins with a byte order mark is a key of its own", async (t) => {
  for (const name of ["stream", "stream_options", "store", "model"]) {
    for (const mark of ["\ufeff", "\\ufeff", "\\uFEFF"]) {
      await t.step(`${JSON.stringify(mark)}${name}`, () => {
        const text = `{"${mark}${name}":{},"z":1}`;
        assertOneReading(text, [`\ufeff${name}`, "z"]);
        const bytes = ENCODER.encode(text);
        assert.deepEqual(
          parseText(DECODER.decode(spliceFields(bytes, { [name]: false }))),
          { [`\ufeff${name}`]: {}, z: 1, [name]: false },
        );
        assert.equal(
          spliceFields(bytes, {}, undefined, [name]),
          bytes,
          "nothing is left out",
        );
        assert.deepEqual(
          nullFieldEdits(ENCODER.encode(`{"${mark}${name}":null}`), name),
          [],
        );
      });
    }
  }
});

Deno.test("keyText() reads what is between two positions", async (t) => {
  const rows: readonly (readonly [string, string])[] = [
    ["model", "model"],
    ["mod\\u0065l", "model"],
    ["\ufeffmodel", "\ufeffmodel"],
    ["\\ud800", "\ud800"],
    ["\u00e9", "\u00e9"],
    ['\\"', '"'],
    ["", ""],
  ];
  for (const [raw, key] of rows) {
    await t.step(JSON.stringify(raw), () => {
      const bytes = ENCODER.encode(`"${raw}"`);
      assert.equal(keyText(bytes, 1, bytes.length - 1), key);
    });
  }
});

Deno.test("unsharedKey() names a key that one of two readings does not have", () => {
  const fields = topLevelOf(ENCODER.encode('{"a":1,"b":2}')).fields;
  assert.equal(unsharedKey(fields, { a: 1, b: 2 }), undefined);
  assert.equal(unsharedKey(fields, { a: 1, "\ufeffb": 2 }), "b");
  assert.equal(unsharedKey(fields, { a: 1, b: 2, c: 3 }), "c");
  assert.equal(unsharedKey(fields, { a: 1 }), "b");
});
