import assert from "node:assert/strict";
import { isWellFormed, keyHash, keyHint, newKey } from "./key.ts";

Deno.test("newKey() returns well-formed, distinct keys", () => {
  const keys = Array.from({ length: 100 }, newKey);
  assert.equal(new Set(keys).size, 100);
  assert.ok(keys.every((key) => isWellFormed(key)));
});

Deno.test("isWellFormed() detects a changed letter", () => {
  const key = newKey();
  const other = key[10] === "a" ? "b" : "a";
  assert.equal(isWellFormed(key.slice(0, 10) + other + key.slice(11)), false);
});

for (
  const [what, change] of [
    ["a leading blank", (key: string) => ` ${key}`],
    ["a trailing line end", (key: string) => `${key}\n`],
    ["quotes", (key: string) => `"${key}"`],
    ["a missing end", (key: string) => key.slice(0, -1)],
    ["another prefix", (key: string) => key.replace("sk-", "pk-")],
  ] as const
) {
  Deno.test(`isWellFormed() refuses a key with ${what}`, () => {
    assert.equal(isWellFormed(change(newKey())), false);
  });
}

Deno.test("keyHint() shows too little to call with", () => {
  const key = newKey();
  assert.equal(keyHint(key).length, 12);
});

Deno.test("keyHash() returns the SHA-256 in hexadecimal", () => {
  assert.equal(
    keyHash("abc"),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});
