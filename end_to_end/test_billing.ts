/**
 * For tests of billing: asks in each of the six pairs of dialects, and reads what a caller was told and what the ledger says.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { LedgerEntry } from "../gateway/accounts/mod.ts";
import { isObject, type JsonObject } from "../translate/json.ts";
import { startTestGateway, type TestGateway } from "./test_gateway.ts";

/** A caller's format and a model: one way through the gateway. */
export interface Pair {
  /** Where the caller's format is spoken. */
  readonly path: "/v1/messages" | "/v1/chat/completions";
  /** The model, as callers name it. */
  readonly model: string;
  /** What its upstream speaks. */
  readonly upstream: "messages" | "chat" | "gemini";
}

/** Every way from a caller's format to an upstream's. */
export const PAIRS: readonly Pair[] =
  (["/v1/messages", "/v1/chat/completions"] as const).flatMap((path) => [
    { path, model: "vendora-opus-4-8", upstream: "messages" as const },
    { path, model: "vendorb-5.5", upstream: "chat" as const },
    { path, model: "vendorc-3-pro", upstream: "gemini" as const },
  ]);

/** Tokens of one call: those a caller is told, or those the ledger has. */
export interface Figures {
  /** At the full rate. */
  readonly input: number;
  /** Read from a cache. */
  readonly cacheRead: number;
  /** Written to a cache. */
  readonly cacheWrite: number;
  /** Generated, reasoning included. */
  readonly output: number;
  /** The part of them spent on reasoning. */
  readonly reasoning: number;
}

/** A request's body; a caller of the chat format asks for usage where it streams. */
export function ask(
  { path, model }: Pick<Pair, "path" | "model">,
  text: string,
  stream: boolean,
): JsonObject {
  return {
    model,
    max_tokens: 1000,
    stream,
    messages: [{ role: "user", content: text }],
    ...(stream && path === "/v1/chat/completions"
      ? { stream_options: { include_usage: true } }
      : {}),
  };
}

/** Runs a step for every pair on one gateway, and has the books audited after the last. */
export async function eachPair(
  t: Deno.TestContext,
  run: (gateway: TestGateway, pair: Pair) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const gateway = await startTestGateway({ env });
  try {
    for (const pair of PAIRS) {
      await t.step(
        `${pair.path} from ${pair.upstream}`,
        () => run(gateway, pair),
      );
    }
    assert.deepEqual(await gateway.books.admin.audit(), []);
  } finally {
    await gateway.close();
  }
}

/** The id by which the ledger knows a reply. */
export function requestIdOf(response: Response): string {
  const id = response.headers.get("request-id");
  assert.ok(id !== null);
  return id;
}

/** The one line of the ledger for a request, as soon as the request is over. */
export async function entryOf(
  { books, logEntry }: TestGateway,
  requestId: string,
): Promise<LedgerEntry> {
  await logEntry((entry) => entry.request_id === requestId);
  await books.flush();
  const { data } = await books.admin.ledger({ requestId });
  const [entry] = data;
  assert.ok(entry !== undefined, "the request is not in the ledger");
  assert.equal(data.length, 1, "the request is in the ledger twice");
  return entry;
}

/** All charges in the ledger. */
export async function chargesIn(
  { books }: TestGateway,
): Promise<readonly LedgerEntry[]> {
  await books.flush();
  const entries: LedgerEntry[] = [];
  for await (const page of books.admin.allLedger({ kind: "charge" })) {
    entries.push(...page);
  }
  return entries;
}

/** What an entry bills. */
export function billed(entry: LedgerEntry): Figures {
  return {
    input: entry.inputTokens,
    cacheRead: entry.cacheReadTokens,
    cacheWrite: entry.cacheWriteTokens,
    output: entry.outputTokens,
    reasoning: entry.reasoningTokens,
  };
}

/** The figures that a whole reply or a stream tells its caller. */
export function told(path: Pair["path"], body: string): Figures {
  const usage = body.trimStart().startsWith("{")
    ? inner(JSON.parse(body), "usage")
    : streamUsage(body);
  if (path === "/v1/messages") {
    return {
      input: figure(usage, "input_tokens"),
      cacheRead: figure(usage, "cache_read_input_tokens"),
      cacheWrite: figure(usage, "cache_creation_input_tokens"),
      output: figure(usage, "output_tokens"),
      reasoning: figure(
        inner(usage, "output_tokens_details"),
        "thinking_tokens",
      ),
    };
  }
  const prompt = inner(usage, "prompt_tokens_details");
  const cacheRead = figure(prompt, "cached_tokens");
  const cacheWrite = figure(prompt, "cache_write_tokens");
  return {
    input: figure(usage, "prompt_tokens") - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    output: figure(usage, "completion_tokens"),
    reasoning: figure(
      inner(usage, "completion_tokens_details"),
      "reasoning_tokens",
    ),
  };
}

/** What a later frame tells replaces what an earlier one told. */
function streamUsage(body: string): JsonObject {
  let usage: JsonObject = {};
  for (const [, data = ""] of body.matchAll(/^data: (\{.*\})\s*$/gm)) {
    const frame: unknown = JSON.parse(data);
    usage = {
      ...usage,
      ...inner(inner(frame, "message"), "usage"),
      ...inner(frame, "usage"),
    };
  }
  return usage;
}

function inner(value: unknown, field: string): JsonObject {
  const found = isObject(value) ? value[field] : undefined;
  return isObject(found) ? found : {};
}

function figure(usage: JsonObject, field: string): number {
  return Number(usage[field] ?? 0);
}
