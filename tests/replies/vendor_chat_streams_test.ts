/** Chat streams as vendors really send them, and what a client of the messages format receives. */
import {
  call,
  chunk,
  DONE,
  HEAD,
  ROLE,
  USAGE,
} from "../support/upstreams/chat_frames.ts";
import { streamScript } from "../../replay/mod.ts";
import { playRows, type StreamRow } from "../support/tables/reply_script.ts";

const ROWS: readonly StreamRow[] = [
  {
    name:
      "azure: prompt filter first, empty id and model, text in the role frame",
    frames: [
      `data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0}]}\n\n`,
      chunk({ content: "**", role: "assistant" }, null),
      chunk({ content: "hi" }),
      chunk({}, "stop"),
      DONE,
    ],
    parts: ["text:**hi"],
    stop: "end_turn",
  },
  {
    name: "openrouter: comments, role and content in every frame, two finishes",
    frames: [
      ": OPENROUTER PROCESSING\n\n",
      ROLE,
      ": OPENROUTER PROCESSING\n\n",
      chunk({ role: "assistant", content: "hi" }, null),
      chunk({ role: "assistant", content: "" }, "stop"),
      chunk({ role: "assistant", content: "" }, "stop", { usage: USAGE }),
      DONE,
    ],
    parts: ["text:hi"],
    stop: "end_turn",
  },
  {
    name: "mistral: text and a whole call without index in the finish frame",
    frames: [
      ROLE,
      chunk(
        {
          content: "ok",
          tool_calls: [call({ id: "AbCd12345" }, "f", '{"a":1}')],
        },
        "tool_calls",
        { usage: USAGE, p: "abcdef" },
      ),
      DONE,
    ],
    parts: ["text:ok", 'tool:f:{"a":1}'],
    stop: "tool_use",
  },
  {
    name: "mistral: content as a list of thinking and text",
    frames: [
      ROLE,
      chunk({
        content: [{
          type: "thinking",
          thinking: [{ type: "text", text: "hm" }],
        }],
      }, null),
      chunk({ content: [{ type: "text", text: "so" }] }, "stop"),
      DONE,
    ],
    parts: ["thinking:hm", "text:so"],
    stop: "end_turn",
  },
  {
    name: "deepseek: reasoning beside null content, both in the finish frame",
    frames: [
      chunk({ role: "assistant", content: null, reasoning_content: "" }, null),
      chunk({ content: null, reasoning_content: "hm" }, null),
      chunk({ content: "so", reasoning_content: null }, null),
      chunk({ content: "", reasoning_content: null }, "stop", { usage: USAGE }),
      DONE,
    ],
    parts: ["thinking:hm", "text:so"],
    stop: "end_turn",
  },
  {
    name: "groq: a new id in each frame, usage under x_groq",
    frames: ["stub", "a", "b"].map((id, n) =>
      chunk(n === 2 ? {} : { content: `${n}` }, n === 2 ? "stop" : null, {
        id,
        x_groq: n === 2 ? { usage: USAGE } : { id: "req_1" },
      })
    ).concat(DONE),
    parts: ["text:01"],
    stop: "end_turn",
  },
  {
    name:
      "ollama: role in every delta, reasoning under its other name, whole call",
    frames: [
      chunk({ role: "assistant", content: "", reasoning: "Okay" }, null),
      chunk({
        role: "assistant",
        content: "",
        tool_calls: [
          call({ id: "call_1", index: 0, type: "function" }, "f", "{}"),
        ],
      }, null),
      chunk({ role: "assistant", content: "" }, "tool_calls"),
      DONE,
    ],
    parts: ["thinking:Okay", "tool:f:{}"],
    stop: "tool_use",
  },
  {
    name: "together: finish reason eos, token ids and nulls",
    frames: [
      chunk({
        token_id: 16,
        role: "assistant",
        content: "1",
        tool_calls: null,
      }),
      chunk({ token_id: 0, role: "assistant", content: "" }, "eos", {
        usage: USAGE,
      }),
      DONE,
    ],
    parts: ["text:1"],
    stop: "end_turn",
  },
  {
    name: "snowflake: no finish reason, empty id, created 0",
    frames: [
      chunk(
        { content: "4", refusal: "", role: "assistant", tool_calls: null },
        undefined,
        {
          id: "",
          created: 0,
        },
      ),
      DONE,
    ],
    parts: ["text:4"],
    stop: "end_turn",
  },
  {
    name: "gpustack: no [DONE], no blank line at the end",
    frames: [
      chunk({ reasoning_content: "" }),
      chunk({ content: "hi" }),
      chunk({ content: "" }, "stop", { usage: USAGE }).trimEnd(),
    ],
    parts: ["text:hi"],
    stop: "end_turn",
  },
  {
    name: "perplexity: CRLF, a message beside the delta, usage in every frame",
    frames: ["1", "2"].map((content, n) =>
      `data: ${
        JSON.stringify({
          ...HEAD,
          usage: { ...USAGE, completion_tokens: n },
          choices: [{
            index: 0,
            finish_reason: n === 1 ? "stop" : null,
            delta: { role: "assistant", content },
            message: { role: "assistant", content: "12".slice(0, n + 1) },
          }],
        })
      }\r\n\r\n`
    ),
    parts: ["text:12"],
    stop: "end_turn",
  },
  {
    name: "xai: no finish_reason key until the end, a whole call in one delta",
    frames: [
      chunk({ role: "assistant", content: "" }),
      chunk({ tool_calls: [call({ index: 0, id: "c" }, "f", '{"a":1}')] }),
      chunk({}, "stop"),
      DONE,
    ],
    parts: ['tool:f:{"a":1}'],
    stop: "tool_use",
  },
  {
    name: "surrogate pair split between two deltas, obfuscation",
    frames: [
      ROLE,
      `data: {"id":"x","choices":[{"index":0,"delta":{"content":"\\ud83d"},"finish_reason":null}],"obfuscation":"ab"}\n\n`,
      `data: {"id":"x","choices":[{"index":0,"delta":{"content":"\\ude00"},"finish_reason":null}]}   \n\n`,
      chunk({}, "length"),
      DONE,
    ],
    parts: ["text:😀"],
    stop: "max_tokens",
  },
  {
    name: "no content type at all",
    frames: {
      ...streamScript([ROLE, chunk({ content: "a" }, "stop"), DONE]),
      headers: {},
    },
    parts: ["text:a"],
    stop: "end_turn",
  },
];

Deno.test("a client of the messages format can read every vendor's chat stream", async (t) => {
  await playRows(t, ROWS);
});
