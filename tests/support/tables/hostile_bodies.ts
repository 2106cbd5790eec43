/**
 * Tables of hostile request bodies: each row is sent over plain TCP to every endpoint that takes a
 * body.
 */
import assert from "node:assert/strict";
import { errorReply } from "../../../routes/reply_schemas.ts";
import { RawClient } from "../clients/raw_client.ts";
import { startTestGateway, type TestGateway } from "../test_gateway.ts";

const PATHS: readonly string[] = [
  "/v1/messages",
  "/v1/chat/completions",
  "/v1/messages/count_tokens",
  "/v1/chat/completions/input_tokens",
];
/** One model for each upstream format. */
export const MODELS: readonly string[] = [
  "vendora-opus-4-8",
  "vendorb-5.5",
  "vendorc-3-pro",
];

/** JSON text of a valid request for a model; `more` is appended after the last field. */
export function requestText(model: string, more: string = ""): string {
  return `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]${more}}`;
}

/** Whether a valid call succeeds on the given connection; absent: on a new one. */
async function isServed(
  gateway: TestGateway,
  path: string,
  caller?: RawClient,
): Promise<boolean> {
  const own = caller ?? await RawClient.connect(gateway);
  try {
    await own.post(path, requestText("vendorb-5"));
    return (await own.answer())?.status === 200;
  } finally {
    if (caller === undefined) own.close();
  }
}

export interface BodyRow {
  readonly name: string;
  readonly body: string | Uint8Array;
  /** Replace the default headers; undefined removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Expected status; absent: any 4xx, or 200 for a body that the gateway can serve. */
  readonly status?: number;
}

async function check(
  gateway: TestGateway,
  path: string,
  { body, headers, status }: BodyRow,
): Promise<void> {
  using caller = await RawClient.connect(gateway);
  await caller.post(path, body, headers);
  const answer = await caller.answer();
  assert.ok(answer !== undefined, "no answer");
  const shown = `${answer.status}: ${answer.body.slice(0, 500)}`;
  if (status !== undefined) assert.equal(answer.status, status, shown);
  assert.ok(answer.status < 500, shown);
  assert.ok(answer.body.length < 100_000, "the answer is as long as the body");
  if (answer.status !== 200) {
    const { error, request_id } = errorReply.parse(JSON.parse(answer.body));
    assert.ok(error.message.length < 2_000, shown);
    assert.equal(request_id, answer.headers.get("request-id"));
  }
  assert.ok(await isServed(gateway, path, caller), "on the same connection");
  assert.ok(await isServed(gateway, path), "on a fresh connection");
  assert.equal(gateway.gateway.concurrency.inUse(), 0);
}

/**
 * Runs a table on every endpoint that takes a body. After each row a valid request must succeed, on
 * the same connection and on a new one.
 */
export async function runBodies(
  t: Deno.TestContext,
  rows: readonly BodyRow[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await using gateway = await startTestGateway({ env });
  for (const path of PATHS) {
    for (const row of rows) {
      await t.step(`${path}: ${row.name}`, () => check(gateway, path, row));
    }
  }
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
}
