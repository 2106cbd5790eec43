import assert from "node:assert/strict";
import { invalidField } from "../../model/error.ts";
import { stateErrors } from "./state_errors.ts";

function moved(param: string, problem: string, earlier: number): unknown[] {
  const { message, details, kind } = stateErrors.own(
    invalidField(param, problem),
    earlier,
  );
  return [message, details.param, kind];
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

Deno.test("other paths, and requests without earlier items, stay as they are", () => {
  assert.deepEqual(moved("tools[1]", "input[1] is no tool", 1).slice(0, 2), [
    "tools[1]: input[1] is no tool",
    "tools[1]",
  ]);
  assert.equal(moved("input[1]", "is no", 0)[1], "input[1]");
});

Deno.test("a conversation that is too long names the field that makes it so", () => {
  const asked = { store: true, references: [] };
  const { details } = stateErrors.tooLong(asked, 10);
  assert.equal(details.param, "input");
  assert.equal(
    stateErrors.tooLong({ ...asked, previousId: "x" }, 10).details.param,
    "previous_response_id",
  );
});
