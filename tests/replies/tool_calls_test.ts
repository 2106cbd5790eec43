/**
 * Tool calls in the chat format that are parallel, out of order or incomplete: a client of the
 * messages format receives consecutive blocks.
 */
import assert from "node:assert/strict";
import { compact } from "../../translate/bytes/compact.ts";
import {
  call,
  chunk,
  DONE,
  HEAD,
  ROLE,
  USAGE,
} from "../support/upstreams/chat_frames.ts";
import {
  playRows,
  readWhole,
  type StreamRow,
} from "../support/tables/reply_script.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const ROWS: readonly StreamRow[] = [
  {
    name: "text after a call is a new block",
    frames: [
      ROLE,
      chunk({ tool_calls: [call({ index: 0, id: "c" }, "f", "{}")] }, null),
      chunk({ content: "after" }, null),
      chunk({}, "tool_calls"),
      DONE,
    ],
    parts: ["tool:f:{}", "text:after"],
    stop: "tool_use",
  },
  {
    name: "interleaved parallel calls, several pieces per chunk",
    frames: [
      ROLE,
      chunk({
        tool_calls: [
          call({ index: 0, id: "a" }, "f", '{"x"'),
          call({ index: 1, id: "b" }, "g", '{"y"'),
        ],
      }, null),
      chunk({
        tool_calls: [
          call({ index: 1 }, undefined, ":"),
          call({ index: 0 }, undefined, ":1}"),
          call({ index: 1 }, undefined, "2}"),
        ],
      }, null),
      chunk({}, "tool_calls"),
      DONE,
    ],
    parts: ['tool:f:{"x":1}', 'tool:g:{"y":2}'],
    stop: "tool_use",
  },
  {
    name: "calls that all have index 0 are separated by id",
    frames: [
      ROLE,
      chunk({ tool_calls: [call({ index: 0, id: "a" }, "f", "{}")] }, null),
      chunk({ tool_calls: [call({ index: 0, id: "b" }, "f", "{}")] }, null),
      chunk({}, "tool_calls"),
      DONE,
    ],
    parts: ["tool:f:{}", "tool:f:{}"],
    stop: "tool_use",
  },
  {
    name: "two calls with different indexes and one id",
    frames: [
      ROLE,
      chunk(
        { tool_calls: [call({ index: 0, id: "a" }, "f", '{"a":1}')] },
        null,
      ),
      chunk(
        { tool_calls: [call({ index: 1, id: "a" }, "g", '{"b":2}')] },
        null,
      ),
      chunk({}, "tool_calls"),
      DONE,
    ],
    parts: ['tool:f:{"a":1}', 'tool:g:{"b":2}'],
    stop: "tool_use",
  },
  {
    name: "the name comes in a later chunk than the id",
    frames: [
      ROLE,
      chunk({ tool_calls: [call({ index: 0, id: "a" }, undefined, "")] }, null),
      chunk({ tool_calls: [call({ index: 0 }, "f", '{"a"')] }, null),
      chunk({ tool_calls: [call({ index: 0 }, undefined, ":1}")] }, null),
      chunk({}, "tool_calls"),
      DONE,
    ],
    parts: ['tool:f:{"a":1}'],
    stop: "tool_use",
  },
  {
    name: "reasoning, text, call and finish in one chunk",
    frames: [
      chunk(
        {
          role: "assistant",
          reasoning_content: "r",
          content: "t",
          tool_calls: [call({ index: 0, id: "a" }, "f", "{}")],
        },
        "tool_calls",
        { usage: USAGE },
      ),
      DONE,
    ],
    parts: ["thinking:r", "text:t", "tool:f:{}"],
    stop: "tool_use",
  },
  {
    name: "tool_calls without a call: an empty list and a null entry",
    frames: [
      ROLE,
      chunk({ content: "a", tool_calls: [] }, null),
      chunk({ content: "b", tool_calls: [null] }, null),
      chunk({}, "tool_calls"),
      DONE,
    ],
    parts: ["text:ab"],
    stop: "end_turn",
  },
  {
    name: "a call cut by the token limit keeps its stop reason",
    frames: [
      ROLE,
      chunk({ tool_calls: [call({ index: 0, id: "a" }, "f", '{"a')] }, null),
      chunk({}, "length"),
      DONE,
    ],
    parts: ['tool:f:{"a'],
    stop: "max_tokens",
  },
  {
    name: "vllm reports the stop string",
    frames: [
      ROLE,
      chunk({ content: "a" }, null),
      `data: ${
        JSON.stringify({
          ...HEAD,
          choices: [{
            index: 0,
            delta: {},
            finish_reason: "stop",
            stop_reason: "END",
          }],
        })
      }\n\n`,
      DONE,
    ],
    parts: ["text:a"],
    stop: "stop_sequence:END",
  },
];

Deno.test("a client of the messages format receives whole calls, one after another", async (t) => {
  await playRows(t, ROWS);
});

Deno.test("a whole chat reply keeps its calls apart even if their ids are equal or absent", async (t) => {
  await using gateway = await startTestGateway();
  for (const ids of [["a", "a"], ["", ""], [undefined, undefined]]) {
    const reply = {
      id: "chatcmpl-1",
      choices: [{
        message: {
          role: "assistant",
          content: "",
          tool_calls: ids.map((id, n) => ({
            ...compact({ id }),
            type: "function",
            function: { name: "f", arguments: `{"n":${n}}` },
          })),
        },
        finish_reason: "stop",
      }],
      usage: USAGE,
    };
    await t.step(JSON.stringify(ids), async () => {
      const received = await readWhole(gateway, "messages", "chat", reply);
      assert.deepEqual(received.parts, ['tool:f:{"n":0}', 'tool:f:{"n":1}']);
      assert.equal(received.stop, "tool_use");
    });
  }
});
