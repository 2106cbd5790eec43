/**
 * Refusals of unread bodies as real clients see them: Node's connection pools, and client libraries
 * with bodies beyond the limit.
 */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { anthropicAt, openaiAt } from "../support/clients/library_clients.ts";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";

const LARGE = { bytes: 40 * 1024 * 1024, times: 20 };
const MODEL = "vendorb-5";

/** Whether a program is installed. */
async function has(name: string): Promise<boolean> {
  const found = await new Deno.Command(name, { args: ["--version"] }).output()
    .catch(() => undefined);
  return found?.success === true;
}

async function output(name: string, args: readonly string[]): Promise<unknown> {
  const { success, stdout, stderr } = await new Deno.Command(name, {
    args: [...args],
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  assert.ok(success, text.decode(stderr));
  return JSON.parse(text.decode(stdout));
}

/** A valid call; the client program builds its body, with `bytes` bytes of padding. */
const right = {
  status: 200,
  path: "/v1/messages",
  headers: { "x-api-key": TEST_KEY },
  json: {
    model: MODEL,
    max_tokens: 16,
    messages: [{ role: "user", content: "[[fx:text]]" }],
  },
  bytes: 0,
};

/**
 * Refused calls whose bodies the gateway need not read; the last one is refused while its body is
 * still arriving.
 */
const refused = [
  { status: 401, headers: { "x-api-key": "sk-wrong" }, bytes: 30_000 },
  { status: 404, path: "/v1/nothing", bytes: 30_000 },
  { status: 405, method: "PUT", bytes: 30_000 },
  { status: 413, bytes: 200_000 },
  { status: 401, headers: { "x-api-key": "sk-wrong" }, bytes: 1_500_000 },
].map((call) => ({ ...right, ...call }));

/** Expected outcomes of `rounds` refused calls and as many valid ones. */
function expected(rounds: number): Record<string, number> {
  const outcomes: Record<string, number> = { "200: 200": rounds };
  for (let round = 0; round < rounds; round++) {
    const status = refused[round % refused.length]?.status;
    const outcome = `${status}: ${status}`;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  return outcomes;
}

Deno.test({
  name:
    "Node's connection pools lose no call among refused ones, and its fetch receives the refusal of 40 MB",
  ignore: !(await has("node")),
  async fn() {
    await using gateway = await startTestGateway({
      env: { GATEWAY_MAX_BODY_BYTES: "100000" },
    });
    const rounds = 200;
    const found = await output("node", [
      new URL("../support/clients/node_client.mjs", import.meta.url).pathname,
      JSON.stringify({
        url: gateway.url,
        key: TEST_KEY,
        right,
        refused,
        rounds,
        large: LARGE,
      }),
    ]);
    assert.deepEqual(found, {
      fetch: expected(rounds),
      agent: expected(rounds),
      large: { "413: the body is larger than 100000 bytes": LARGE.times },
    });
  },
});

Deno.test("both client libraries on Deno receive the refusal of 40 MB", async (t) => {
  await using gateway = await startTestGateway();
  const content = "x".repeat(LARGE.bytes);
  const ask = { model: MODEL, max_tokens: 16 };
  await t.step("messages", async () => {
    const client = anthropicAt(gateway.url);
    for (let i = 0; i < LARGE.times; i++) {
      await assert.rejects(
        client.messages.create({
          ...ask,
          messages: [{ role: "user", content }],
        }),
        (error: unknown) =>
          error instanceof Anthropic.APIError && error.status === 413 &&
          JSON.stringify(error.error).includes("request_too_large"),
      );
    }
  });
  await t.step("chat completions", async () => {
    const client = openaiAt(gateway.url);
    for (let i = 0; i < LARGE.times; i++) {
      await assert.rejects(
        client.chat.completions.create({
          ...ask,
          messages: [{ role: "user", content }],
        }),
        (error: unknown) =>
          error instanceof OpenAI.APIError && error.status === 413 &&
          error.type === "invalid_request_error",
      );
    }
  });
});
