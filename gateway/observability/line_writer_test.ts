import assert from "node:assert/strict";
import { lineWriter } from "./line_writer.ts";

Deno.test("lines added together are written together, in order, without flush()", async () => {
  const written = Promise.withResolvers<string>();
  const lines = lineWriter(written.resolve);
  lines.line("a");
  lines.line("b");
  assert.equal(await written.promise, "a\nb");
});

Deno.test("flush() writes the buffered lines once", () => {
  const written: string[] = [];
  const lines = lineWriter((text) => written.push(text));
  lines.flush();
  lines.line("a");
  lines.flush();
  lines.flush();
  lines.line("b");
  lines.flush();
  assert.deepEqual(written, ["a", "b"]);
});

Deno.test("many lines are written at once", () => {
  const written: string[] = [];
  const lines = lineWriter((text) => written.push(text));
  for (let n = 0; n < 70; n++) lines.line("x".repeat(1000));
  assert.equal(written.length, 1);
  lines.flush();
  assert.equal(written.join("\n").length, 70 * 1001 - 1);
});
