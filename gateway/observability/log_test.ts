import assert from "node:assert/strict";
import { ApiError } from "../../translate/model/error.ts";
import { errorText } from "./log.ts";

Deno.test("errorText() has no part of what an internal error quotes", () => {
  let text = "";
  try {
    JSON.parse("a secret prompt");
  } catch (error) {
    text = errorText(error);
  }
  assert.match(text, /^SyntaxError \| +at /);
  assert.doesNotMatch(text, /secret|prompt/);
});

Deno.test("errorText() names the kind of an error that clients receive", () => {
  assert.equal(errorText(new ApiError("upstream", "words")), "upstream");
});
