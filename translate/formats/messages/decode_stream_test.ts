import assert from "node:assert/strict";
import { type DecodeContext, PLAIN_CONTEXT } from "../../dialect.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import type { Frame } from "../../stream/sse.ts";
import { streamDecoder } from "./decode_stream.ts";
import { blockOf, toolBlock } from "../../testing/reply_events.ts";
import { toolUse } from "../../testing/request_samples.ts";

type Wire = Record<string, unknown> & { type: string };

const START: Wire = {
  type: "message_start",
  message: {
    id: "msg_1",
    model: "claude",
    content: [],
    usage: { input_tokens: 3, output_tokens: 1 },
  },
};
const STARTED: ReplyEvent = {
  type: "start",
  id: "msg_1",
  model: "claude",
  usage: { input: 3, output: 1 },
};
const END_TURN: Wire = {
  type: "message_delta",
  delta: { stop_reason: "end_turn", stop_sequence: null },
  usage: { output_tokens: 9 },
};
const STOP: Wire = { type: "message_stop" };
const OVER: readonly ReplyEvent[] = [
  { type: "stop", reason: "end", raw: "end_turn" },
  { type: "usage", usage: { output: 9 } },
  { type: "end" },
];
const CLOSE: ReplyEvent = { type: "close" };

const begin = (index: number, content_block: unknown): Wire => ({
  type: "content_block_start",
  index,
  content_block,
});
const text = (index: number, value = ""): Wire =>
  begin(index, { type: "text", text: value });
const change = (index: number, delta: unknown): Wire => ({
  type: "content_block_delta",
  index,
  delta,
});
const more = (index: number, value: string): Wire =>
  change(index, { type: "text_delta", text: value });
const json = (index: number, partial_json: string): Wire =>
  change(index, { type: "input_json_delta", partial_json });
const stop = (index: number): Wire => ({ type: "content_block_stop", index });
const frame = (data: Wire): Frame => ({
  event: data.type,
  data: JSON.stringify(data),
});

function read(
  wire: readonly (Wire | Frame)[],
  context: DecodeContext = PLAIN_CONTEXT,
): readonly ReplyEvent[] {
  const decoder = streamDecoder(context);
  const events: ReplyEvent[] = [];
  for (const one of wire) {
    events.push(...decoder.push("type" in one ? frame(one) : one));
  }
  return [...events, ...decoder.end()];
}

function inside(
  ...wire: readonly Wire[]
): readonly ReplyEvent[] {
  const events = read([START, ...wire, END_TURN, STOP]);
  assert.deepEqual(events[0], STARTED);
  assert.deepEqual(events.slice(-3), OVER);
  return events.slice(1, -3);
}

const textReply = (...texts: string[]): readonly ReplyEvent[] => [
  { type: "open", kind: "text" },
  ...texts.map((one) => ({ type: "delta" as const, text: one })),
  CLOSE,
];

Deno.test("streamDecoder() reads blocks", async (t) => {
  const rows: readonly [string, readonly Wire[], readonly ReplyEvent[]][] = [
    [
      "text",
      [text(0), more(0, "a"), more(0, "b"), stop(0)],
      textReply("a", "b"),
    ],
    [
      "text from the start",
      [text(0, "a"), more(0, ""), stop(0)],
      textReply("a"),
    ],
    [
      "a call with all arguments in its start",
      [
        begin(0, toolUse("a", "f", { x: 1 })),
        stop(0),
      ],
      toolBlock("a", "f", '{"x":1}'),
    ],
    [
      "a call whose arguments come twice",
      [
        begin(0, toolUse("a", "f", { x: 1 })),
        json(0, '{"x":1}'),
        stop(0),
      ],
      toolBlock("a", "f", '{"x":1}'),
    ],
    [
      "server tools and notes, passed over with their deltas",
      [
        begin(0, { type: "server_tool_use", id: "s", name: "w", input: {} }),
        json(0, '{"q":1}'),
        stop(0),
        begin(1, { type: "web_search_tool_result", content: [{}] }),
        stop(1),
        begin(2, { type: "compaction" }),
        change(2, { type: "text_delta", text: "x" }),
        stop(2),
        text(3),
        change(3, { type: "citations_delta", citation: {} }),
        more(3, "a"),
        stop(3),
      ],
      textReply("a"),
    ],
    [
      "blocks that overlap, one after another",
      [
        begin(0, toolUse("a")),
        begin(1, toolUse("b", "g")),
        json(0, "{"),
        json(1, "["),
        json(0, "}"),
        json(1, "]"),
        stop(1),
        stop(0),
      ],
      [
        ...toolBlock("a", "f", "{", "}"),
        ...toolBlock("b", "g", "[", "]"),
      ],
    ],
    [
      "blocks without stops",
      [text(0), more(0, "a"), text(1), more(1, "b")],
      [...textReply("a"), ...textReply("b")],
    ],
    [
      "a signature where there is no reasoning",
      [
        text(0),
        more(0, "a"),
        change(0, { type: "signature_delta", signature: "S" }),
        stop(0),
      ],
      textReply("a"),
    ],
    ["a delta without a start", [more(0, "a"), stop(0)], textReply("a")],
    [
      "reasoning in a text's place",
      [
        text(0),
        change(0, { type: "thinking_delta", thinking: "hm" }),
        stop(0),
      ],
      [
        ...textReply(),
        ...blockOf("reasoning", "hm"),
      ],
    ],
    [
      "pings and newer events anywhere",
      [
        { type: "ping" },
        text(0),
        { type: "hologram", error: { message: "x" } },
        more(0, "a"),
        { type: "ping" },
        stop(0),
      ],
      textReply("a"),
    ],
  ];
  for (const [name, wire, expected] of rows) {
    await t.step(name, () => assert.deepEqual(inside(...wire), expected));
  }
});

Deno.test("streamDecoder() names a delta of an unknown type", () => {
  const [opened, ...rest] = textReply("a");
  assert.deepEqual(
    inside(
      text(0),
      change(0, { type: "hologram_delta" }),
      more(0, "a"),
      stop(0),
    ),
    [opened, { type: "lost", kind: "hologram_delta" }, ...rest],
  );
});

Deno.test("streamDecoder() passes over a block of an unknown type, and names it", () => {
  const events = read([
    { type: "message_start", message: {} },
    begin(0, { type: "hologram" }),
    change(0, { type: "text_delta", text: "x" }),
    stop(0),
    text(1),
    more(1, "a"),
    stop(1),
    END_TURN,
    STOP,
  ]);
  assert.deepEqual(events, [
    { type: "start" },
    { type: "lost", kind: "hologram" },
    ...textReply("a"),
    ...OVER,
  ]);
});

Deno.test("streamDecoder() reads content in the start event", () => {
  const events = read([
    {
      type: "message_start",
      message: {
        content: [
          { type: "text", text: "a" },
          toolUse("t", "f", { x: 1 }),
        ],
      },
    },
    END_TURN,
    STOP,
  ]);
  assert.deepEqual(events, [
    { type: "start" },
    ...textReply("a"),
    ...toolBlock("t", "f", '{"x":1}'),
    ...OVER,
  ]);
});

Deno.test("streamDecoder() reads a delta without a type", () => {
  assert.deepEqual(
    inside(text(0), change(0, { text: "a" }), stop(0)),
    textReply("a"),
  );
});

Deno.test("streamDecoder() continues after a second start", () => {
  const second: Wire = {
    type: "message_start",
    message: { id: "msg_2", usage: { input_tokens: 4 } },
  };
  assert.deepEqual(
    inside(text(0), more(0, "a"), second, text(0), more(0, "b"), stop(0)),
    [
      ...textReply("a"),
      { type: "usage", usage: { input: 4 } },
      ...textReply("b"),
    ],
  );
});

Deno.test("streamDecoder() reads usage: the last figure counts, except a zero", async (t) => {
  const rows: readonly [string, unknown, unknown][] = [
    ["output alone", { output_tokens: 9 }, { output: 9 }],
    [
      "a larger bill",
      {
        input_tokens: 404500,
        cache_read_input_tokens: 2,
        cache_creation_input_tokens: 0,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 4 },
      },
      {
        input: 404500,
        cacheRead: 2,
        cacheWrite: 0,
        output: 9,
        reasoning: 4,
      },
    ],
    [
      "a zero that a proxy made up",
      { input_tokens: 0, output_tokens: 9 },
      { output: 9 },
    ],
    ["nulls", { input_tokens: null, output_tokens: 9 }, { output: 9 }],
  ];
  for (const [name, usage, expected] of rows) {
    await t.step(name, () => {
      const events = read([START, { ...END_TURN, usage }, STOP]);
      assert.deepEqual(events[2], { type: "usage", usage: expected });
    });
  }
  await t.step("none at all", () => {
    const { usage: _, ...bare } = END_TURN;
    assert.deepEqual(read([START, { ...bare, type: "message_delta" }, STOP]), [
      STARTED,
      OVER[0],
      { type: "end" },
    ]);
  });
});

Deno.test("streamDecoder() turns the format tool's arguments back into text", () => {
  const events = read([
    START,
    begin(0, toolUse("a", "out")),
    json(0, '{"n":'),
    json(0, "1}"),
    stop(0),
    {
      type: "message_delta",
      delta: { stop_reason: "tool_use" },
      usage: { output_tokens: 9 },
    },
    STOP,
  ], { toolNames: new Map(), formatTool: "out" });
  assert.deepEqual(events, [
    STARTED,
    { type: "open", kind: "text", isAnswer: true },
    ...textReply('{"n":', "1}").slice(1),
    { type: "stop", reason: "end", raw: "tool_use" },
    ...OVER.slice(1),
  ]);
});

Deno.test("streamDecoder() needs no event names, and takes them where the data has no type", () => {
  const bare = (data: Wire): Frame => ({ data: JSON.stringify(data) });
  assert.deepEqual(read([START, END_TURN, STOP].map(bare)), [STARTED, ...OVER]);
  assert.deepEqual(
    read([frame(START), frame(END_TURN), {
      event: "message_stop",
      data: "{}",
    }]),
    [STARTED, ...OVER],
  );
});

Deno.test("streamDecoder() distinguishes a cut stream from a finished one", async (t) => {
  const rows: readonly [string, readonly Wire[], boolean][] = [
    ["nothing", [], false],
    ["a start", [START], false],
    ["an open block", [START, text(0), more(0, "a")], false],
    ["a closed block", [START, text(0), more(0, "a"), stop(0)], false],
    ["a stop reason without the last event", [START, END_TURN], true],
    [
      "a delta without a stop reason",
      [START, { type: "message_delta", delta: {}, usage: {} }],
      false,
    ],
    ["an unknown word without the last event", [START, {
      ...END_TURN,
      delta: { stop_reason: "never_heard_of" },
    }], true],
    ["an empty stop reason", [START, {
      ...END_TURN,
      delta: { stop_reason: "" },
    }], false],
    ["an empty stop reason and the last event", [START, {
      ...END_TURN,
      delta: { stop_reason: "" },
    }, STOP], true],
    ["the last event", [START, STOP], true],
    ["the last event alone", [STOP], false],
  ];
  for (const [name, wire, finished] of rows) {
    await t.step(name, () => {
      const last = read(wire).at(-1);
      if (finished) assert.deepEqual(last, { type: "end" });
      else {
        assert.ok(last?.type === "error");
        assert.equal(last.error.kind, "upstream");
        assert.equal(
          last.error.message,
          "the upstream's stream ended before its reply was finished",
        );
      }
    });
  }
});

Deno.test("streamDecoder() returns nothing after the end or an error", () => {
  const decoder = streamDecoder(PLAIN_CONTEXT);
  for (const one of [START, END_TURN, STOP]) decoder.push(frame(one));
  assert.deepEqual(decoder.push(frame(text(0, "a"))), []);
  assert.deepEqual(decoder.push({ data: "{" }), []);
  assert.deepEqual(decoder.end(), []);
  const failed = streamDecoder(PLAIN_CONTEXT);
  failed.push(frame(START));
  assert.equal(failed.push({ data: "{" })[0]?.type, "error");
  assert.deepEqual(failed.push(frame(STOP)), []);
  assert.deepEqual(failed.end(), []);
});

Deno.test("streamDecoder() returns an error for a frame that is not JSON, but accepts unusual ones", () => {
  const [event] = streamDecoder(PLAIN_CONTEXT).push({
    event: "content_block_delta",
    data: '{"type":"content_block_delta","index":0,"del',
  });
  assert.ok(event?.type === "error");
  assert.equal(event.error.kind, "upstream");
  assert.deepEqual(
    read([
      frame(START),
      { data: "[DONE]" },
      { data: " " },
      { data: "null" },
      { data: "[1]" },
      frame(END_TURN),
      frame(STOP),
      { data: "[DONE]" },
    ]),
    [STARTED, ...OVER],
  );
});

Deno.test("streamDecoder() reads errors in the stream by their type", async (t) => {
  const rows: readonly [string, string, string | undefined][] = [
    ["invalid_request_error", "invalid_request", undefined],
    ["not_found_error", "not_found", undefined],
    ["request_too_large", "too_large", undefined],
    ["rate_limit_error", "rate_limit", undefined],
    ["api_error", "upstream", undefined],
    ["timeout_error", "timeout", undefined],
    ["overloaded_error", "overloaded", undefined],
    ["something_newer", "upstream", undefined],
    [
      "authentication_error",
      "upstream",
      "the upstream refused the gateway's own credentials or account; the operator must look into it",
    ],
    [
      "permission_error",
      "upstream",
      "the upstream refused the gateway's own credentials or account; the operator must look into it",
    ],
  ];
  for (const [type, kind, message] of rows) {
    await t.step(type, () => {
      const events = read([START, text(0), {
        type: "error",
        error: { details: null, type, message: "in words" },
        request_id: "req_1",
      }]);
      const last = events.at(-1);
      assert.ok(last?.type === "error");
      assert.equal(last.error.kind, kind);
      assert.equal(last.error.message, message ?? "in words");
      assert.equal(last.error.details.upstreamStatus, undefined);
    });
  }
  await t.step("without any type", () => {
    const events = read([frame(START), {
      data: '{"error":{"message":"in words"}}',
    }]);
    const last = events.at(-1);
    assert.ok(last?.type === "error");
    assert.equal(last.error.message, "in words");
  });
  await t.step("as the very first event", () => {
    const events = read([{
      type: "error",
      error: { type: "overloaded_error", message: "Overloaded" },
    }]);
    assert.equal(events.length, 1);
    assert.equal(events[0]?.type, "error");
  });
});

Deno.test("streamDecoder() keeps concurrent streams apart", () => {
  const one = streamDecoder(PLAIN_CONTEXT);
  const two = streamDecoder(PLAIN_CONTEXT);
  one.push(frame(START));
  one.push(frame(text(0)));
  two.push(frame(START));
  assert.deepEqual(two.push(frame(text(0, "b"))), [
    { type: "open", kind: "text" },
    { type: "delta", text: "b" },
  ]);
  assert.deepEqual(one.push(frame(more(0, "a"))), [
    { type: "delta", text: "a" },
  ]);
});

Deno.test("streamDecoder() returns an error for a call without a name", () => {
  for (const name of ["", undefined]) {
    const events = read([
      START,
      begin(0, { type: "tool_use", id: "toolu_1", name, input: {} }),
      STOP,
    ]);
    const last = events.at(-1);
    assert.ok(last?.type === "error");
    assert.match(last.error.message, /without a name/);
  }
});
