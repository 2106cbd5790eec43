import assert from "node:assert/strict";
import fc from "fast-check";
import { deriveSeal } from "./seal.ts";

const KEY = "sk-test-0123456789abcdef";

Deno.test("a text that was sealed opens with the same key at the same address", async () => {
  const seal = deriveSeal(KEY);
  const again = deriveSeal(KEY);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme" }), async (text) => {
      const address = seal.addressOf("reply", text);
      assert.equal(again.addressOf("reply", text), address);
      const sealed = await seal.close(address, text);
      assert.equal(await again.open(address, sealed), text);
    }),
    { numRuns: 50 },
  );
});

Deno.test("a sealed text opens with no other key, at no other address, and not after a change", async () => {
  const seal = deriveSeal(KEY);
  const other = deriveSeal(`${KEY}0`);
  const address = seal.addressOf("reply", "resp_1");
  const sealed = await seal.close(address, "a secret");
  await assert.rejects(other.open(address, sealed));
  await assert.rejects(seal.open(seal.addressOf("reply", "resp_2"), sealed));
  const at = sealed.length - 4;
  const changed = sealed.slice(0, at) + (sealed[at] === "A" ? "B" : "A") +
    sealed.slice(at + 1);
  await assert.rejects(seal.open(address, changed));
  await assert.rejects(seal.open(address, `2.${sealed.slice(2)}`), /seal/);
});

Deno.test("two keys have different addresses for one id, and ids of two kinds never share one", () => {
  const seal = deriveSeal(KEY);
  const other = deriveSeal(`${KEY}0`);
  const addresses = [
    seal.addressOf("reply", "x"),
    seal.addressOf("item", "x"),
    other.addressOf("reply", "x"),
  ];
  assert.equal(new Set(addresses).size, 3);
});

Deno.test("the same text is sealed differently each time", async () => {
  const seal = deriveSeal(KEY);
  assert.notEqual(await seal.close("a", "x"), await seal.close("a", "x"));
});

Deno.test("a row of an earlier version opens: the derived keys and the form of a row stay the same", async () => {
  const seal = deriveSeal(KEY);
  const address = seal.addressOf("reply", "resp_1");
  assert.equal(address, "fEYqotgBLBdBG1KfaYrV0f_tSnA9fw-423yZaT9D5xo");
  const sealed = "1.8j6lc3agGNzLl1WLrALpt9Ed93WGUIQ2MarFqeKOU6FC+xFsgSogJV23";
  assert.equal(await seal.open(address, sealed), "a “secret”");
});

Deno.test("texts around the length from which a thread encrypts open again, and not after a change", async () => {
  const seal = deriveSeal(KEY);
  for (const length of [0, 32_751, 32_752, 32_753, 32_768, 32_769, 100_000]) {
    const text = "x".repeat(length);
    const sealed = await seal.close("a", text);
    assert.equal(await seal.open("a", sealed), text);
    await assert.rejects(seal.open("b", sealed));
    await assert.rejects(seal.open("a", sealed.slice(0, -8)));
  }
  await assert.rejects(seal.open("a", "1.AAAA"));
});
