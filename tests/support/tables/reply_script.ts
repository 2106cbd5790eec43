/**
 * Tests of replies: an upstream sends scripted bytes, and the client's reply is checked strictly.
 */
import assert from "node:assert/strict";
import { jsonScript, type Script, streamScript } from "../../../replay/mod.ts";
import type { LogEntry } from "../../../gateway/observability/log.ts";
import {
  type Fields,
  readChatStream,
  readMessageStream,
  type ReadReply,
} from "../replies/reply_grammar.ts";
import { startTestGateway, type TestGateway } from "../test_gateway.ts";
import {
  readWholeCompletion,
  readWholeMessage,
} from "../replies/whole_reply.ts";

export type CallerFormat = "messages" | "chat";

/** Both client formats, in the order of the tables' expectations. */
export const CALLERS: readonly CallerFormat[] = ["messages", "chat"];

/** One model for each upstream format. */
export const MODELS = {
  messages: "vendora-opus-4-8",
  chat: "vendorb-5.5",
  gemini: "vendorc-3-pro",
} as const;

export type UpstreamFormat = keyof typeof MODELS;

export const PATHS: Readonly<Record<CallerFormat, string>> = {
  messages: "/v1/messages",
  chat: "/v1/chat/completions",
};

let scripts = 0;

/** Makes one call whose upstream answer is `script`. */
export function callScripted(
  gateway: TestGateway,
  caller: CallerFormat,
  upstream: UpstreamFormat,
  script: Script,
  more: Fields = {},
): Promise<Response> {
  const marker = `scripted-${scripts++}`;
  gateway.replay.script(marker, script);
  return gateway.post(PATHS[caller], {
    model: MODELS[upstream],
    max_tokens: 100,
    messages: [{ role: "user", content: `[[fx:${marker}]]` }],
    ...more,
  });
}

/** Summary of the stream that a client receives when the upstream sends `frames`. */
export async function readStreamed(
  gateway: TestGateway,
  caller: CallerFormat,
  upstream: UpstreamFormat,
  frames: readonly string[] | Script,
): Promise<ReadReply> {
  const script = "steps" in frames ? frames : streamScript(frames);
  const response = await callScripted(gateway, caller, upstream, script, {
    stream: true,
    ...(caller === "chat" ? { stream_options: { include_usage: true } } : {}),
  });
  assert.equal(response.status, 200);
  assert.match(
    response.headers.get("content-type") ?? "",
    /^text\/event-stream/,
  );
  const body = await response.text();
  return caller === "messages"
    ? readMessageStream(body, MODELS[upstream])
    : readChatStream(body, MODELS[upstream], true);
}

/** Summary of the whole reply that a client receives when the upstream sends `body`. */
export async function readWhole(
  gateway: TestGateway,
  caller: CallerFormat,
  upstream: UpstreamFormat,
  body: unknown,
): Promise<ReadReply> {
  const response = await callScripted(
    gateway,
    caller,
    upstream,
    jsonScript(200, body),
  );
  const reply: unknown = await response.json();
  assert.equal(response.status, 200, JSON.stringify(reply));
  return caller === "messages"
    ? readWholeMessage(reply, MODELS[upstream])
    : readWholeCompletion(reply, MODELS[upstream]);
}

/** Usage as reported to a client, under the names that the gateway's log uses. */
export function reportedUsage(caller: CallerFormat, usage: Fields): Fields {
  if (caller === "messages") {
    const reasoning = detail(usage, "output_tokens_details", "thinking_tokens");
    return {
      input: usage["input_tokens"],
      cacheRead: usage["cache_read_input_tokens"],
      cacheWrite: usage["cache_creation_input_tokens"],
      output: usage["output_tokens"],
      reasoning,
    };
  }
  const cacheRead = detail(usage, "prompt_tokens_details", "cached_tokens");
  const cacheWrite = detail(
    usage,
    "prompt_tokens_details",
    "cache_write_tokens",
  );
  assert.equal(
    usage["total_tokens"],
    Number(usage["prompt_tokens"]) + Number(usage["completion_tokens"]),
  );
  return {
    input: Number(usage["prompt_tokens"]) - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    output: usage["completion_tokens"],
    reasoning: detail(usage, "completion_tokens_details", "reasoning_tokens"),
  };
}

/** Usage of a log entry, in the same shape; 0 where the log has no figure. */
export function loggedUsage(entry: LogEntry): Fields {
  const usage: unknown = entry["usage"];
  return {
    input: 0,
    cacheRead: 0,
    cacheWrite: 0,
    output: 0,
    reasoning: 0,
    ...(typeof usage === "object" && usage !== null ? usage : {}),
  };
}

function detail(usage: Fields, group: string, field: string): number {
  const inner = usage[group];
  if (typeof inner !== "object" || inner === null) return 0;
  const found = Object.entries(inner).find(([name]) => name === field);
  return found === undefined ? 0 : Number(found[1]);
}

/** A chat stream of an upstream, and the reply that a client of the messages format reads. */
export interface StreamRow {
  readonly name: string;
  readonly frames: readonly string[] | Script;
  /** As {@linkcode ReadReply} has them. */
  readonly parts: readonly string[];
  readonly stop: string;
}

/** Plays each row as a step; the ids of calls must be ones that the format accepts. */
export async function playRows(
  t: Deno.TestContext,
  rows: readonly StreamRow[],
): Promise<void> {
  await using gateway = await startTestGateway();
  for (const { name, frames, parts, stop } of rows) {
    await t.step(name, async () => {
      const reply = await readStreamed(gateway, "messages", "chat", frames);
      assert.deepEqual(reply.parts, parts);
      assert.equal(reply.stop, stop);
      assert.ok(reply.callIds.every((id) => /^[\w-]+$/.test(id)));
    });
  }
}
