import assert from "node:assert/strict";
import { cleanRequest } from "./clean_request.ts";

Deno.test("cleanRequest() gives calls that repeat an id one each, and their results alike", () => {
  const input = (...ids: readonly string[]) => ({
    input: [
      { role: "user", content: "a" },
      ...ids.flatMap((call_id) => [
        { type: "function_call", call_id, name: "f", arguments: "{}" },
        { type: "function_call_output", call_id, output: "r" },
      ]),
    ],
  });
  assert.equal(cleanRequest(input("call_0", "call_1")), undefined);
  assert.deepEqual(cleanRequest(input("call_0", "b", "call_0")), {
    fields: input("call_0", "b", "call_0_1"),
    removed: [],
  });
});
