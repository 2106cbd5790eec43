/**
 * Tests of billing: makes calls in each of the six pairs of formats, and reads the usage that the
 * client received and that the ledger recorded.
 */
import assert from "node:assert/strict";
import type { LedgerEntry } from "../../../gateway/accounts/mod.ts";
import { isObject, type JsonObject } from "../../../translate/bytes/json.ts";
import { startTestGateway, type TestGateway } from "../test_gateway.ts";

export interface FormatPair {
  readonly path: "/v1/messages" | "/v1/chat/completions";
  readonly model: string;
  readonly upstream: "messages" | "chat" | "gemini";
}

export const FORMAT_PAIRS: readonly FormatPair[] =
  (["/v1/messages", "/v1/chat/completions"] as const).flatMap((path) => [
    { path, model: "vendora-opus-4-8", upstream: "messages" as const },
    { path, model: "vendorb-5.5", upstream: "chat" as const },
    { path, model: "vendorc-3-pro", upstream: "gemini" as const },
  ]);

/** Token counts of one call, as reported to the client or as recorded in the ledger. */
export interface TokenCounts {
  /** Prompt tokens at the full rate. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Generated tokens, reasoning included. */
  readonly output: number;
  /** The reasoning tokens among `output`. */
  readonly reasoning: number;
}

/** A request body; a stream in the chat format also requests usage. */
export function requestBody(
  { path, model }: Pick<FormatPair, "path" | "model">,
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

/** Runs a test step for every pair on one gateway, then audits the ledger. */
export async function eachPair(
  t: Deno.TestContext,
  run: (gateway: TestGateway, pair: FormatPair) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await using gateway = await startTestGateway({ env });
  for (const pair of FORMAT_PAIRS) {
    await t.step(
      `${pair.path} from ${pair.upstream}`,
      () => run(gateway, pair),
    );
  }
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
}

export function requestIdOf(response: Response): string {
  const id = response.headers.get("request-id");
  assert.ok(id !== null);
  return id;
}

/** The only ledger entry of a call; waits until the call is logged. */
export async function ledgerEntryOf(
  { accounts: books, logEntry }: TestGateway,
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

export async function chargesIn(
  { accounts: books }: TestGateway,
): Promise<readonly LedgerEntry[]> {
  await books.flush();
  const entries: LedgerEntry[] = [];
  for await (const page of books.admin.allLedger({ kind: "charge" })) {
    entries.push(...page);
  }
  return entries;
}

export function billedUsage(entry: LedgerEntry): TokenCounts {
  return {
    input: entry.inputTokens,
    cacheRead: entry.cacheReadTokens,
    cacheWrite: entry.cacheWriteTokens,
    output: entry.outputTokens,
    reasoning: entry.reasoningTokens,
  };
}

/** Token counts that a whole reply or a stream reports to its client. */
export function reportedUsage(
  path: FormatPair["path"],
  body: string,
): TokenCounts {
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

/** Usage of a stream: figures in later frames replace earlier ones. */
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
