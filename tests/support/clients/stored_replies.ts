/**
 * Helpers for tests of stored replies through the official library.
 */
import assert from "node:assert/strict";
import OpenAI from "openai";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
  type TestGatewayOptions,
} from "../test_gateway.ts";

/** A client of the gateway at an address; its default key is the test gateway's. */
export function openaiAt(url: string, apiKey = TEST_KEY): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

export async function withGateway(
  run: (gateway: TestGateway) => Promise<void>,
  options: TestGatewayOptions = {},
): Promise<void> {
  await using gateway = await startTestGateway(options);
  await run(gateway);
}

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
