import assert from "node:assert/strict";
import { type DecodeContext, PLAIN_CONTEXT } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { foldReply, type ReplyEvent } from "../../model/reply.ts";
import { namedFrame, sseParser } from "../../stream/sse.ts";
import { decodeReply } from "./decode_reply.ts";
import { streamDecoder } from "./decode_stream.ts";

const CREATED: JsonObject = {
  type: "response.created",
  response: { id: "resp_1", model: "gpt", status: "in_progress", output: [] },
};
const USAGE: JsonObject = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 17,
};
const added = (output_index: number, item: JsonObject): JsonObject => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const done = (output_index: number, item: JsonObject): JsonObject => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const delta = (
  type: string,
  output_index: number,
  text: string,
  more: JsonObject = {},
): JsonObject => ({
  type: `response.${type}.delta`,
  output_index,
  delta: text,
  ...more,
});
const ended = (
  status: string,
  output: readonly JsonObject[] = [],
  more: JsonObject = {},
): JsonObject => ({
  type: `response.${status}`,
  response: { id: "resp_1", status, output, usage: USAGE, ...more },
});
const message = (text: string): JsonObject => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
const functionCall = (args: string, more: JsonObject = {}): JsonObject => ({
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "f",
  arguments: args,
  ...more,
});

function decoded(
  frames: readonly JsonObject[],
  context: DecodeContext = PLAIN_CONTEXT,
): ReplyEvent[] {
  const decoder = streamDecoder(context);
  const text = frames.map((frame) =>
    namedFrame(String(frame["type"]), JSON.stringify(frame))
  ).join("");
  const reader = sseParser();
  const read = [
    ...reader.push(new TextEncoder().encode(text)),
    ...reader.end(),
  ];
  return [
    ...read.flatMap((frame) => decoder.push(frame)),
    ...decoder.end(),
  ];
}

function blocks(frames: readonly JsonObject[]): unknown {
  return foldReply(decoded(frames)).blocks;
}

function failure(frames: readonly JsonObject[]): string {
  const last = decoded(frames).at(-1);
  assert.equal(last?.type, "error");
  return last.type === "error" ? last.error.message : "";
}

Deno.test("streamDecoder() decodes text, usage and the end", () => {
  const reply = foldReply(decoded([
    CREATED,
    added(0, { type: "message", id: "msg_1", content: [] }),
    delta("output_text", 0, "Pa", { content_index: 0 }),
    delta("output_text", 0, "ris", { content_index: 0 }),
    { type: "response.output_text.done", output_index: 0, text: "Paris" },
    done(0, message("Paris")),
    ended("completed", [message("Paris")]),
  ]));
  assert.deepEqual(reply, {
    id: "resp_1",
    model: "gpt",
    blocks: [{ kind: "text", text: "Paris" }],
    usage: { input: 5, cacheRead: 4, cacheWrite: 1, output: 7, reasoning: 2 },
    stop: { reason: "end", raw: "completed" },
  });
});

Deno.test("streamDecoder() names a delta of an unknown type, unless it is of the vendor's own tool", () => {
  const events = decoded([
    CREATED,
    added(0, { type: "code_interpreter_call", id: "ci_1" }),
    delta("code_interpreter_call_code", 0, "1 + 1"),
    added(1, { type: "message", id: "msg_1", content: [] }),
    delta("hologram", 1, "x"),
    delta("output_text", 1, "Paris"),
    ended("completed", [message("Paris")]),
  ]);
  assert.deepEqual(
    events.filter(({ type }) => type === "lost"),
    [{ type: "lost", kind: "hologram.delta" }],
  );
});

Deno.test("streamDecoder() emits content that only a later frame contains, once", () => {
  const whole = [{ kind: "text", text: "Paris" }];
  const arrivals: readonly JsonObject[][] = [
    [delta("output_text", 0, "Par"), done(0, message("Paris"))],
    [{ type: "response.output_text.done", output_index: 0, text: "Paris" }],
    [done(0, message("Paris"))],
    [added(0, { type: "message", id: "m" })],
    [],
  ];
  for (const frames of arrivals) {
    assert.deepEqual(
      blocks([CREATED, ...frames, ended("completed", [message("Paris")])]),
      whole,
    );
  }
});

Deno.test("streamDecoder() emits content once where the whole reply has other items than the frames", async (t) => {
  const reasoning: JsonObject = {
    type: "reasoning",
    id: "rs_other",
    summary: [{ type: "summary_text", text: "hm" }],
  };
  const wholeText = (text: string, id: string): JsonObject => ({
    ...message(text),
    id,
  });
  const streamed = (index: number, text: string): JsonObject[] => [
    added(index, { type: "message", id: "msg_1", content: [] }),
    delta("output_text", index, text, { content_index: 0 }),
    done(index, message(text)),
  ];
  const call = functionCall("{}");
  const { id: _, ...nameless } = call;
  const text = [{ kind: "text", text: "Paris" }];
  const thought = [...text, { kind: "reasoning", text: "hm" }];
  const rows: readonly (readonly [
    string,
    readonly JsonObject[],
    readonly JsonObject[],
    unknown,
  ])[] = [
    ["another id", streamed(0, "Paris"), [wholeText("Paris", "other")], text],
    ["an item before", streamed(0, "Paris"), [
      reasoning,
      wholeText("Paris", "other"),
    ], thought],
    [
      "another place",
      streamed(3, "Paris"),
      [wholeText("Paris", "other")],
      text,
    ],
    [
      "an item less",
      [
        done(0, reasoning),
        ...streamed(1, "Paris"),
      ],
      [message("Paris")],
      [...thought].reverse(),
    ],
    ["one item as two", streamed(0, "Paris"), [
      wholeText("Par", "a"),
      wholeText("is", "b"),
    ], text],
    ["two items as one", [...streamed(0, "Par"), ...streamed(1, "is")], [
      wholeText("Paris", "a"),
    ], [{ kind: "text", text: "Par" }, { kind: "text", text: "is" }]],
    ["other text", streamed(0, "Paris"), [wholeText("Paris.", "other")], text],
    ["another part", [
      added(0, { type: "message", id: "msg_1", content: [] }),
      delta("output_text", 0, "Paris", { content_index: 0 }),
    ], [{
      ...message(""),
      content: [
        { type: "reasoning_text", text: "hm" },
        { type: "output_text", text: "Paris" },
      ],
    }], text],
    ["a call before", [...streamed(0, "Paris"), done(1, call)], [
      nameless,
      wholeText("Paris", "other"),
    ], [...text, { kind: "tool", id: "call_1", name: "f", text: "{}" }]],
    ["a further message", streamed(0, "Paris"), [
      wholeText("Paris", "other"),
      wholeText("Rome", "new"),
    ], [...text, { kind: "text", text: "Rome" }]],
  ];
  for (const [name, frames, output, expected] of rows) {
    await t.step(name, () => {
      assert.deepEqual(
        blocks([CREATED, ...frames, ended("completed", output)]),
        expected,
      );
    });
  }
});

Deno.test("streamDecoder() emits a call with its call_id, and its arguments once", () => {
  const call = [{ kind: "tool", id: "call_1", name: "f", text: '{"a":1}' }];
  const start = added(0, functionCall(""));
  const arrivals: readonly JsonObject[][] = [
    [
      start,
      delta("function_call_arguments", 0, '{"a"'),
      delta("function_call_arguments", 0, ""),
      delta("function_call_arguments", 0, ":1}"),
      {
        type: "response.function_call_arguments.done",
        output_index: 0,
        arguments: '{"a":1}',
      },
      done(0, functionCall('{"a":1}')),
    ],
    [start, done(0, functionCall('{"a":1}'))],
    [start, {
      type: "response.function_call_arguments.done",
      output_index: 0,
      arguments: '{"a":1}',
    }],
    [
      delta("function_call_arguments", 0, '{"a":1}'),
      done(0, functionCall('{"a":1}')),
    ],
    [start],
  ];
  for (const frames of arrivals) {
    const reply = foldReply(decoded([
      CREATED,
      ...frames,
      ended("completed", [functionCall('{"a":1}')]),
    ]));
    assert.deepEqual(reply.blocks, call);
    assert.equal(reply.stop?.reason, "tool_use");
  }
});

Deno.test("streamDecoder() does not open a complete call again", () => {
  assert.deepEqual(
    blocks([
      CREATED,
      done(0, functionCall("{}")),
      {
        type: "response.function_call_arguments.done",
        output_index: 0,
        arguments: "{}",
      },
      ended("completed"),
    ]),
    [{ kind: "tool", id: "call_1", name: "f", text: "{}" }],
  );
});

Deno.test("streamDecoder() treats a call without arguments or end as cut short", () => {
  assert.match(
    failure([CREATED, added(0, functionCall("")), ended("completed")]),
    /middle of a tool call/,
  );
});

Deno.test("streamDecoder() separates items by output_index, whatever their ids", () => {
  const second = functionCall('{"b":2}', { call_id: "call_2" });
  assert.deepEqual(
    blocks([
      CREATED,
      added(0, functionCall("", { id: "x1" })),
      added(1, { ...second, arguments: "", id: "y1" }),
      delta("function_call_arguments", 1, '{"b":', { item_id: "r1" }),
      delta("function_call_arguments", 0, '{"a":', { item_id: "r2" }),
      delta("function_call_arguments", 1, "2}", { item_id: "r3" }),
      delta("function_call_arguments", 0, "1}", { item_id: "r4" }),
      done(1, second),
      done(0, functionCall('{"a":1}')),
      ended("completed"),
    ]),
    [
      { kind: "tool", id: "call_1", name: "f", text: '{"a":1}' },
      { kind: "tool", id: "call_2", name: "f", text: '{"b":2}' },
    ],
  );
});

Deno.test("streamDecoder() separates an item without output_index from all others", () => {
  assert.deepEqual(
    blocks([
      CREATED,
      delta("reasoning_text", 2, "hm"),
      done(0, message("zero")),
      { type: "response.output_text.delta", delta: "nowhere" },
      ended("incomplete"),
    ]),
    [
      { kind: "reasoning", text: "hm" },
      { kind: "text", text: "zero" },
      { kind: "text", text: "nowhere" },
    ],
  );
});

Deno.test("streamDecoder() emits one block of reasoning, with the signature in its last frame", () => {
  const proof = (value: string): JsonObject => ({
    type: "reasoning",
    id: "rs_1",
    summary: [],
    encrypted_content: value,
  });
  assert.deepEqual(
    blocks([
      CREATED,
      added(0, proof("early")),
      delta("reasoning_summary_text", 0, "one", { summary_index: 0 }),
      delta("reasoning_summary_text", 0, "two", { summary_index: 1 }),
      delta("reasoning_text", 0, "raw", { content_index: 0 }),
      done(0, proof("late")),
      added(1, proof("early")),
      done(1, proof("alone")),
      done(2, message("hi")),
      ended("completed"),
    ]),
    [
      {
        kind: "reasoning",
        text: "one\n\ntwo",
        signature: { from: "responses", value: "late" },
      },
      {
        kind: "reasoning",
        text: "",
        signature: { from: "responses", value: "alone", redacted: true },
      },
      { kind: "text", text: "hi" },
    ],
  );
});

Deno.test("streamDecoder() takes a signature from the first frame of its item if the last one has none", () => {
  const item = { type: "reasoning", id: "rs_1", summary: [] };
  assert.deepEqual(
    blocks([
      CREATED,
      added(0, { ...item, encrypted_content: "early" }),
      delta("reasoning_summary_text", 0, "one", { summary_index: 0 }),
      done(0, item),
      done(1, message("hi")),
      ended("completed"),
    ]),
    [
      {
        kind: "reasoning",
        text: "one",
        signature: { from: "responses", value: "early" },
      },
      { kind: "text", text: "hi" },
    ],
  );
});

Deno.test("streamDecoder() emits the input of a free-text call as arguments", () => {
  const custom: JsonObject = {
    type: "custom_tool_call",
    call_id: "c",
    name: "patch",
    namespace: "ns",
    input: 'a"\n\u{1F600}',
  };
  const reply = foldReply(decoded([
    CREATED,
    added(0, { ...custom, input: "" }),
    delta("custom_tool_call_input", 0, 'a"'),
    delta("custom_tool_call_input", 0, "\n\ud83d"),
    done(0, custom),
    ended("completed"),
  ]));
  const [block] = reply.blocks;
  assert.equal(block?.kind === "tool" && block.name, "ns__patch");
  assert.deepEqual(JSON.parse(block?.text ?? ""), { input: 'a"\n\u{1F600}' });
});

Deno.test("streamDecoder() reports why a reply is incomplete", () => {
  for (
    const [reason, neutral] of [
      ["max_output_tokens", "max_tokens"],
      ["length", "max_tokens"],
      ["content_filter", "refusal"],
      ["max_messages", "max_tokens"],
      ["steered", "max_tokens"],
      ["something new", "other"],
      ["constructor", "other"],
    ]
  ) {
    const reply = foldReply(decoded([
      CREATED,
      delta("output_text", 0, "Pa"),
      ended("incomplete", [], { incomplete_details: { reason } }),
    ]));
    assert.equal(reply.stop?.reason, neutral);
    assert.equal(reply.usage.output, 7);
  }
});

Deno.test("streamDecoder() does not treat a failed reply as complete", () => {
  const error = { code: "server_error", message: "the model broke" };
  const failing: readonly (readonly JsonObject[])[] = [
    [ended("failed", [], { error })],
    [{ type: "response.completed", response: { status: "failed", error } }],
    [{ type: "error", code: "server_error", message: "the model broke" }],
    [{ type: "error", error }],
    [{ type: "error", error: "the model broke" }],
  ];
  for (const frames of failing) {
    assert.equal(
      failure([CREATED, delta("output_text", 0, "Pa"), ...frames]),
      "the model broke",
    );
  }
  failure([CREATED, ended("cancelled")]);
  failure([CREATED, { type: "response.completed", response: {} }]);
});

Deno.test("streamDecoder() emits nothing for the first frames of a reply, so that its failure can be an HTTP status", () => {
  for (
    const failing of [
      ended("failed", [], { error: { message: "no" } }),
      { type: "error", message: "no" },
      ended("completed", [], { usage: null }),
    ]
  ) {
    const events = decoded([CREATED, CREATED, failing]);
    assert.deepEqual(events.map(({ type }) => type), ["error"]);
  }
});

Deno.test("streamDecoder() emits nothing after a failure, even if items are still open", () => {
  const events = decoded([
    CREATED,
    delta("output_text", 1, "half"),
    delta("function_call_arguments", 0, '{"a"'),
    ended("incomplete"),
  ]);
  assert.equal(events.at(-1)?.type, "error");
  assert.equal(events.filter(({ type }) => type === "error").length, 1);
});

Deno.test("streamDecoder() reports the usage of a failed reply", () => {
  const events = decoded([
    CREATED,
    delta("output_text", 0, "Pa"),
    ended("failed", [], { error: { message: "no" } }),
  ]);
  const usage = events.find(({ type }) => type === "usage");
  assert.equal(usage?.type === "usage" && usage.usage.output, 7);
});

Deno.test("streamDecoder() treats a stream without its last event as truncated, after any frame", () => {
  const frames = [
    CREATED,
    added(0, message("")),
    delta("output_text", 0, "Pa"),
    done(0, message("Pa")),
  ];
  for (let kept = 0; kept <= frames.length; kept++) {
    assert.match(failure(frames.slice(0, kept)), /before its reply was/);
  }
});

Deno.test("streamDecoder() accepts frames without event lines, and an older backend's end", () => {
  const decoder = streamDecoder(PLAIN_CONTEXT);
  const events = [
    CREATED,
    delta("output_text", 0, "hi"),
    { type: "response.done", response: { status: "completed" } },
  ].flatMap((frame) => decoder.push({ data: JSON.stringify(frame) }));
  assert.deepEqual(decoder.push({ data: "[DONE]" }), []);
  assert.deepEqual(decoder.end(), []);
  assert.equal(events.at(-1)?.type, "end");
});

Deno.test("streamDecoder() fails a stream with a frame that is not JSON", () => {
  const decoder = streamDecoder(PLAIN_CONTEXT);
  assert.equal(decoder.push({ data: '{"type":' })[0]?.type, "error");
  assert.deepEqual(decoder.end(), []);
});

Deno.test("streamDecoder() skips the items of vendors' own tools", () => {
  assert.deepEqual(
    blocks([
      CREATED,
      added(0, { type: "web_search_call", id: "ws_1" }),
      { type: "response.web_search_call.searching", output_index: 0 },
      added(1, message("")),
      delta("output_text", 1, "found"),
      done(0, { type: "web_search_call", id: "ws_1" }),
      done(1, message("found")),
      ended("completed", [
        { type: "web_search_call", id: "ws_1" },
        message("found"),
      ]),
    ]),
    [{ kind: "text", text: "found" }],
  );
});

Deno.test("a reply ends with the calls that its client must answer, whole and streamed", async (t) => {
  const program = { type: "program", id: "p", call_id: "call_p", code: "f()" };
  const byProgram = { caller: { type: "program", caller_id: "call_p" } };
  const shell = {
    type: "shell_call",
    id: "s",
    call_id: "call_s",
    ...byProgram,
  };
  const text = message("so far");
  const rows: readonly (readonly [string, readonly JsonObject[], string])[] = [
    ["a program's call", [program, functionCall("{}", byProgram)], "tool_use"],
    ["a program without its output", [text, program], "other"],
    ["a program with its output", [
      program,
      { type: "program_output", call_id: "call_p", result: "1" },
      text,
    ], "end"],
    ["a call that no other format has", [text, program, shell], "other"],
    ["one that the vendor answered", [
      shell,
      { type: "shell_call_output", call_id: "call_s", output: [] },
      text,
    ], "end"],
    ["an approval", [text, { type: "mcp_approval_request", id: "a" }], "other"],
    ["beside a call of the client's", [shell, functionCall("{}")], "tool_use"],
    ["a picture", [
      { type: "image_generation_call", id: "i", result: "AA" },
      text,
    ], "other"],
    ["a tool that the vendor ran", [
      { type: "web_search_call", id: "w", status: "completed" },
      text,
    ], "end"],
  ];
  for (const [name, items, reason] of rows) {
    await t.step(name, () => {
      const frames = [
        CREATED,
        ...items.flatMap((item, n) => [added(n, item), done(n, item)]),
        ended("completed", items),
      ];
      const whole = { id: "r", status: "completed", output: items };
      for (
        const events of [
          decoded(frames),
          decoded([CREATED, ended("completed", items)]),
          decodeReply(whole, PLAIN_CONTEXT),
        ]
      ) assert.equal(foldReply(events).stop?.reason, reason);
    });
  }
});

Deno.test("decodeReply() fails a reply that is not complete", () => {
  const bodies: readonly unknown[] = [
    { status: "failed", error: { code: "server_error", message: "no" } },
    { status: "in_progress", output: [message("hi")] },
    { status: "queued", output: [] },
    { status: "completed", output: [] },
    { error: { message: "no" } },
    { code: "x", error: "no" },
    { object: "list" },
    [],
    null,
  ];
  for (const body of bodies) {
    const events = decodeReply(body, PLAIN_CONTEXT);
    assert.equal(events.at(-1)?.type, "error", JSON.stringify(body));
  }
});

Deno.test("a call whose arguments are nested too deeply is an upstream error", () => {
  // V8 serializes objects with numeric keys recursively.
  const args = `${'{"5":'.repeat(9_000)}1${"}".repeat(9_000)}`;
  const item =
    `{"type":"function_call","call_id":"a","name":"f","arguments":${args}}`;
  const isFault = (error: unknown): boolean =>
    error instanceof ApiError && error.kind === "upstream";
  assert.throws(
    () =>
      decodeReply(
        JSON.parse(`{"status":"completed","output":[${item}]}`),
        PLAIN_CONTEXT,
      ),
    isFault,
  );
  assert.throws(
    () =>
      streamDecoder(PLAIN_CONTEXT).push({
        data:
          `{"type":"response.output_item.done","output_index":0,"item":${item}}`,
      }),
    isFault,
  );
});
