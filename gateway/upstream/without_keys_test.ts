import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { keyFilter, withoutKeys } from "./without_keys.ts";
import { joinPieces } from "../../translate/bytes/buffers.ts";

const KEY = "sk-vendor-0123456789abcdef";
const OTHER = "sk-vendor-Zzzzzzzzzzzz";

function through(chunks: readonly Uint8Array[]): {
  readonly text: string;
  readonly found: boolean;
} {
  const filter = keyFilter([KEY, "short", OTHER]);
  assert.ok(filter !== undefined);
  const out = [...chunks.map((chunk) => filter.push(chunk)), filter.rest()];
  const text = new TextDecoder().decode(joinPieces(out));
  return { text, found: filter.found() };
}

Deno.test("keyFilter() removes keys wherever chunks are cut, and changes nothing else", () => {
  for (
    const [text, clean] of [
      [`data: é ${KEY} short ü\n\n`, "data: é [removed] short ü\n\n"],
      [`${KEY}${OTHER}sk-vendor-`, "[removed][removed]sk-vendor-"],
      [`sk-sk-vendor-${KEY}`, "sk-sk-vendor-[removed]"],
      ["data: sk-vendor-012345678 é\n\n", "data: sk-vendor-012345678 é\n\n"],
    ] as const
  ) {
    const bytes = new TextEncoder().encode(text);
    for (let cut = 0; cut <= bytes.length; cut++) {
      for (let next = cut; next <= bytes.length; next += 3) {
        const chunks = [
          bytes.subarray(0, cut),
          bytes.subarray(cut, next),
          bytes.subarray(next),
        ];
        const expected = { text: clean, found: clean !== text };
        assert.deepEqual(through(chunks), expected, `${cut}, ${next}`);
      }
    }
  }
});

const BYTES = new TextEncoder().encode(KEY);
const CHARS = [...KEY];
const HEX = BYTES.toHex();
const FORMS: Readonly<Record<string, string>> = {
  plain: KEY,
  "upper case": KEY.toUpperCase(),
  reversed: CHARS.toReversed().join(""),
  spaced: CHARS.join(" "),
  hexadecimal: HEX,
  "hexadecimal, upper case": HEX.toUpperCase(),
  "hexadecimal, by colons": HEX.match(/../g)?.join(":") ?? "",
  "URL, every character": `%${HEX.match(/../g)?.join("%")}`,
  "HTML, every character": CHARS.map((one) => `&#${one.charCodeAt(0)};`)
    .join(""),
  "JSON, every character": CHARS.map((one) =>
    `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`
  ).join(""),
  base64: BYTES.toBase64(),
  "base64 of more": btoa(`Bearer ${KEY}`),
  "base64 for URLs": new TextEncoder().encode(`a:${KEY}??`).toBase64({
    alphabet: "base64url",
  }),
};

for (const [name, form] of Object.entries(FORMS)) {
  Deno.test(`a key is removed from whole replies and streams: ${name}`, () => {
    const text = `{"text":"é ${form} ü"}\n`;
    const bytes = new TextEncoder().encode(text);
    const whole = new TextDecoder().decode(withoutKeys(bytes, [OTHER, KEY]));
    assert.match(whole, /^\{"text":"é [\w+=/-]*\[removed\][\w+=/-]* ü"\}\n$/);
    assert.ok(whole.length < text.length - KEY.length + 24, whole);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const { text, found } = through([
        bytes.subarray(0, cut),
        bytes.subarray(cut),
      ]);
      assert.deepEqual({ text, found }, { text: whole, found: true }, `${cut}`);
    }
  });
}

Deno.test("withoutKeys() finds a key wherever it is, in any bytes", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(
        fc.constantFrom(KEY, OTHER, HEX, "sk-vendor-", "s k - v", "737"),
      ),
      fc.uint8Array({ maxLength: 40 }),
      (before, parts, after) => {
        const text = `${parts.join("|")}|`;
        const bytes = new Uint8Array([
          ...before,
          ...new TextEncoder().encode(text),
          ...after,
        ]);
        const clean = Buffer.from(withoutKeys(bytes, [KEY, OTHER]))
          .toString("latin1");
        let expected = Buffer.from(bytes).toString("latin1");
        for (const key of [KEY, OTHER, HEX]) {
          expected = expected.replaceAll(key, "[removed]");
        }
        assert.equal(clean, expected);
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("keyFilter() passes chunks without a key on as they are", () => {
  const filter = keyFilter([KEY]);
  const chunk = new TextEncoder().encode('data: {"text":"sk-vendor-"}\n\n');
  assert.equal(filter?.push(chunk), chunk);
  assert.equal(keyFilter(["short"]), undefined);
});
