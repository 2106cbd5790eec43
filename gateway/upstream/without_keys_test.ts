import assert from "node:assert/strict";
import { keyFilter } from "./without_keys.ts";
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

Deno.test("keyFilter() passes chunks without a key on as they are", () => {
  const filter = keyFilter([KEY]);
  const chunk = new TextEncoder().encode('data: {"text":"sk-vendor-"}\n\n');
  assert.equal(filter?.push(chunk), chunk);
  assert.equal(keyFilter(["short"]), undefined);
});
