/**
 * Helpers for tests of stored replies through the official library.
 */
import assert from "node:assert/strict";
import OpenAI from "openai";

/** The error that the library throws. */
export async function fault(
  call: Promise<unknown>,
): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await call.then(() => undefined, (error) => error);
  assert.ok(error instanceof OpenAI.APIError, String(error));
  return error;
}

/** The library's types lack the field. */
export function isStored(reply: object): unknown {
  return Reflect.get(reply, "store");
}
