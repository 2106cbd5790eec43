import assert from "node:assert/strict";
import fc from "fast-check";
import { deriveSeal } from "./seal.ts";

const KEY = "sk-test-0123456789abcdef";

Deno.test("a text that was sealed opens with the same key at the same address", async () => {
  const seal = await deriveSeal(KEY);
  const again = await deriveSeal(KEY);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme" }), async (text) => {
      const address = await seal.addressOf("reply", text);
      assert.equal(await again.addressOf("reply", text), address);
      const sealed = await seal.close(address, text);
      assert.equal(await again.open(address, sealed), text);
    }),
    { numRuns: 50 },
  );
});

Deno.test("a sealed text opens with no other key, at no other address, and not after a change", async () => {
  const seal = await deriveSeal(KEY);
  const other = await deriveSeal(`${KEY}0`);
  const address = await seal.addressOf("reply", "resp_1");
  const sealed = await seal.close(address, "a secret");
  await assert.rejects(other.open(address, sealed));
  await assert.rejects(
    seal.open(await seal.addressOf("reply", "resp_2"), sealed),
  );
  const at = sealed.length - 4;
  const changed = sealed.slice(0, at) + (sealed[at] === "A" ? "B" : "A") +
    sealed.slice(at + 1);
  await assert.rejects(seal.open(address, changed));
  await assert.rejects(seal.open(address, `2.${sealed.slice(2)}`), /seal/);
});

Deno.test("two keys have different addresses for one id, and ids of two kinds never share one", async () => {
  const seal = await deriveSeal(KEY);
  const other = await deriveSeal(`${KEY}0`);
  const addresses = [
    await seal.addressOf("reply", "x"),
    await seal.addressOf("item", "x"),
    await other.addressOf("reply", "x"),
  ];
  assert.equal(new Set(addresses).size, 3);
});

Deno.test("the same text is sealed differently each time", async () => {
  const seal = await deriveSeal(KEY);
  assert.notEqual(await seal.close("a", "x"), await seal.close("a", "x"));
});
