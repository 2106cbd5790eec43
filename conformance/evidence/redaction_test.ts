import assert from "node:assert/strict";
import { containedKey, Redaction } from "./redaction.ts";

const KEY = "sk-0123456789abcdef";

Deno.test("Redaction masks a key in texts and bytes and keeps every length", () => {
  const redaction = new Redaction();
  redaction.hide(KEY);
  const text = `bad key "${KEY}" ${KEY.toUpperCase()}`;
  const clean = redaction.text(text);
  assert.equal(clean.length, text.length);
  assert.ok(containedKey(clean) && !clean.includes("0123456789"));
  const bytes = new TextEncoder().encode(`é ${KEY} é`);
  const masked = redaction.bytes(bytes);
  assert.equal(masked.length, bytes.length);
  assert.match(new TextDecoder().decode(masked), /^é \{\{KEY\*+\}\} é$/);
});

Deno.test("assertClean() refuses a text that contains a key", () => {
  const redaction = new Redaction();
  redaction.hide(KEY);
  assert.throws(() => redaction.assertClean(`x ${KEY}`), /contains a key/);
  redaction.assertClean("nothing");
});

Deno.test("Redaction masks the end of a key, whatever was inserted between its first characters", () => {
  const redaction = new Redaction();
  redaction.hide(KEY);
  for (const inner of ["\\t", "\u00a0", "%20", " "]) {
    const clean = redaction.text(`${KEY.slice(0, 6)}${inner}${KEY.slice(6)}`);
    assert.ok(containedKey(clean) && !clean.includes("9abcdef"), clean);
  }
});
