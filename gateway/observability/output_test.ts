import assert from "node:assert/strict";
import { standardOutput } from "./output.ts";

Deno.test("what follows a line that a full disk cut begins on a line of its own", async () => {
  const file = { text: "", room: Infinity };
  const output = standardOutput((bytes) => {
    if (file.room === 0) return Promise.reject(new Error("no space left"));
    const taken = bytes.subarray(0, file.room);
    file.text += new TextDecoder().decode(taken);
    file.room -= taken.length;
    return Promise.resolve(taken.length);
  });
  await output("first\n");
  file.room = 9;
  await assert.rejects(output("second\nthird\n"));
  await assert.rejects(output("fourth\n"));
  file.room = Infinity;
  await output("fifth\n");
  await output("sixth\n");
  assert.equal(file.text, "first\nsecond\nth\nfifth\nsixth\n");
});
