import assert from "node:assert/strict";
import fc from "fast-check";
import { duplicateKey } from "./duplicate_key.ts";
import { topLevelOf } from "./json_splice.ts";
import { LargeJsonError, largeObject } from "./large_json.ts";

const LOOK = {
  isOther: (key: string): boolean => key === "Model",
  maxFields: 1_000,
  maxParts: 1_000_000,
};
const ENCODER = new TextEncoder();
const LONG = 128 * 1024;

/** The result of all steps. */
function drained<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function read(text: string | Uint8Array) {
  const bytes = typeof text === "string" ? ENCODER.encode(text) : text;
  const object = drained(largeObject(bytes, LOOK));
  const json = drained(object.parse());
  return { ...object, json };
}

/** Texts, some of them longer than a step, of everything that is escaped or encoded. */
const texts = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.tuple(
    fc.constantFrom("a", 'say "no"\n', "\\", "é", "\u{1f600}", "\ud83d", " "),
    fc.integer({ min: 1, max: 3 * LONG }),
  ).map(([text, length]) => text.repeat(Math.ceil(length / text.length))),
);
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    texts,
    fc.constantFrom(null, true, 0, -1.5, 12, {}, []),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.string(), fc.constant("__proto__")),
      tie("value"),
      {
        maxKeys: 4,
      },
    ),
  ),
})).value;
const objects = fc.dictionary(fc.string(), values, { minKeys: 1, maxKeys: 4 });

Deno.test("an object that is read in steps equals one that is read at once", () => {
  fc.assert(
    fc.property(objects, fc.constantFrom(undefined, 1), (object, space) => {
      const text = JSON.stringify(object, null, space);
      const bytes = ENCODER.encode(text);
      const { json, top } = read(text);
      assert.deepEqual(json, JSON.parse(new TextDecoder().decode(bytes)));
      const { hasLongNumber: _, ...atOnce } = topLevelOf(
        bytes,
        undefined,
        LOOK,
      );
      assert.deepEqual(top, atOnce);
    }),
    { numRuns: 150 },
  );
});

const MANY = Array.from({ length: 8_000 }, (_, i) => ({ i, text: "é" }));
const WHOLE = JSON.stringify({
  a: [1, "x".repeat(3 * LONG), MANY, 2],
  b: { "\u00e9": { c: MANY, __proto__x: [[MANY]] } },
  n: 12345678901234567890n.toString(),
});

Deno.test("long numbers keep their digits", () => {
  const text = `{"a":[${"10,".repeat(LONG)}12345678901234567890,1e400]}`;
  assert.ok(JSON.stringify(read(text).json) === text);
});

Deno.test("a text without its end, or with a wrong byte anywhere, is read as JSON.parse reads it", () => {
  const places = [0, 1, 5, LONG, 2 * LONG, 3 * LONG + 3];
  for (let at = 7; at < WHOLE.length; at += 600_011) places.push(at);
  for (let back = 1; back < 12; back++) places.push(WHOLE.length - back);
  for (const at of places) {
    for (
      const wrong of ['"', "}", "]", ",", ":", "\\", "{", "[", "0", " ", ""]
    ) {
      const text = WHOLE.slice(0, at) + wrong + WHOLE.slice(at + 1);
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        assert.throws(() => read(text), LargeJsonError, `${at} ${wrong}`);
        continue;
      }
      assert.deepEqual(read(text).json, expected);
    }
    assert.throws(() => read(WHOLE.slice(0, at)), LargeJsonError);
  }
});

const BLANKS = " ".repeat(5 * LONG);
const WRONG: readonly string[] = [
  `[${WHOLE}]`,
  `{"a":${BLANKS}1}`,
  `{"a":${"1".repeat(5 * LONG)}}`,
  `{"${"k".repeat(2 * LONG)}":1}`,
  `{"a":["${"x".repeat(LONG)}" "${"x".repeat(LONG)}"]}`,
  `{"a":[1"${"x".repeat(LONG)}"]}`,
  `{"a":["${"x".repeat(LONG)}",]}`,
  `{"a":[,"${"x".repeat(LONG)}"]}`,
  `{"a":["${"x".repeat(LONG)}"}}`,
  `{"a" "${"x".repeat(LONG)}"}`,
  `{"a":1,,"b":"${"x".repeat(LONG)}"}`,
  `{"a":"${"x".repeat(LONG)}\\u12"}`,
  `{"a":"${"x".repeat(LONG)}\n"}`,
  `${WHOLE}${WHOLE}`,
];

for (const [row, text] of WRONG.entries()) {
  Deno.test(`wrong bytes are refused: ${row}`, () => {
    assert.throws(() => read(text), LargeJsonError);
  });
}

Deno.test("bytes that are no UTF-8 are refused, also inside a long text", () => {
  for (const at of [20, 2 * LONG]) {
    const bytes = ENCODER.encode(`{"a":"${"x".repeat(3 * LONG)}"}`);
    bytes[at] = 0xc3;
    assert.throws(() => read(bytes), /UTF-8/);
  }
});

Deno.test("a repeated key is found wherever it is, with its path", () => {
  const long = `"${"x".repeat(LONG)}"`;
  const free = new Set(["input"]);
  for (
    const text of [
      `{"a":${long},"b":{"a":1},"a":2}`,
      `{"b":[${long},{"c":[{"d":1},{"d":1,"d":2}]}]}`,
      `{"b":[0,1,[${long}],{"c":{"e":${long},"d":1,"e":2}}]}`,
      `{"b":[{"input":{"e":${long},"e":2}},{"a":1,"a":1}]}`,
      `{"b":[{"input":{"e":${long},"e":2}},{"input":[{"x":1,"x":${long}}]}]}`,
      `{"b":{"__proto__":${long},"__proto__":1}}`,
    ]
  ) {
    const { duplicateKey: found } = read(text);
    assert.equal(
      drained(found(free)),
      duplicateKey(text, free),
      text.slice(0, 40),
    );
  }
  assert.equal(drained(read(WHOLE).duplicateKey(free)), undefined);
});

Deno.test("bounds end the reading, and another spelling of a key is noticed", () => {
  const exceeded = (text: string) =>
    drained(largeObject(ENCODER.encode(text), LOOK)).top.exceeds;
  const fields = Array.from({ length: 1_001 }, (_, i) => `"k${i}":1`);
  assert.equal(exceeded(`{${fields.join()}}`), "maxFields");
  assert.equal(exceeded(`{"a":[${"[],".repeat(500_000)}1]}`), "maxParts");
  for (const text of ['{"Model":1}', '{"a":[{"\\u004dodel":1}]}']) {
    assert.equal(read(text).top.otherSpelling, true);
  }
});
