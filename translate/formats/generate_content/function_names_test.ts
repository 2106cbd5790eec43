import assert from "node:assert/strict";
import { changedFunctionNames, functionName } from "./function_names.ts";

const SHAPE = /^[A-Za-z_][A-Za-z0-9_.:-]*$/;

Deno.test("functionName() keeps valid names", () => {
  for (const name of ["f", "_f", "get.weather:now-2", "a".repeat(64)]) {
    assert.equal(functionName(name, 64), name);
  }
});

Deno.test("functionName() makes a distinct valid name of any other", () => {
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

Deno.test("changedFunctionNames() maps only changed names back to the client's names", () => {
  const changed = changedFunctionNames(["plain", "a b"], 64);
  assert.deepEqual([...changed], [[functionName("a b", 64), "a b"]]);
});
