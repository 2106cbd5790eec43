import assert from "node:assert/strict";
import { changedFunctionNames, functionName } from "./names.ts";

const SHAPE = /^[A-Za-z_][A-Za-z0-9_.:-]*$/;

Deno.test("functionName() keeps names that the wire takes", () => {
  for (const name of ["f", "_f", "get.weather:now-2", "a".repeat(64)]) {
    assert.equal(functionName(name, 64), name);
  }
});

Deno.test("functionName() gives a name of the right shape for any other, never the same for two", () => {
  const long = "mcp__server__".padEnd(70, "x");
  const names = ["1st", "-a", "a b", "größe", "a/b", long + "1", long + "2"];
  const wire = names.map((name) => functionName(name, 64));
  for (const name of wire) {
    assert.match(name, SHAPE);
    assert.ok(name.length <= 64, name);
  }
  assert.equal(new Set(wire).size, names.length);
  assert.equal(wire[0], "_1st_e01ddf65");
});

Deno.test("changedFunctionNames() maps only what changed, back to the caller's name", () => {
  const changed = changedFunctionNames(["plain", "a b"], 64);
  assert.deepEqual([...changed], [[functionName("a b", 64), "a b"]]);
});
