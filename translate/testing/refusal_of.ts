import assert from "node:assert/strict";
import { ApiError } from "../mod.ts";

/** Runs what must refuse a request, and returns its error. */
export function refusalOf(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof ApiError);
    assert.equal(error.kind, "invalid_request");
    return error;
  }
  assert.fail("the request was accepted");
}
