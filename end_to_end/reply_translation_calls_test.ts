/** Calls of the chat format side by side, out of order, half told: a caller of the messages format gets blocks in a row. */
import assert from "node:assert/strict";
import type { Fields } from "./reply_grammar.ts";
import { streamed, whole } from "./reply_script.ts";
import { startTestGateway } from "./test_gateway.ts";

const HEAD = {
  id: "chatcmpl-7",
  object: "chat.completion.chunk",
  created: 1780000000,
  model: "upstream-model",
};
const DONE = "data: [DONE]\n\n";

function chunk(delta: unknown, finish?: unknown, more: Fields = {}): string {
  const choice = {
    index: 0,
    delta,
    ...(finish === undefined ? {} : { finish_reason: finish }),
  };
  return `data: ${JSON.stringify({ ...HEAD, choices: [choice], ...more })}\n\n`;
}

function call(fields: Fields, name?: string, args?: string): Fields {
  return {
    ...fields,
    function: {
      ...(name === undefined ? {} : { name }),
      ...(args === undefined ? {} : { arguments: args }),
    },
  };
}

const ROLE = chunk({ role: "assistant", content: "" }, null);
const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };

interface Row {
  readonly name: string;
  readonly frames: readonly string[];
  /** As a caller of the messages format reads it. */
  readonly parts: readonly string[];
  readonly stop: string;
}

const ROWS: readonly Row[] = [
  {
    name: "text after a call is a new block (1, 2, 3)",
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
    name: "interleaved parallel calls, several pieces a chunk (4, 7, 8)",
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
    name: "all calls numbered 0, told apart by id (11)",
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
    name: "two calls numbered apart under one id (150)",
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
    name: "name and id late (6)",
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
    name: "reasoning, text, call and finish in one chunk (14)",
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
    name: "tool_calls without a call, empty and null lists (25, 38)",
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
    name: "a call cut by the limit keeps its stop",
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
    name: "vllm tells the stop string",
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

Deno.test("a caller of the messages format gets whole calls, one after another", async (t) => {
  const gateway = await startTestGateway();
  try {
    for (const row of ROWS) {
      await t.step(row.name, async () => {
        const told = await streamed(gateway, "messages", "chat", row.frames);
        assert.deepEqual(told.parts, row.parts);
        assert.equal(told.stop, row.stop);
        assert.ok(told.callIds.every((id) => /^[\w-]+$/.test(id)));
      });
    }
  } finally {
    await gateway.close();
  }
});

Deno.test("a whole chat reply keeps its calls apart, whatever their ids", async (t) => {
  const gateway = await startTestGateway();
  try {
    for (const ids of [["a", "a"], ["", ""], [undefined, undefined]]) {
      const reply = {
        id: "chatcmpl-1",
        choices: [{
          message: {
            role: "assistant",
            content: "",
            tool_calls: ids.map((id, n) => ({
              ...(id === undefined ? {} : { id }),
              type: "function",
              function: { name: "f", arguments: `{"n":${n}}` },
            })),
          },
          finish_reason: "stop",
        }],
        usage: USAGE,
      };
      await t.step(JSON.stringify(ids), async () => {
        const told = await whole(gateway, "messages", "chat", reply);
        assert.deepEqual(told.parts, ['tool:f:{"n":0}', 'tool:f:{"n":1}']);
        assert.equal(told.stop, "tool_use");
      });
    }
  } finally {
    await gateway.close();
  }
});
