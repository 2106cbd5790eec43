import assert from "node:assert/strict";
import { DEFAULT_CAPABILITIES } from "../../model/capabilities.ts";
import { cleanRequest } from "./clean_request.ts";
import {
  callItem,
  inputOf,
  outputItem,
  user,
} from "../../testing/request_samples.ts";

const CAN = DEFAULT_CAPABILITIES.responses;

Deno.test("cleanRequest() gives calls that repeat an id one each, and their results alike", () => {
  const input = (...ids: readonly string[]) =>
    inputOf(
      user("a"),
      ...ids.flatMap((call_id) => [
        callItem(call_id),
        outputItem(call_id, "r"),
      ]),
    );
  assert.equal(cleanRequest(input("call_0", "call_1"), CAN), undefined);
  assert.deepEqual(cleanRequest(input("call_0", "b", "call_0"), CAN), {
    fields: input("call_0", "b", "call_0_1"),
    removed: [],
  });
});
