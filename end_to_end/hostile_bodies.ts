/**
 * For tables of hostile bodies: each is sent on bare TCP to every endpoint that takes one.
 *
 * @module
 */
import assert from "node:assert/strict";
import { errorReply } from "../routes/reply_schemas.ts";
import { RawCaller } from "./raw_caller.ts";
import { startTestGateway, type TestGateway } from "./test_gateway.ts";

const PATHS: readonly string[] = [
  "/v1/messages",
  "/v1/chat/completions",
  "/v1/messages/count_tokens",
];
/** A model for each dialect of upstreams. */
export const MODELS: readonly string[] = [
  "vendora-opus-4-8",
  "vendorb-5.5",
  "vendorc-3-pro",
];

/** A body's text for a model; with `more` as its last fields. */
export function asking(model: string, more: string = ""): string {
  return `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]${more}}`;
}

/** A good call, on a connection of its own or on one that has seen something else. */
async function isServed(
  gateway: TestGateway,
  path: string,
  caller?: RawCaller,
): Promise<boolean> {
  const own = caller ?? await RawCaller.connect(gateway);
  try {
    await own.post(path, asking("vendorb-5"));
    return (await own.answer())?.status === 200;
  } finally {
    if (caller === undefined) own.close();
  }
}

/** A request by its body. */
export interface BodyRow {
  /** A few words. */
  readonly name: string;
  /** Sent as it is. */
  readonly body: string | Uint8Array;
  /** In place of the usual ones. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Absent: any 4xx, or 200 where what was said can be served. */
  readonly status?: number;
}

async function check(
  gateway: TestGateway,
  path: string,
  { body, headers, status }: BodyRow,
): Promise<void> {
  using caller = await RawCaller.connect(gateway);
  await caller.post(path, body, headers);
  const answer = await caller.answer();
  assert.ok(answer !== undefined, "no answer");
  const told = `${answer.status}: ${answer.body.slice(0, 500)}`;
  if (status !== undefined) assert.equal(answer.status, status, told);
  assert.ok(answer.status < 500, told);
  assert.ok(answer.body.length < 100_000, "the answer is as long as the body");
  if (answer.status !== 200) {
    const { error, request_id } = errorReply.parse(JSON.parse(answer.body));
    assert.ok(error.message.length < 2_000, told);
    assert.equal(request_id, answer.headers.get("request-id"));
  }
  assert.ok(await isServed(gateway, path, caller), "on the same connection");
  assert.ok(await isServed(gateway, path), "on a fresh connection");
  assert.equal(gateway.gateway.slots.taken(), 0);
}

/** Runs a table on every endpoint that takes a body; after each row the next good request must work. */
export async function runBodies(
  t: Deno.TestContext,
  rows: readonly BodyRow[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const gateway = await startTestGateway({ env });
  try {
    for (const path of PATHS) {
      for (const row of rows) {
        await t.step(`${path}: ${row.name}`, () => check(gateway, path, row));
      }
    }
    assert.deepEqual(await gateway.books.admin.audit(), []);
  } finally {
    await gateway.close();
  }
}
