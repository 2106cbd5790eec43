/**
 * For tests of replies: an upstream sends scripted bytes, a caller reads what comes of them, strictly.
 *
 * @module
 */
import assert from "node:assert/strict";
import {
  jsonScript,
  type Script,
  streamScript,
} from "../conformance/replay.ts";
import type { LogEntry } from "../gateway/log.ts";
import {
  type Fields,
  readChat,
  readMessages,
  type ReadStream,
} from "./reply_grammar.ts";
import type { TestGateway } from "./test_gateway.ts";
import { readCompletion, readMessage } from "./whole_reply.ts";

/** A caller's format. */
export type CallerFormat = "messages" | "chat";

/** Both, in the order of the tables' expectations. */
export const CALLERS: readonly CallerFormat[] = ["messages", "chat"];

/** A model of each family, by what its upstream speaks. */
export const MODELS = {
  messages: "vendora-opus-4-8",
  chat: "vendorb-5.5",
  gemini: "vendorc-3-pro",
} as const;

/** What an upstream speaks. */
export type UpstreamFormat = keyof typeof MODELS;

/** The path of a caller's format. */
export const PATHS: Readonly<Record<CallerFormat, string>> = {
  messages: "/v1/messages",
  chat: "/v1/chat/completions",
};

let scripts = 0;

/** Asks once, with the upstream's answer scripted. */
export function answered(
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

/** What a caller reads of a scripted stream. */
export async function streamed(
  gateway: TestGateway,
  caller: CallerFormat,
  upstream: UpstreamFormat,
  frames: readonly string[] | Script,
): Promise<ReadStream> {
  const script = "steps" in frames ? frames : streamScript(frames);
  const response = await answered(gateway, caller, upstream, script, {
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
    ? readMessages(body, MODELS[upstream])
    : readChat(body, MODELS[upstream], true);
}

/** What a caller reads of a scripted whole reply. */
export async function whole(
  gateway: TestGateway,
  caller: CallerFormat,
  upstream: UpstreamFormat,
  body: unknown,
): Promise<ReadStream> {
  const response = await answered(
    gateway,
    caller,
    upstream,
    jsonScript(200, body),
  );
  const told: unknown = await response.json();
  assert.equal(response.status, 200, JSON.stringify(told));
  return caller === "messages"
    ? readMessage(told, MODELS[upstream])
    : readCompletion(told, MODELS[upstream]);
}

/** Figures as a caller was told them, in the words of the gateway's own log. */
export function billed(caller: CallerFormat, usage: Fields): Fields {
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

/** The figures of a log entry in the same shape. */
export function logged(entry: LogEntry): Fields {
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
