import assert from "node:assert/strict";
import { invalidField } from "./error.ts";

Deno.test("invalidField() starts the message with the path and limits the client's text in it", () => {
  const short = invalidField("messages[0].content[1]", "is wrong");
  assert.equal(short.message, "messages[0].content[1]: is wrong");
  assert.equal(short.details.param, "messages[0].content[1]");
  const long = invalidField("p".repeat(5_000), "x".repeat(50_000));
  assert.ok(long.message.length < 1_500);
  assert.ok((long.details.param ?? "").length < 400);
  assert.ok(
    invalidField("", `${"x".repeat(999)}\ud83d\ude00`).message.isWellFormed(),
  );
});
