/** Files of lists: cells, and how far a list is read ahead of its reader. */
import assert from "node:assert/strict";
import { allPages } from "../../../gateway/accounts/reports/all_pages.ts";
import { csvOf, csvReply } from "./csv.ts";

Deno.test("csvOf() names the columns also of an empty list, and quotes what a spreadsheet evaluates", async () => {
  let text = "";
  for await (
    const piece of csvOf(["id", "of", "at"], [[
      { id: "=1+1", of: ["a,b", "c"], at: null },
      { id: 'q"', of: { a: 1 }, other: "left out" },
    ]], (row) => row)
  ) text += piece;
  assert.equal(
    text,
    'id,of,at\r\n\'=1+1,"a,b; c",\r\n"q""","{""a"":1}",\r\n',
  );
  let empty = "";
  for await (const piece of csvOf(["id"], [], () => ({}))) empty += piece;
  assert.equal(empty, "id\r\n");
});

Deno.test("a list of a million lines is read no further ahead than two pages", async () => {
  let read = 0;
  const { body } = await csvReply(
    "list",
    csvOf(
      ["id"],
      allPages(
        ({ limit = 0 }) => {
          const data = Array.from({ length: limit }, () => ({ id: read++ }));
          return Promise.resolve({
            data,
            ...(read < 1_000_000 ? { next: "more" } : {}),
          });
        },
        { limit: 1000 },
      ),
      (row) => row,
    ),
  );
  assert.ok(body instanceof ReadableStream);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let lines = 0;
  let ahead = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    lines += value.split("\n").length - 1;
    ahead = Math.max(ahead, read - lines);
  }
  assert.equal(lines, 1_000_001);
  assert.ok(ahead <= 4000, `${ahead} lines were read ahead`);
});
