/**
 * Unusual streams in the messages and generate-content formats, as clients of both formats receive
 * them.
 */
import assert from "node:assert/strict";
import { type Script, wholeScript } from "../../replay/mod.ts";
import type { Fields } from "../support/replies/reply_grammar.ts";
import {
  CALLERS,
  readStreamed,
  type UpstreamFormat,
} from "../support/tables/reply_script.ts";
import { startTestGateway } from "../support/test_gateway.ts";

function messagesFrames(...data: readonly Fields[]): readonly string[] {
  return data.map((one) =>
    `event: ${one["type"]}\ndata: ${JSON.stringify(one).slice(0, -1)}     }\n\n`
  );
}

function geminiFrames(...data: readonly Fields[]): readonly string[] {
  return data.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`);
}

/** A frame with one candidate. */
function parts(list: readonly Fields[], more: Fields = {}): Fields {
  return { candidates: [{ content: { role: "model", parts: list }, ...more }] };
}

const START: Fields = {
  type: "message_start",
  message: { id: "msg_1", content: [], usage: { input_tokens: 3 } },
};
const STOP: Fields = { type: "message_stop" };

function block(index: number, content_block: Fields): Fields {
  return { type: "content_block_start", index, content_block };
}

function delta(index: number, change: Fields): Fields {
  return { type: "content_block_delta", index, delta: change };
}

function ended(
  stop_reason: string,
  stop_sequence: string | null = null,
): Fields {
  return {
    type: "message_delta",
    delta: { stop_reason, stop_sequence },
    usage: { output_tokens: 7 },
  };
}

const TEXT = [
  block(0, { type: "text", text: "" }),
  delta(0, { type: "text_delta", text: "a" }),
  { type: "content_block_stop", index: 0 },
];

type Row = readonly [
  name: string,
  upstream: UpstreamFormat,
  frames: readonly string[] | Script,
  parts: readonly string[],
  /** The stop reason in the messages format, and in the chat format. */
  stops: readonly [string, string],
];

const ROWS: readonly Row[] = [
  ...[
    ["end_turn", "stop"],
    ["max_tokens", "length"],
    ["stop_sequence", "stop"],
    ["tool_use", "stop"],
    ["pause_turn", "length"],
    ["refusal", "content_filter"],
    ["model_context_window_exceeded", "length"],
    ["compaction", "length"],
  ].map(([native = "", chat = ""]): Row => [
    `stop reason ${native}`,
    "messages",
    messagesFrames(START, ...TEXT, ended(native), STOP),
    ["text:a"],
    [native, chat],
  ]),
  [
    "server tools shift the block indexes; a call without arguments",
    "messages",
    messagesFrames(
      START,
      block(0, { type: "server_tool_use", id: "s", name: "web", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: '{"q":1}' }),
      { type: "content_block_stop", index: 0 },
      block(1, {
        type: "web_search_tool_result",
        tool_use_id: "s",
        content: [],
      }),
      { type: "content_block_stop", index: 1 },
      block(2, { type: "tool_use", id: "t", name: "f", input: {} }),
      { type: "ping" },
      delta(2, { type: "input_json_delta", partial_json: "" }),
      { type: "content_block_stop", index: 2 },
      block(3, { type: "tool_use", id: "u", name: "g", input: { b: 1 } }),
      { type: "content_block_stop", index: 3 },
      ended("tool_use"),
      STOP,
    ),
    ["tool:f:{}", 'tool:g:{"b":1}'],
    ["tool_use", "tool_calls"],
  ],
  [
    "two starts, content in the start, no event names",
    "messages",
    messagesFrames(
      { ...START, message: { content: [{ type: "text", text: "a" }] } },
      START,
      block(0, { type: "text", text: "" }),
      delta(0, { type: "text_delta", text: "b" }),
      ended("end_turn"),
      STOP,
    ).map((frame) => frame.replace(/^event: .*\n/, "")),
    ["text:ab"],
    ["end_turn", "stop"],
  ],
  [
    "gemini: STOP in every frame",
    "gemini",
    geminiFrames(
      parts([{ text: "a" }], { finishReason: "STOP" }),
      parts([{ text: "b" }], { finishReason: "STOP" }),
    ),
    ["text:ab"],
    ["end_turn", "stop"],
  ],
  [
    "gemini: calls before the finish frame, one name twice, integer finish reason",
    "gemini",
    geminiFrames(
      parts([
        { functionCall: { name: "f", args: { n: 1 } }, thoughtSignature: "s" },
        { functionCall: { name: "f", args: {} } },
      ]),
      parts([{ text: "" }], { finishReason: 1 }),
    ),
    ['tool:f:{"n":1}', "tool:f:{}"],
    ["tool_use", "tool_calls"],
  ],
  [
    "gemini: an integer beyond double precision",
    "gemini",
    [
      'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"n":12345678901234567890}}}]},"finishReason":"STOP"}]}\r\n\r\n',
    ],
    ['tool:f:{"n":12345678901234567890}'],
    ["tool_use", "tool_calls"],
  ],
  [
    "gemini: partial arguments",
    "gemini",
    geminiFrames(
      parts([{ functionCall: { name: "f", willContinue: true } }]),
      parts([{
        functionCall: {
          partialArgs: [{ jsonPath: "$.a", stringValue: "x" }],
          willContinue: true,
        },
      }]),
      parts([{
        functionCall: {
          partialArgs: [{ jsonPath: "$.a", stringValue: "y" }],
          willContinue: true,
        },
      }]),
      parts([{ functionCall: {} }]),
      parts([], { finishReason: "STOP" }),
    ),
    ['tool:f:{"a":"xy"}'],
    ["tool_use", "tool_calls"],
  ],
  [
    "gemini: a blocked prompt has no candidate",
    "gemini",
    geminiFrames({ promptFeedback: { blockReason: "SAFETY" } }),
    [],
    ["refusal", "content_filter"],
  ],
  ...[
    ["SAFETY", "refusal", "content_filter"],
    [3, "refusal", "content_filter"],
    ["RECITATION", "refusal", "content_filter"],
    ["MAX_TOKENS", "max_tokens", "length"],
    [2, "max_tokens", "length"],
    ["LANGUAGE", "max_tokens", "length"],
    ["max_tokens", "max_tokens", "length"],
    ["CONTINUATION", "max_tokens", "length"],
  ].map(([native, messages, chat]): Row => [
    `gemini: finish reason ${native}`,
    "gemini",
    geminiFrames(parts([{ text: "a" }], { finishReason: native })),
    ["text:a"],
    [String(messages), String(chat)],
  ]),
  [
    "gemini: a JSON array in place of a stream",
    "gemini",
    wholeScript(
      200,
      "application/json; charset=UTF-8",
      `[${JSON.stringify(parts([{ text: "a", thought: true }]))}\n,\r\n${
        JSON.stringify(parts([{ text: "b" }], { finishReason: "STOP" }))
      }]`,
    ),
    ["thinking:a", "text:b"],
    ["end_turn", "stop"],
  ],
  [
    "gemini: a second candidate, server tools, null parts",
    "gemini",
    geminiFrames({
      candidates: [
        { index: 1, content: { parts: [{ text: "no" }] } },
        {
          index: 0,
          content: {
            parts: [null, { toolCall: { toolType: "X" } }, { text: "a" }],
          },
          finishReason: "STOP",
        },
      ],
    }),
    ["text:a"],
    ["end_turn", "stop"],
  ],
];

Deno.test("clients receive ordinary streams for an upstream's unusual ones", async (t) => {
  await using gateway = await startTestGateway();
  for (const [name, upstream, frames, wanted, stops] of ROWS) {
    for (const [n, caller] of CALLERS.entries()) {
      if (caller === upstream) continue;
      await t.step(`${name}: ${caller}`, async () => {
        const reply = await readStreamed(gateway, caller, upstream, frames);
        assert.deepEqual(reply.parts, wanted);
        assert.equal(reply.stop, stops[n]);
        assert.equal(new Set(reply.callIds).size, reply.callIds.length);
      });
    }
  }
});
