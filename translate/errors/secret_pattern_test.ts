import assert from "node:assert/strict";
import { secretPattern } from "./secret_pattern.ts";

const SECRET = 'sk-Vendor_0123+/="\\&<é';
const BYTES = new TextEncoder().encode(SECRET);

function each(one: (character: string) => string): string {
  return [...SECRET].map(one).join("");
}
const hex = (character: string): string =>
  (character.codePointAt(0) ?? 0).toString(16);

const SPELLINGS: Readonly<Record<string, string>> = {
  plain: SECRET,
  JSON: JSON.stringify(SECRET).slice(1, -1),
  "JSON, every character": each((one) => `\\u${hex(one).padStart(4, "0")}`),
  URL: encodeURIComponent(SECRET),
  "URL, every character, lower case": [...BYTES].map((byte) =>
    `%${byte.toString(16)}`
  ).join(""),
  HTML: SECRET.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
    .replaceAll('"', "&quot;"),
  "HTML, decimal": each((one) => `&#${one.codePointAt(0)};`),
  "HTML, hexadecimal": each((one) => `&#x${hex(one).toUpperCase()};`),
  "upper case": SECRET.toUpperCase(),
  "lower case": SECRET.toLowerCase(),
  reversed: [...SECRET].toReversed().join(""),
  spaced: [...SECRET].join(" "),
  "spaced by zero-width characters": [...SECRET].join("\u200b"),
  "hexadecimal": BYTES.toHex(),
  "hexadecimal, upper case": BYTES.toHex().toUpperCase(),
  "hexadecimal, by colons": BYTES.toHex().match(/../g)?.join(":") ?? "",
  "hexadecimal, of C": `\\x${BYTES.toHex().match(/../g)?.join("\\x")}`,
  base64: BYTES.toBase64(),
  "base64 for URLs": BYTES.toBase64({ alphabet: "base64url" }),
};

Deno.test("secretPattern() matches every spelling of a secret whole, and only it", () => {
  for (const [name, spelling] of Object.entries(SPELLINGS)) {
    assert.equal(
      `key ${spelling}, twice ${spelling}.`.replace(secretPattern(SECRET), "X"),
      "key X, twice X.",
      name,
    );
  }
  const other = 'sk-Vendor_0123+/="\\&<e';
  assert.equal(other.replace(secretPattern(SECRET), "X"), other);
});

Deno.test("secretPattern() finds a secret inside a longer text in base64, wherever it begins", () => {
  const secret = "sk-vendor-0123456789abcdef";
  for (const before of ["", "a", "ab", "abc", "Bearer "]) {
    const encoded = new TextEncoder().encode(`${before}${secret}:x`).toBase64();
    const rest = encoded.replace(secretPattern(secret), "[removed]");
    assert.ok(rest.includes("[removed]"), `${before}: ${rest}`);
  }
});
