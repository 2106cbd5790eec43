import assert from "node:assert/strict";
import { ApiError, invalidField } from "../../translate/model/error.ts";
import { withOwnPaths } from "./own_paths.ts";

function moved(param: string, problem: string, earlier: number): unknown[] {
  const error = withOwnPaths(invalidField(param, problem), earlier);
  assert.ok(error instanceof ApiError);
  return [error.message, error.details.param, error.kind];
}

Deno.test("a path of the client's own items keeps the client's number", () => {
  assert.deepEqual(moved("input[7].content", "expected text", 5), [
    "input[2].content: expected text",
    "input[2].content",
    "invalid_request",
  ]);
});

Deno.test("a path of an earlier item names the field that brought it", () => {
  assert.deepEqual(moved("input[3].content", "no, unlike input[6]", 5), [
    "previous_response_id: an earlier item: no, unlike input[1]",
    "previous_response_id",
    "invalid_request",
  ]);
});

Deno.test("other paths and errors, and requests without earlier items, stay as they are", () => {
  assert.deepEqual(moved("tools[1]", "input[1] is no tool", 1).slice(0, 2), [
    "tools[1]: input[1] is no tool",
    "tools[1]",
  ]);
  assert.equal(moved("input[1]", "is no", 0)[1], "input[1]");
  for (const error of [new Error("input[1]"), "input[1]", undefined]) {
    assert.equal(withOwnPaths(error, 1), error);
  }
});
