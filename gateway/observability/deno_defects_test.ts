import assert from "node:assert/strict";
import { denoDefects } from "./deno_defects.ts";

for (
  const [version, count] of [
    ["2.5.0", 0],
    ["2.7.12", 0],
    ["2.8.2", 0],
    ["2.8.3", 1],
    ["2.9.0", 1],
    ["2.9.6", 1],
    ["2.9.7", 0],
    ["2.10.0", 0],
    ["3.0.0", 0],
  ] as const
) {
  Deno.test(`denoDefects() reports ${count === 0 ? "no defect" : "a defect"} of Deno ${version}`, () => {
    const lines = denoDefects(version);
    assert.equal(lines.length, count);
    const text = new RegExp(`^Deno ${version} .*disconnects.*charged\\.$`);
    for (const line of lines) assert.match(line, text);
  });
}
