import assert from "node:assert/strict";
import { type DecodeContext, PLAIN_CONTEXT } from "../../dialect.ts";
import { foldReply, type ReplyEvent } from "../../model/reply.ts";
import type { Frame } from "../../stream/sse.ts";
import { streamDecoder } from "./decode_stream.ts";
import { assistant, text } from "../../testing/request_samples.ts";

type Chunk = Record<string, unknown>;

const DONE: Frame = { data: "[DONE]" };
const TRUNCATED = "the upstream's stream ended before its reply was finished";

function frame(chunk: unknown): Frame {
  return { data: JSON.stringify(chunk) };
}

function choice(delta: unknown, more: Chunk = {}, top: Chunk = {}): Frame {
  return frame({
    id: "u1",
    model: "um",
    choices: [{ index: 0, delta, ...more }],
    ...top,
  });
}

function toolDelta(...calls: Chunk[]): Frame {
  return choice({ tool_calls: calls });
}

function finish(reason: string, top: Chunk = {}): Frame {
  return choice({}, { finish_reason: reason }, top);
}

function read(
  frames: readonly Frame[],
  context: DecodeContext = PLAIN_CONTEXT,
): readonly ReplyEvent[] {
  const decoder = streamDecoder(context);
  const events = [...frames.flatMap((one) => [...decoder.push(one)])];
  events.push(...decoder.end());
  assertOrdered(events);
  return events;
}

/**
 * Asserts the rules of every event sequence: at most one start, one open block at a time, one
 * last event.
 */
function assertOrdered(events: readonly ReplyEvent[]): void {
  let open = false;
  let starts = 0;
  events.forEach((event, index) => {
    switch (event.type) {
      case "start":
        starts++;
        assert.equal(index, 0);
        break;
      case "open":
        assert.equal(open, false, "a block opened inside another");
        open = true;
        break;
      case "delta":
        assert.notEqual(event.text, "");
        assert.equal(open, true);
        break;
      case "sign":
        assert.equal(open, true);
        break;
      case "close":
        assert.equal(open, true);
        open = false;
        break;
      case "end":
        assert.equal(open, false);
        assert.equal(index, events.length - 1);
        break;
      case "error":
        assert.equal(index, events.length - 1);
        break;
      case "stop":
      case "usage":
        break;
    }
  });
  assert.ok(starts <= 1);
  assert.ok(["end", "error"].includes(events.at(-1)?.type ?? ""));
}

/** Blocks in a short notation: `text:a`, `f#id({})`. */
function blocks(events: readonly ReplyEvent[]): string[] {
  return foldReply(events).blocks.map((block) =>
    block.kind === "tool"
      ? `${block.name}#${block.id ?? ""}(${block.text})`
      : `${block.kind}:${block.text}`
  );
}

function failure(events: readonly ReplyEvent[]) {
  const last = events.at(-1);
  assert.ok(last?.type === "error", "no error came");
  return last.error;
}

// The open block's kind decides.
Deno.test("streamDecoder() opens a new block for text after a call", () => {
  assert.deepEqual(
    blocks(read([
      choice({ reasoning_content: "r1" }),
      choice({ content: "a" }),
      toolDelta({
        index: 0,
        id: "t",
        function: { name: "f", arguments: "{}" },
      }),
      choice({ content: "b" }),
      choice({ reasoning_content: "r2" }),
      choice({ content: "c" }),
      finish("tool_calls"),
      DONE,
    ])),
    ["reasoning:r1", "text:a", "f#t({})", "text:b", "reasoning:r2", "text:c"],
  );
});

Deno.test("streamDecoder() queues fragments of later calls until the open call is complete", () => {
  const events = read([
    toolDelta({ index: 0, id: "a", function: { name: "f", arguments: "" } }),
    toolDelta({ index: 1, id: "b", function: { name: "g", arguments: "" } }),
    toolDelta({ index: 0, function: { arguments: '{"x":"}' } }),
    toolDelta({ index: 1, function: { arguments: '{"y":' } }),
    toolDelta({ index: 0, function: { arguments: '\\""}' } }),
    toolDelta({ index: 1, function: { arguments: "2}" } }),
    finish("tool_calls"),
    DONE,
  ]);
  assert.deepEqual(blocks(events), ['f#a({"x":"}\\""})', 'g#b({"y":2})']);
});

Deno.test("streamDecoder() keeps text and calls that arrive while a call is incomplete", () => {
  assert.deepEqual(
    blocks(read([
      toolDelta({ index: 0, id: "a", function: { name: "f", arguments: "{" } }),
      choice({ content: "te" }),
      choice({ content: "xt" }),
      toolDelta({ index: 1, id: "b", function: { name: "g", arguments: "" } }),
      choice({ reasoning_content: "r" }),
      toolDelta({ index: 0, function: { arguments: "}" } }),
      choice({ content: "end" }),
      toolDelta({ index: 1, function: { arguments: "{}" } }),
      finish("tool_calls"),
      DONE,
    ])),
    ["f#a({})", "text:text", "g#b({})", "reasoning:r", "text:end"],
  );
});

Deno.test("streamDecoder() forwards fragments of the open call as they arrive", () => {
  const decoder = streamDecoder(PLAIN_CONTEXT);
  decoder.push(
    toolDelta({ index: 0, id: "a", function: { name: "f", arguments: "" } }),
  );
  assert.deepEqual(
    decoder.push(toolDelta({ index: 0, function: { arguments: '{"x' } })),
    [{ type: "delta", text: '{"x' }],
  );
});

Deno.test("streamDecoder() opens a call as soon as id and name are known", () => {
  const decoder = streamDecoder(PLAIN_CONTEXT);
  assert.deepEqual(decoder.push(toolDelta({ index: 0, id: "a" })), [
    { type: "start", id: "u1", model: "um" },
  ]);
  assert.deepEqual(
    decoder.push(toolDelta({ index: 0, function: { arguments: "{" } })),
    [],
  );
  assert.deepEqual(
    decoder.push(toolDelta({ index: 0, function: { name: "f" } })),
    [
      { type: "open", kind: "tool", id: "a", name: "f" },
      { type: "delta", text: "{" },
    ],
  );
});

Deno.test("streamDecoder() opens a call of the deprecated form immediately", () => {
  const decoder = streamDecoder(PLAIN_CONTEXT);
  decoder.push(choice({ role: "assistant" }));
  assert.deepEqual(
    decoder.push(choice({ function_call: { name: "f", arguments: "" } })),
    [{ type: "open", kind: "tool", name: "f" }],
  );
});

Deno.test("streamDecoder() waits for an id until the arguments begin", () => {
  const decoder = streamDecoder(PLAIN_CONTEXT);
  decoder.push(choice({ role: "assistant" }));
  assert.deepEqual(
    decoder.push(
      toolDelta({ index: 0, function: { name: "f", arguments: "" } }),
    ),
    [],
  );
  assert.deepEqual(
    decoder.push(toolDelta({ index: 0, id: "", function: { arguments: "{" } })),
    [{ type: "open", kind: "tool", name: "f" }, { type: "delta", text: "{" }],
  );
});

Deno.test("streamDecoder() separates calls however they are numbered", async (t) => {
  const f = (text: string) => ({ name: "f", arguments: text });
  const rows: [string, Frame[], string[]][] = [
    ["no index, ids", [
      toolDelta({ id: "a", function: f('{"x":1}') }, {
        id: "b",
        function: f('{"x":2}'),
      }),
    ], ['f#a({"x":1})', 'f#b({"x":2})']],
    ["no index, fragments by id", [
      toolDelta({ id: "a", function: f("") }),
      toolDelta({ id: "a", function: { arguments: "{}" } }),
      toolDelta({ id: "b", function: f("{}") }),
    ], ["f#a({})", "f#b({})"]],
    ["no index, later fragments bare", [
      toolDelta({ id: "a", function: f("") }),
      toolDelta({ function: { arguments: "{" } }),
      toolDelta({ function: { arguments: "}" } }),
    ], ["f#a({})"]],
    ["null index", [
      toolDelta({ index: null, id: "a", function: f("{}") }),
      toolDelta({ index: null, id: "b", function: f("{}") }),
    ], ["f#a({})", "f#b({})"]],
    ["all 0, other ids", [
      toolDelta({ index: 0, id: "a", function: f("{}") }),
      toolDelta({ index: 0, id: "b", function: f("{}") }),
    ], ["f#a({})", "f#b({})"]],
    ["all 0, interleaved by id", [
      toolDelta({ index: 0, id: "a", function: f("{") }),
      toolDelta({ index: 0, id: "b", function: f("{") }),
      toolDelta({ index: 0, id: "a", function: { arguments: "}" } }),
      toolDelta({ index: 0, id: "b", function: { arguments: "}" } }),
    ], ["f#a({})", "f#b({})"]],
    ["all 0, no ids", [
      toolDelta({ index: 0, function: f('{"x":1}') }),
      toolDelta({ index: 0, function: f('{"x":2}') }),
    ], ['f#({"x":1})', 'f#({"x":2})']],
    ["no index, no ids, whole", [
      toolDelta({ function: f('{"x":1}') }, { function: f('{"x":2}') }),
    ], ['f#({"x":1})', 'f#({"x":2})']],
    ["no index, no ids, the second with arguments", [
      toolDelta({ function: f("") }, { function: f("{}") }),
    ], ["f#()", "f#({})"]],
    ["another fragment for a call that is complete and closed", [
      toolDelta({ index: 0, id: "a", function: f("{}") }),
      toolDelta({ index: 1, id: "b", function: f("{") }),
      toolDelta({ index: 0, function: { arguments: " {}" } }),
      toolDelta({ index: 1, function: { arguments: "}" } }),
    ], ["f#a({})", "f#b({})"]],
    ["no index, no ids, same function", [
      toolDelta({ function: f("") }, { function: f("") }),
    ], ["f#()", "f#()"]],
    ["all 0, no ids, other name", [
      toolDelta({ index: 0, function: f("") }),
      toolDelta({ index: 0, function: { name: "g", arguments: "" } }),
    ], ["f#()", "g#()"]],
    ["empty ids", [
      toolDelta({ index: 0, id: "", function: f("{}") }, {
        index: 1,
        id: "",
        function: f("{}"),
      }),
    ], ["f#({})", "f#({})"]],
    ["same index twice in a chunk", [
      toolDelta(
        { index: 0, id: "a", function: f("") },
        { index: 0, function: { arguments: "{" } },
        { index: 0, function: { arguments: "}" } },
      ),
    ], ["f#a({})"]],
    ["id and name repeated in every fragment", [
      toolDelta({ index: 0, id: "a", function: f("{") }),
      toolDelta({ index: 0, id: "a", function: f("}") }),
      toolDelta({ index: 0, id: "a", function: f("") }),
    ], ["f#a({})"]],
    ["name repeated in every fragment, no id", [
      toolDelta({ index: 0, function: f("{") }),
      toolDelta({ index: 0, function: f("}") }),
      toolDelta({ index: 0, function: f("") }),
    ], ["f#({})"]],
    ["arguments as an object", [
      toolDelta({
        index: 0,
        id: "a",
        function: { name: "f", arguments: { x: 1 } },
      }),
    ], ['f#a({"x":1})']],
    ["null entries", [
      choice({ tool_calls: [null, { index: 0, id: "a", function: f("{}") }] }),
    ], ["f#a({})"]],
    ["calls without arguments", [
      toolDelta({ index: 0, id: "a", function: f("") }),
      toolDelta({ index: 1, id: "b", function: f("") }),
    ], ["f#a()", "f#b()"]],
    ["null arguments", [
      toolDelta({
        index: 0,
        id: "a",
        function: { name: "f", arguments: null },
      }),
    ], ["f#a()"]],
    ["an empty call without id and name", [
      toolDelta({ index: 0, function: { arguments: "" } }),
      choice({ content: "x" }),
    ], ["text:x"]],
  ];
  for (const [name, frames, expected] of rows) {
    await t.step(name, () => {
      assert.deepEqual(
        blocks(read([...frames, finish("tool_calls"), DONE])),
        expected,
      );
    });
  }
});

Deno.test("streamDecoder() fails a reply with arguments for a call without a name", () => {
  const events = read([
    toolDelta({ index: 0, id: "a", function: { arguments: "{}" } }),
    finish("tool_calls"),
    DONE,
  ]);
  assert.equal(
    failure(events).message,
    "the upstream sent a tool call without a name",
  );
});

Deno.test("streamDecoder() opens nothing for empty pieces", () => {
  assert.deepEqual(
    blocks(read([
      choice({
        content: "",
        reasoning_content: "",
        refusal: "",
        tool_calls: [],
      }),
      choice({ content: null, reasoning_content: null, tool_calls: null }),
      choice({ reasoning_content: "r" }),
      choice({ content: "" }),
      choice({ reasoning_content: "s" }),
      finish("stop"),
      DONE,
    ])),
    ["reasoning:rs"],
  );
});

Deno.test("streamDecoder() decodes all content of one chunk, in order", () => {
  const events = read([
    choice(
      {
        role: "assistant",
        tool_calls: [{
          index: 0,
          id: "a",
          function: { name: "f", arguments: "{}" },
        }],
        content: "t",
        reasoning_content: "r",
      },
      { finish_reason: "tool_calls" },
      { usage: { prompt_tokens: 1, completion_tokens: 2 } },
    ),
    DONE,
  ]);
  assert.deepEqual(blocks(events), ["reasoning:r", "text:t", "f#a({})"]);
  assert.deepEqual(foldReply(events).usage, { input: 1, output: 2 });
  assert.equal(foldReply(events).stop?.reason, "tool_use");
});

Deno.test("streamDecoder() reads usage from any chunk, keeps the last one, and ends only at the end of the stream", async (t) => {
  const usage = (completion: number) => ({
    usage: { prompt_tokens: 9, completion_tokens: completion },
  });
  const rows: [string, Frame[]][] = [
    ["after the finish", [finish("stop"), frame({ choices: [], ...usage(7) })]],
    ["on the finish", [finish("stop", usage(7))]],
    ["on every chunk", [
      choice({ content: "x" }, {}, usage(1)),
      choice({ content: "y" }, { finish_reason: "stop" }, usage(4)),
      choice({ content: "z" }, {}, usage(7)),
    ]],
    ["under x_groq", [
      finish("stop", { x_groq: { id: "r", usage: usage(7).usage } }),
    ]],
    ["in the choice", [choice({}, { finish_reason: "stop", ...usage(7) })]],
  ];
  for (const [name, frames] of rows) {
    await t.step(name, () => {
      const events = read([...frames, DONE]);
      assert.deepEqual(foldReply(events).usage, { input: 9, output: 7 });
      assert.equal(events.at(-1)?.type, "end");
      if (name === "on every chunk") {
        assert.deepEqual(blocks(events), ["text:xyz"]);
      }
    });
  }
});

Deno.test("streamDecoder() completes a reply only after a finish reason, or after [DONE] that follows content", async (t) => {
  const text = choice({ content: "x" });
  const other = (fields: Chunk): Frame =>
    frame({ choices: [{ index: 1, ...fields }] });
  const rows: [string, Frame[], string][] = [
    ["finish and [DONE]", [text, finish("stop"), DONE], "end"],
    ["finish without [DONE]", [text, finish("stop")], "end"],
    ["[DONE] without finish", [text, DONE], "end"],
    ["an unknown word without [DONE]", [text, finish("odd")], "end"],
    ["a number without [DONE]", [
      text,
      choice({}, { finish_reason: 2 }),
    ], "end"],
    ["an empty reason without [DONE]", [text, finish("")], "error"],
    ["an empty reason and [DONE]", [text, finish(""), DONE], "end"],
    ["neither", [text], "error"],
    ["usage alone", [text, frame({ choices: [], usage: {} })], "error"],
    ["nothing", [], "error"],
    ["[DONE] alone", [DONE], "error"],
    ["[DONE] after the role", [choice({ role: "assistant" }), DONE], "error"],
    ["an empty answer", [finish("stop"), DONE], "end"],
    ["a second choice without a finish", [
      other({ delta: { content: "y" } }),
      text,
      finish("stop"),
    ], "error"],
    ["a second choice without a finish, and [DONE]", [
      other({ delta: { content: "y" } }),
      text,
      finish("stop"),
      DONE,
    ], "end"],
    ["a second choice that finished first", [
      other({ delta: { content: "y" } }),
      text,
      other({ delta: {}, finish_reason: "length" }),
      other({ delta: {} }),
      finish("stop"),
    ], "end"],
  ];
  for (const [name, frames, last] of rows) {
    await t.step(name, () => {
      const events = read(frames);
      assert.equal(events.at(-1)?.type, last);
      if (last !== "error") return;
      assert.equal(failure(events).message, TRUNCATED);
      assert.equal(failure(events).kind, "upstream");
    });
  }
});

Deno.test("streamDecoder() emits no events after the end", () => {
  const decoder = streamDecoder(PLAIN_CONTEXT);
  decoder.push(finish("stop"));
  assert.equal(decoder.push(DONE).at(-1)?.type, "end");
  assert.deepEqual(decoder.push(choice({ content: "x" })), []);
  assert.deepEqual(decoder.push(DONE), []);
  assert.deepEqual(decoder.end(), []);
});

Deno.test("streamDecoder() converts every kind of failure to an error event", async (t) => {
  const rows: [string, Frame, string, string, string | undefined][] = [
    [
      "event: error with a bare object",
      { event: "error", data: '{"message":"gone","code":503}' },
      "overloaded",
      "gone",
      undefined,
    ],
    [
      "error as text",
      frame({ error: "model crashed" }),
      "upstream",
      "model crashed",
      undefined,
    ],
    [
      "error in the choice",
      choice(undefined, {
        error: { code: 500, message: "boom" },
        finish_reason: "error",
      }),
      "internal",
      "boom",
      undefined,
    ],
    [
      "finish reason error",
      finish("error"),
      "upstream",
      "the upstream failed",
      undefined,
    ],
    [
      "no JSON",
      { data: '{"choices":[{"delta' },
      "upstream",
      "the upstream sent a frame that is not JSON",
      undefined,
    ],
  ];
  for (const [name, bad, kind, message, code] of rows) {
    await t.step(name, () => {
      const events = read([
        choice({ content: "x" }),
        bad,
        choice({ content: "y" }),
        DONE,
      ]);
      const error = failure(events);
      assert.equal(error.kind, kind);
      assert.equal(error.message, message);
      assert.equal(error.details.code, code);
      assert.equal(error.details.upstreamStatus, undefined);
      assert.ok(!JSON.stringify(events).includes('"y"'));
    });
  }
});

Deno.test("streamDecoder() maps finish reasons", async (t) => {
  const rows: [string, string][] = [
    ["stop", "end"],
    ["length", "max_tokens"],
    ["tool_calls", "tool_use"],
    ["function_call", "tool_use"],
    ["content_filter", "refusal"],
    ["eos", "end"],
    ["constructor", "other"],
    ["never_heard_of", "other"],
    ["FINISH_REASON_UNSPECIFIED", "other"],
    ["STOP", "end"],
    ["MAX_TOKENS", "max_tokens"],
    ["max_output_tokens", "max_tokens"],
    ["insufficient_system_resource", "other"],
    ["SAFETY", "refusal"],
    ["RECITATION", "refusal"],
    ["refusal", "refusal"],
    ["stop_sequence", "stop_sequence"],
    ["model_context_window_exceeded", "context_window"],
  ];
  for (const [raw, reason] of rows) {
    await t.step(raw, () => {
      assert.deepEqual(foldReply(read([finish(raw), DONE])).stop, {
        reason,
        raw,
      });
    });
  }
});

Deno.test("streamDecoder() reports the matched stop string if the upstream does", () => {
  const stop = (word: string, value: unknown) =>
    foldReply(read([
      choice({}, { finish_reason: word, stop_reason: value }),
      DONE,
    ])).stop;
  assert.deepEqual(stop("stop", "END"), {
    reason: "stop_sequence",
    raw: "stop",
    sequence: "END",
  });
  assert.deepEqual(stop("stop", 128009), { reason: "end", raw: "stop" });
  assert.deepEqual(stop("stop", null), { reason: "end", raw: "stop" });
  assert.deepEqual(stop("length", "END"), {
    reason: "max_tokens",
    raw: "length",
  });
});

Deno.test("streamDecoder() reports the stop reason refusal if the reply contains a refusal", () => {
  const events = read([
    choice({ refusal: "I " }),
    choice({ refusal: "cannot." }),
    finish("stop"),
    DONE,
  ]);
  assert.deepEqual(blocks(events), ["refusal:I cannot."]);
  assert.deepEqual(foldReply(events).stop, { reason: "refusal", raw: "stop" });
});

Deno.test("streamDecoder() adds a stop reason if [DONE] arrives without one", () => {
  assert.deepEqual(
    foldReply(read([choice({ content: "x" }), DONE])).stop,
    { reason: "end", raw: "" },
  );
  assert.deepEqual(
    foldReply(read([
      toolDelta({
        index: 0,
        id: "a",
        function: { name: "f", arguments: "{}" },
      }),
      DONE,
    ])).stop,
    { reason: "tool_use", raw: "" },
  );
});

Deno.test("streamDecoder() accepts the deviations of vendors", async (t) => {
  const rows: [string, Frame[], string[]][] = [
    ["azure: the first frame only describes the prompt", [
      frame({
        choices: [],
        created: 0,
        id: "",
        model: "",
        object: "",
        prompt_filter_results: [],
      }),
      choice({ content: "x" }),
      finish("stop"),
    ], ["text:x"]],
    ["mistral: content as a list", [
      choice({
        content: [{
          type: "thinking",
          thinking: [text("hm")],
        }],
      }),
      choice({
        content: [text("x"), {
          type: "reference",
          reference_ids: [1],
        }],
      }),
      finish("stop"),
    ], ["reasoning:hm", "text:x"]],
    ["mistral: text, call and finish in one frame", [
      choice({
        content: "x",
        tool_calls: [{ id: "abc", function: { name: "f", arguments: "{}" } }],
      }, { finish_reason: "tool_calls" }),
    ], ["text:x", "f#abc({})"]],
    ["ollama: reasoning beside empty content", [
      choice({ role: "assistant", content: "", reasoning: "hm" }),
      choice(assistant("x")),
      finish("stop"),
    ], ["reasoning:hm", "text:x"]],
    ["openrouter: reasoning in two fields", [
      choice({
        content: "",
        reasoning: "hm",
        reasoning_details: [{ type: "reasoning.text", text: "hm" }],
      }),
      choice({ content: "x" }, { finish_reason: "stop" }),
      choice({ content: "" }, { finish_reason: "stop" }),
    ], ["reasoning:hm", "text:x"]],
    ["openrouter: a summary alone", [
      choice({
        reasoning_details: [{ type: "reasoning.summary", summary: "hm" }],
      }),
      finish("stop"),
    ], ["reasoning:hm"]],
    ["groq: another id in every frame", [
      choice({ content: "x" }),
      frame({ id: "u2", choices: [{ index: 0, delta: { content: "y" } }] }),
      finish("stop"),
    ], ["text:xy"]],
    ["perplexity: message beside delta", [
      frame({
        id: "u1",
        choices: [{
          index: 0,
          message: assistant("xy"),
          delta: { content: "y" },
          finish_reason: "stop",
        }],
      }),
    ], ["text:y"]],
    ["a whole reply in one frame", [
      frame({
        id: "u1",
        choices: [{
          index: 0,
          message: assistant("xy"),
          finish_reason: "stop",
        }],
      }),
    ], ["text:xy"]],
    ["perplexity: a message that grows beside an empty delta at the end", [
      frame({
        id: "u1",
        choices: [{ message: { content: "x" }, delta: { content: "x" } }],
      }),
      frame({
        id: "u1",
        choices: [{
          message: { content: "x" },
          delta: { content: "" },
          finish_reason: "stop",
        }],
      }),
    ], ["text:x"]],
    ["the whole message again at the end", [
      choice({ content: "x" }),
      frame({
        id: "u1",
        choices: [{ message: { content: "x" }, finish_reason: "stop" }],
      }),
    ], ["text:x"]],
    ["messages in place of deltas", [
      frame({ id: "u1", choices: [{ message: { content: "x" } }] }),
      frame({
        id: "u1",
        choices: [{ message: { content: "y" }, finish_reason: "stop" }],
      }),
    ], ["text:xy"]],
    ["together: text of the legacy completions format beside the delta", [
      choice({ content: "x" }, { text: "x" }),
      choice({ content: "y" }, { text: "y", finish_reason: "stop" }),
    ], ["text:xy"]],
    ["text of the legacy completions format alone", [
      frame({ id: "u1", choices: [{ text: "x" }] }),
      frame({ id: "u1", choices: [{ text: "y", finish_reason: "stop" }] }),
    ], ["text:xy"]],
    ["several choices", [
      frame({ id: "u1", choices: [{ index: 1, delta: { content: "n" } }] }),
      choice({ content: "y" }),
      frame({ choices: [{ index: 1, delta: {}, finish_reason: "length" }] }),
      finish("stop"),
    ], ["text:y"]],
    ["the old form", [
      choice({ function_call: { name: "f", arguments: "" } }),
      choice({ function_call: { arguments: "{}" } }),
      finish("function_call"),
    ], ["f#({})"]],
    ["MiniMax: thoughts inside the text", [
      choice({ content: "<think>hm</think>x" }),
      finish("stop"),
    ], ["text:<think>hm</think>x"]],
    ["frames of unknown shape", [
      frame([]),
      frame(null),
      frame(5),
      frame({ object: "keepalive" }),
      { data: "" },
      choice({ content: "x" }),
      finish("stop"),
    ], ["text:x"]],
  ];
  for (const [name, frames, expected] of rows) {
    await t.step(name, () => {
      const events = read([...frames, DONE]);
      assert.deepEqual(blocks(events), expected);
      const stops = events.filter((event) => event.type === "stop");
      assert.equal(stops.length, 1);
    });
  }
});

Deno.test("streamDecoder() starts with the first frame that has an id or content", () => {
  const events = read([
    frame({ choices: [], id: "", model: "" }),
    choice({ content: "x" }),
    finish("stop"),
  ]);
  assert.deepEqual(events[0], { type: "start", id: "u1", model: "um" });
  assert.deepEqual(
    read([
      frame({ id: "", created: 0, choices: [{ delta: { content: "4" } }] }),
      DONE,
    ])[0],
    { type: "start" },
  );
});

Deno.test("streamDecoder() restores tool names and unwraps the tool that replaces a schema", () => {
  const context = {
    toolNames: new Map([["short", "a very long name"]]),
    formatTool: "response",
  };
  const events = read([
    toolDelta(
      { index: 0, id: "a", function: { name: "short", arguments: "{}" } },
      { index: 1, id: "b", function: { name: "response", arguments: '{"x"' } },
    ),
    toolDelta({ index: 1, function: { arguments: ":1}" } }),
    finish("tool_calls"),
    DONE,
  ], context);
  assert.deepEqual(blocks(events), ["a very long name#a({})", 'text:{"x":1}']);
});

Deno.test("streamDecoder() decodes signatures of other formats", () => {
  const claude = (fields: Chunk) => ({
    format: "anthropic-claude-v1",
    ...fields,
  });
  const events = read([
    choice({ reasoning_content: "a" }),
    choice({
      reasoning_details: [
        claude({ type: "reasoning.text", text: "a", signature: "S1" }),
      ],
    }),
    choice({ reasoning_content: "b" }),
    choice({
      reasoning_details: [
        claude({ type: "reasoning.encrypted", data: "E" }),
        { type: "reasoning.encrypted", data: "X", format: "openai" },
      ],
    }),
    toolDelta({
      index: 0,
      id: "t",
      function: { name: "f", arguments: "" },
      extra_content: { google: { thought_signature: "G" } },
    }),
    finish("tool_calls"),
    DONE,
  ]);
  assert.deepEqual(foldReply(events).blocks, [
    {
      kind: "reasoning",
      text: "a",
      signature: { from: "messages", value: "S1" },
    },
    { kind: "reasoning", text: "b" },
    {
      kind: "reasoning",
      text: "",
      signature: { from: "messages", value: "E", redacted: true },
    },
    {
      kind: "reasoning",
      text: "",
      signature: {
        from: "chat_completions",
        value: '[{"type":"reasoning.encrypted","data":"X","format":"openai"}]',
        redacted: true,
      },
    },
    {
      kind: "tool",
      id: "t",
      name: "f",
      text: "",
      signature: { from: "generate_content", value: "G" },
    },
  ]);
});

Deno.test("streamDecoder() accepts a signature in the same chunk as the last reasoning text", () => {
  const detail = {
    type: "reasoning.text",
    text: "b",
    signature: "S",
    format: "anthropic-claude-v1",
  };
  assert.deepEqual(
    foldReply(read([
      choice({ reasoning: "a" }),
      choice({ reasoning: "b", reasoning_details: [detail] }),
      finish("stop"),
    ])).blocks,
    [{
      kind: "reasoning",
      text: "ab",
      signature: { from: "messages", value: "S" },
    }],
  );
});

Deno.test("streamDecoder() shares no state between streams", () => {
  const first = streamDecoder(PLAIN_CONTEXT);
  first.push(choice({ content: "x" }));
  assert.deepEqual(
    streamDecoder(PLAIN_CONTEXT).push(choice({ content: "y" })),
    [
      { type: "start", id: "u1", model: "um" },
      { type: "open", kind: "text" },
      { type: "delta", text: "y" },
    ],
  );
});

Deno.test("streamDecoder() stays fast with a long queue behind an incomplete call", () => {
  const decoder = streamDecoder(PLAIN_CONTEXT);
  decoder.push(
    toolDelta({ index: 0, id: "a", function: { name: "f", arguments: "{" } }),
  );
  for (let n = 0; n < 50_000; n++) {
    decoder.push(choice(n % 2 ? { content: "x" } : { reasoning_content: "y" }));
  }
  const events = decoder.push(
    toolDelta({ index: 0, function: { arguments: "}" } }),
  );
  assert.equal(events.filter((event) => event.type === "open").length, 50_000);
});

Deno.test("streamDecoder() stays fast with many calls of one index", () => {
  const decoder = streamDecoder(PLAIN_CONTEXT);
  let opened = 0;
  for (let n = 0; n < 50_000; n++) {
    const events = decoder.push(
      toolDelta({
        index: 0,
        id: `call_${n}`,
        function: { name: "f", arguments: "{}" },
      }),
    );
    opened += events.filter((event) => event.type === "open").length;
  }
  assert.equal(opened, 50_000);
});
