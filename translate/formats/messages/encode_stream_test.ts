import assert from "node:assert/strict";
import { ApiError } from "../../model/error.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import { ENCODE_CONTEXT } from "./sample_models.ts";
import { streamEncoder } from "./encode_stream.ts";
import { blockOf, signedBlock, toolBlock } from "../../testing/reply_events.ts";

const START: ReplyEvent = { type: "start", id: "chatcmpl-1" };
const END: ReplyEvent = { type: "end" };
const CLOSE: ReplyEvent = { type: "close" };
const delta = (text: string): ReplyEvent => ({ type: "delta", text });

function written(events: readonly ReplyEvent[]): string {
  const encoder = streamEncoder(ENCODE_CONTEXT);
  return events.map((event) => encoder.push(event)).join("");
}

/** The data of the frames; every frame must be named after its type. */
function frames(text: string): readonly Record<string, unknown>[] {
  if (text === "") return [];
  assert.ok(text.endsWith("\n\n"));
  return text.slice(0, -2).split("\n\n").map((frame) => {
    const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
    const parsed = JSON.parse(data ?? "");
    assert.equal(parsed.type, event);
    return parsed;
  });
}

/** The frames between the start and the end of a reply. */
function middle(...events: readonly ReplyEvent[]): readonly unknown[] {
  return frames(written([START, ...events, END])).slice(1, -2);
}

const begins = (index: number, content_block: unknown): unknown => ({
  type: "content_block_start",
  index,
  content_block,
});
const adds = (index: number, change: unknown): unknown => ({
  type: "content_block_delta",
  index,
  delta: change,
});
const stops = (index: number): unknown => ({
  type: "content_block_stop",
  index,
});
const call = (id: string, more: Record<string, unknown> = {}): unknown => ({
  type: "tool_use",
  id,
  name: "f",
  input: {},
  caller: { type: "direct" },
  ...more,
});
const TEXT = { type: "text", text: "", citations: [] };
/** Fields of replies, and of the `delta` at a stream's end. */
const ENDING = { stop_details: null, container: null };
/** Fields of the usage at a stream's start and end. */
const UNREPORTED = {
  output_tokens_details: null,
  server_tool_use: null,
  iterations: null,
  fallback_credit: null,
};

Deno.test("streamEncoder() writes the exact bytes of a text stream", () => {
  assert.equal(
    written([
      {
        type: "start",
        id: "msg_1",
        model: "x",
        usage: { input: 3, output: 1 },
      },
      ...blockOf("text", 'say "ü"\n'),
      { type: "stop", reason: "end", raw: "stop" },
      { type: "usage", usage: { input: 4, cacheRead: 5, output: 6 } },
      END,
    ]),
    [
      'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"asked-for","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"container":null,"diagnostics":null,"context_management":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":null,"output_tokens":0,"output_tokens_details":null,"server_tool_use":null,"iterations":null,"fallback_credit":null,"inference_geo":null,"service_tier":null,"speed":null}}}\n\n',
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}}\n\n',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"say \\"ü\\"\\n"}}\n\n',
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
      'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"container":null},"context_management":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":5,"output_tokens":6,"output_tokens_details":null,"server_tool_use":null,"iterations":null,"fallback_credit":null}}\n\n',
      'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    ].join(""),
  );
});

Deno.test("streamEncoder() estimates an unreported input, at the start only", () => {
  const all = frames(written([START, END]));
  assert.deepEqual(all, [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "asked-for",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        ...ENDING,
        diagnostics: null,
        context_management: null,
        usage: {
          input_tokens: 7,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          cache_creation: null,
          output_tokens: 0,
          ...UNREPORTED,
          inference_geo: null,
          service_tier: null,
          speed: null,
        },
      },
    },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null, ...ENDING },
      context_management: null,
      usage: {
        input_tokens: null,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        output_tokens: 0,
        ...UNREPORTED,
      },
    },
    { type: "message_stop" },
  ]);
});

Deno.test("streamEncoder() writes blocks one after another", async (t) => {
  const rows: readonly [string, readonly ReplyEvent[], readonly unknown[]][] = [
    [
      "text after a call gets a block of its own",
      [
        ...blockOf("text", "a"),
        ...toolBlock("t", "f", '{"x"', "", ":1}"),
        ...blockOf("text", "b"),
      ],
      [
        begins(0, TEXT),
        adds(0, { type: "text_delta", text: "a" }),
        stops(0),
        begins(1, call("t")),
        adds(1, { type: "input_json_delta", partial_json: '{"x"' }),
        adds(1, { type: "input_json_delta", partial_json: ":1}" }),
        stops(1),
        begins(2, TEXT),
        adds(2, { type: "text_delta", text: "b" }),
        stops(2),
      ],
    ],
    [
      "a block that was not closed",
      [
        { type: "open", kind: "text" },
        delta("a"),
        { type: "open", kind: "text" },
        delta("b"),
      ],
      [
        begins(0, TEXT),
        adds(0, { type: "text_delta", text: "a" }),
        stops(0),
        begins(1, TEXT),
        adds(1, { type: "text_delta", text: "b" }),
        stops(1),
      ],
    ],
    [
      "calls without ids and arguments",
      [
        { type: "open", kind: "tool", name: "f" },
        CLOSE,
        { type: "open", kind: "tool", name: "f" },
        CLOSE,
      ],
      [
        begins(0, call("toolu_0123456789abcdefghijABCD")),
        stops(0),
        begins(1, call("toolu_0123456789abcdefghijABCD1")),
        stops(1),
      ],
    ],
    [
      "a signed call, its signature before its arguments",
      [
        { type: "open", kind: "tool", id: "t", name: "f" },
        { type: "sign", signature: { from: "generate_content", value: "G" } },
        delta("{}"),
        CLOSE,
      ],
      [
        begins(
          0,
          call("t", {
            extra_content: { google: { thought_signature: "G" } },
          }),
        ),
        adds(0, { type: "input_json_delta", partial_json: "{}" }),
        stops(0),
      ],
    ],
    [
      "a signed call, its signature after its arguments",
      [
        { type: "open", kind: "tool", id: "t", name: "f" },
        delta("{}"),
        { type: "sign", signature: { from: "generate_content", value: "G" } },
        CLOSE,
      ],
      [
        begins(
          0,
          call("t", {
            extra_content: { google: { thought_signature: "G" } },
          }),
        ),
        adds(0, { type: "input_json_delta", partial_json: "{}" }),
        stops(0),
      ],
    ],
    [
      "signed reasoning without text",
      signedBlock("reasoning", { from: "messages", value: "S" }),
      [
        begins(0, { type: "thinking", thinking: "", signature: "" }),
        adds(0, { type: "signature_delta", signature: "S" }),
        stops(0),
      ],
    ],
    [
      "reasoning of nothing takes no number",
      [
        ...blockOf("reasoning"),
        ...blockOf("text", "a"),
      ],
      [
        begins(0, TEXT),
        adds(0, { type: "text_delta", text: "a" }),
        stops(0),
      ],
    ],
  ];
  for (const [name, events, expected] of rows) {
    await t.step(name, () => assert.deepEqual(middle(...events), expected));
  }
});

Deno.test("streamEncoder() starts texts with their first word, and calls at the flush after their frame", () => {
  const encoder = streamEncoder(ENCODE_CONTEXT);
  encoder.push(START);
  assert.equal(encoder.flush?.(), "");
  assert.equal(encoder.push({ type: "open", kind: "text" }), "");
  assert.equal(encoder.flush?.(), "");
  assert.deepEqual(frames(encoder.push(delta("x")))[0], begins(0, TEXT));
  encoder.push(CLOSE);
  assert.equal(
    encoder.push({ type: "open", kind: "tool", id: "t", name: "f" }),
    "",
  );
  assert.deepEqual(frames(encoder.flush?.() ?? ""), [begins(1, call("t"))]);
  assert.equal(encoder.flush?.(), "");
  assert.deepEqual(frames(encoder.push(delta("{"))), [
    adds(1, { type: "input_json_delta", partial_json: "{" }),
  ]);
});

Deno.test("streamEncoder() holds back only the first arguments of a call", () => {
  const encoder = streamEncoder(ENCODE_CONTEXT);
  encoder.push(START);
  encoder.push({ type: "open", kind: "tool", id: "t", name: "f" });
  assert.equal(encoder.push(delta("{")), "");
  assert.deepEqual(frames(encoder.push(delta("}"))), [
    begins(0, call("t")),
    adds(0, { type: "input_json_delta", partial_json: "{" }),
    adds(0, { type: "input_json_delta", partial_json: "}" }),
  ]);
});

Deno.test("streamEncoder() sends no arguments before the first that are not blank", () => {
  const tool = { type: "open", kind: "tool", id: "a", name: "f" } as const;
  assert.deepEqual(
    middle(tool, delta(" "), delta("\n"), CLOSE),
    [begins(0, call("a")), stops(0)],
  );
  assert.deepEqual(
    middle(tool, delta(" "), delta("\n {"), delta(" }"), CLOSE),
    [
      begins(0, call("a")),
      adds(0, { type: "input_json_delta", partial_json: "{" }),
      adds(0, { type: "input_json_delta", partial_json: " }" }),
      stops(0),
    ],
  );
});

Deno.test("streamEncoder() sends stop reason and usage only at the end, whenever they came", () => {
  const encoder = streamEncoder(ENCODE_CONTEXT);
  encoder.push(START);
  assert.equal(
    encoder.push({
      type: "stop",
      reason: "stop_sequence",
      raw: "stop",
      sequence: "x",
    }),
    "",
  );
  assert.equal(
    encoder.push({ type: "usage", usage: { output: 2, reasoning: 1 } }),
    "",
  );
  assert.deepEqual(frames(encoder.push(END)), [
    {
      type: "message_delta",
      delta: { stop_reason: "stop_sequence", stop_sequence: "x", ...ENDING },
      context_management: null,
      usage: {
        input_tokens: null,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        output_tokens: 2,
        ...UNREPORTED,
        output_tokens_details: { thinking_tokens: 1 },
      },
    },
    { type: "message_stop" },
  ]);
});

Deno.test("streamEncoder() corrects the stop reason", async (t) => {
  const reasonOf = (events: readonly ReplyEvent[]): unknown =>
    frames(written([START, ...events, END])).at(-2)?.["delta"];
  const rows: readonly [string, readonly ReplyEvent[], string][] = [
    [
      "a call under a plain end",
      [{ type: "open", kind: "tool", name: "f" }, CLOSE, {
        type: "stop",
        reason: "end",
        raw: "stop",
      }],
      "tool_use",
    ],
    [
      "a phantom call",
      [{ type: "stop", reason: "tool_use", raw: "tool_calls" }],
      "end_turn",
    ],
    [
      "a refusal",
      [...blockOf("refusal", "no"), {
        type: "stop",
        reason: "end",
        raw: "stop",
      }],
      "refusal",
    ],
  ];
  for (const [name, events, word] of rows) {
    await t.step(name, () =>
      assert.deepEqual(reasonOf(events), {
        stop_reason: word,
        stop_sequence: null,
        ...ENDING,
      }));
  }
});

Deno.test("streamEncoder() writes an error and nothing after it", () => {
  const encoder = streamEncoder(ENCODE_CONTEXT);
  encoder.push(START);
  encoder.push({ type: "open", kind: "text" });
  assert.equal(
    encoder.push({
      type: "error",
      error: new ApiError("overloaded", "Overloaded"),
    }),
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded","code":null,"param":null},"request_id":null}\n\n',
  );
  assert.equal(encoder.push(CLOSE), "");
  assert.equal(encoder.push(END), "");
  assert.equal(encoder.ping(), "");
});

Deno.test("streamEncoder() pings only between the start and the end", () => {
  const ping = 'event: ping\ndata: {"type": "ping"}\n\n';
  const encoder = streamEncoder(ENCODE_CONTEXT);
  assert.equal(encoder.ping(), "");
  encoder.push(START);
  assert.equal(encoder.ping(), ping);
  encoder.push({ type: "open", kind: "reasoning" });
  assert.equal(encoder.ping(), ping);
  encoder.push({ type: "open", kind: "tool", id: "t", name: "f" });
  assert.deepEqual(frames(encoder.ping()), [begins(0, call("t")), {
    type: "ping",
  }]);
  encoder.push(END);
  assert.equal(encoder.ping(), "");
});

Deno.test("streamEncoder() opens no block for blank text that nothing follows", () => {
  const blank: readonly ReplyEvent[] = [
    { type: "open", kind: "text" },
    { type: "delta", text: "\n" },
    { type: "delta", text: "\n" },
  ];
  assert.deepEqual(middle(...blank, { type: "close" }), []);
  const [start, first, second] = middle(
    ...blank,
    { type: "delta", text: "x" },
    { type: "close" },
  ).map((frame) => JSON.stringify(frame));
  assert.match(start ?? "", /content_block_start/);
  assert.match(`${first}${second}`, /\\n\\n.*"x"/);
});
