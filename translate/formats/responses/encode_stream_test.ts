import assert from "node:assert/strict";
import fc from "fast-check";
import { compact } from "../../bytes/compact.ts";
import { type EncodeContext, PLAIN_CONTEXT } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import { arrayOr, type JsonObject, objectOr } from "../../bytes/json.ts";
import {
  foldReply,
  type ReplyEvent,
  type StopReason,
} from "../../model/reply.ts";
import type { Signature } from "../../model/request.ts";
import { sseParser } from "../../stream/sse.ts";
import { decodeReply } from "./decode_reply.ts";
import { streamDecoder } from "./decode_stream.ts";
import { encodeReply } from "./encode_reply.ts";
import { streamEncoder } from "./encode_stream.ts";
import { type ReadResponse, readResponseStream } from "./stream_grammar.ts";
import { echoOf } from "./tool_names.ts";
import { ENCODE_CONTEXT } from "../../testing/encode_context.ts";
import { blockOf } from "../../testing/reply_events.ts";
import { inputOf } from "../../testing/request_samples.ts";

const CONTEXT: EncodeContext = {
  ...ENCODE_CONTEXT,
  model: "asked",
  wantUsage: true,
  inputEstimate: 11,
};
const START: ReplyEvent = { type: "start", id: "msg_1", model: "theirs" };
const END: ReplyEvent = { type: "end" };
const CLOSE: ReplyEvent = { type: "close" };
const stop = (reason: StopReason): ReplyEvent => ({
  type: "stop",
  reason,
  raw: reason,
});
const text = (...deltas: string[]): ReplyEvent[] => [
  { type: "open", kind: "text" },
  ...deltas.map((delta): ReplyEvent => ({ type: "delta", text: delta })),
  CLOSE,
];
const call = (
  name: string,
  id: string | undefined,
  ...deltas: string[]
): ReplyEvent[] => [
  { type: "open", kind: "tool", name, ...compact({ id }) },
  ...deltas.map((delta): ReplyEvent => ({ type: "delta", text: delta })),
  CLOSE,
];
const sign = (from: Signature["from"], value: string): ReplyEvent => ({
  type: "sign",
  signature: { from, value },
});

function encode(
  events: readonly ReplyEvent[],
  context: Partial<EncodeContext> = {},
): string {
  const encoder = streamEncoder({ ...CONTEXT, ...context });
  return events.map((event) => encoder.push(event)).join("");
}

function read(
  events: readonly ReplyEvent[],
  context: Partial<EncodeContext> = {},
): ReadResponse {
  return readResponseStream(encode(events, context));
}

function eventsIn(stream: string): JsonObject[] {
  return sseParser().push(new TextEncoder().encode(stream)).map((frame) =>
    JSON.parse(frame.data)
  );
}

const asked = (body: JsonObject): Partial<EncodeContext> => ({
  echo: echoOf(body),
});

Deno.test("streamEncoder() sends text between created and completed", () => {
  const { ending, items, types, reply } = read([
    START,
    ...text("He", "llo"),
    { type: "usage", usage: { input: 3, cacheRead: 2, output: 5 } },
    stop("end"),
    END,
  ]);
  assert.equal(ending, "completed");
  assert.deepEqual(types, [
    "created",
    "in_progress",
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "completed",
  ]);
  assert.deepEqual(items.map(({ status }) => status), ["completed"]);
  assert.deepEqual(reply["usage"], {
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 10,
  });
});

Deno.test("streamEncoder() assigns output_index when an item has content, not when it is opened", () => {
  const { items } = read([
    START,
    ...text(),
    ...blockOf("reasoning", "hm"),
    ...call("f", "call_1", '{"a":', "1}"),
    ...text("done"),
    stop("tool_use"),
    END,
  ]);
  assert.deepEqual(items.map(({ type }) => type), [
    "reasoning",
    "function_call",
    "message",
  ]);
});

Deno.test("streamEncoder() sends no white space before the arguments of a call", () => {
  const { items } = read([
    START,
    ...call("f", "call_1", " ", "\n"),
    ...call("f", "call_2", " ", ' {"a": ', "1}"),
    stop("tool_use"),
    END,
  ]);
  assert.deepEqual(items.map((item) => item["arguments"]), ["{}", '{"a": 1}']);
});

Deno.test("streamEncoder() generates a call id if it is missing or repeated", () => {
  const { items } = read([
    START,
    ...call("f", "call_0", "{}"),
    ...call("f", "call_0", "{}"),
    ...call("f", undefined, "{}"),
    ...call("f", "x".repeat(100), "{}"),
    stop("tool_use"),
    END,
  ]);
  const ids = items.map((item) => String(item["call_id"]));
  assert.equal(ids[0], "call_0");
  assert.equal(new Set(ids).size, 4);
  assert.ok(ids.every((id) => id.length > 0 && id.length <= 64));
});

Deno.test("streamEncoder() marks a reply that was cut short and its last item as incomplete", () => {
  const { ending, reply, items } = read([
    START,
    ...text("one"),
    ...text("tw"),
    stop("max_tokens"),
    END,
  ]);
  assert.equal(ending, "incomplete");
  assert.deepEqual(reply["incomplete_details"], {
    reason: "max_output_tokens",
  });
  assert.deepEqual(items.map(({ status }) => status), [
    "completed",
    "incomplete",
  ]);
});

Deno.test("streamEncoder() does not complete the arguments of a call that was cut short", () => {
  for (const [sent, kept] of [["", ""], ['{"a":', '{"a":']] as const) {
    const { items } = read([
      START,
      ...call("f", "call_1", sent),
      stop("max_tokens"),
      END,
    ]);
    assert.equal(items[0]?.["arguments"], kept);
    assert.equal(items[0]?.["status"], "incomplete");
  }
});

Deno.test("streamEncoder() sends a refusal with text as a refusal, and one without text as filtered", () => {
  const refused = read([
    START,
    ...blockOf("refusal", "no"),
    stop("refusal"),
    END,
  ]);
  assert.equal(refused.ending, "completed");
  assert.deepEqual(arrayOr(refused.items[0]?.["content"])[0], {
    type: "refusal",
    refusal: "no",
  });
  const filtered = read([START, ...text("hal"), stop("refusal"), END]);
  assert.equal(filtered.ending, "incomplete");
  assert.deepEqual(filtered.reply["incomplete_details"], {
    reason: "content_filter",
  });
});

Deno.test("streamEncoder() sends the name and the group of a grouped tool", () => {
  const { items } = read(
    [START, ...call("mcp__demo__add", "call_1", "{}"), stop("tool_use"), END],
    asked({
      tools: [
        {
          type: "namespace",
          name: "mcp__demo",
          tools: [{ type: "function", name: "add" }],
        },
      ],
    }),
  );
  assert.equal(items[0]?.["name"], "add");
  assert.equal(items[0]?.["namespace"], "mcp__demo");
});

Deno.test("streamEncoder() sends a free-text call, wherever its arguments are split", () => {
  const input = 'a "b"\n\\ é \u{1F600} </x>\u2028';
  for (
    const args of [
      JSON.stringify({ input }),
      `{ "input" : ${
        JSON.stringify(input).replaceAll(
          /[^\x20-\x7e]/g,
          (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
        )
      } }`,
    ]
  ) {
    for (let size = 1; size <= args.length; size++) {
      const pieces: string[] = [];
      for (let at = 0; at < args.length; at += size) {
        pieces.push(args.slice(at, at + size));
      }
      const { items } = read(
        [START, ...call("patch", "call_1", ...pieces), stop("tool_use"), END],
        asked({ tools: [{ type: "custom", name: "patch" }] }),
      );
      assert.equal(items[0]?.["type"], "custom_tool_call");
      assert.equal(items[0]?.["input"], input);
      assert.equal(items[0]?.["arguments"], undefined);
    }
  }
});

Deno.test("streamEncoder() uses other arguments of a free-text call as its text", () => {
  const context = asked({ tools: [{ type: "custom", name: "patch" }] });
  for (
    const [args, input] of [
      ['{"note":"x","input":"late"}', "late"],
      ["*** not JSON", "*** not JSON"],
      ['{"other":1}', '{"other":1}'],
      ["", ""],
    ]
  ) {
    const { items } = read(
      [START, ...call("patch", "c", args ?? ""), stop("tool_use"), END],
      context,
    );
    assert.equal(items[0]?.["input"], input);
  }
});

Deno.test("streamEncoder() uses the tools of input items", () => {
  const { items, reply } = read(
    [START, ...call("patch", "c", '{"input":"x"}'), stop("tool_use"), END],
    asked(inputOf({
      type: "additional_tools",
      role: "developer",
      tools: [{ type: "custom", name: "patch" }],
    })),
  );
  assert.equal(items[0]?.["input"], "x");
  assert.deepEqual(reply["tools"], []);
  assert.equal(reply["additional_tools"], undefined);
});

Deno.test("streamEncoder() sends signed reasoning, with a tag for signatures of other formats", () => {
  for (
    const [signature, value] of [
      [sign("responses", "abc"), "abc"],
      [sign("messages", "abc"), "gw1:messages:abc"],
      [
        {
          type: "sign",
          signature: { from: "messages", value: "abc", redacted: true },
        },
        "gw1:messages-redacted:abc",
      ],
    ] as const
  ) {
    const { items } = read([
      START,
      { type: "open", kind: "reasoning" },
      signature,
      CLOSE,
      ...text("hi"),
      stop("end"),
      END,
    ]);
    assert.equal(items[0]?.["encrypted_content"], value);
    assert.deepEqual(items[0]?.["summary"], []);
  }
});

Deno.test("streamEncoder() sends a call's signature in an item before the call, or after it if it arrives late", () => {
  const arrangements: readonly (readonly [ReplyEvent[], string[], string])[] = [
    [
      [
        { type: "open", kind: "tool", id: "c", name: "f" },
        { type: "delta", text: "{}" },
        sign("generate_content", "s"),
        CLOSE,
      ],
      ["reasoning", "function_call"],
      "gw1:generate_content:s",
    ],
    [
      [
        { type: "open", kind: "tool", id: "c", name: "f" },
        { type: "delta", text: "{" },
        { type: "delta", text: "}" },
        sign("generate_content", "s"),
        CLOSE,
      ],
      ["function_call", "reasoning"],
      "gw1:before:gw1:generate_content:s",
    ],
  ];
  for (const [events, types, value] of arrangements) {
    const { items } = read([START, ...events, stop("tool_use"), END]);
    assert.deepEqual(items.map(({ type }) => type), types);
    const carrier = items.find(({ type }) => type === "reasoning");
    assert.equal(carrier?.["encrypted_content"], value);
  }
});

Deno.test("streamEncoder() reports a failure in two frames, with the content so far", () => {
  const { ending, reply, types } = read([
    START,
    { type: "open", kind: "text" },
    { type: "delta", text: "half" },
    { type: "usage", usage: { input: 2, output: 1 } },
    {
      type: "error",
      error: new ApiError("rate_limit", "slow down.", {
        retryAfterSeconds: 7,
      }),
    },
  ]);
  assert.equal(ending, "failed");
  assert.deepEqual(types.slice(-2), ["error", "failed"]);
  const [item] = arrayOr(reply["output"]).map(objectOr);
  assert.equal(item?.["status"], "incomplete");
  assert.deepEqual(reply["error"], {
    code: "rate_limit_exceeded",
    message: "slow down. Please try again in 7s.",
  });
  assert.equal(objectOr(reply["usage"])["output_tokens"], 1);
});

Deno.test("streamEncoder() sends no done frame for a call that a failure cut short", () => {
  const error = new ApiError("upstream", "gone");
  const { types, reply } = read([
    START,
    ...text("before"),
    { type: "open", kind: "tool", id: "c", name: "f" },
    { type: "delta", text: '{"a"' },
    { type: "delta", text: ":" },
    { type: "error", error },
  ]);
  const dones = types.filter((type) => type === "output_item.done");
  assert.equal(dones.length, 1);
  assert.ok(!types.includes("function_call_arguments.done"));
  const [, cut] = arrayOr(reply["output"]).map(objectOr);
  assert.equal(cut?.["arguments"], '{"a":');
  assert.equal(cut?.["status"], "incomplete");
});

Deno.test("streamEncoder() sends an error's fields both flat and nested", () => {
  const stream = encode([START, {
    type: "error",
    error: new ApiError("invalid_request", "too long", {
      code: "context_length_exceeded",
      param: "input",
    }),
  }]);
  const error = eventsIn(stream).find(({ type }) => type === "error");
  assert.equal(error?.["code"], "context_length_exceeded");
  assert.equal(error?.["message"], "too long");
  assert.deepEqual(error?.["error"], {
    type: "invalid_request_error",
    code: "context_length_exceeded",
    message: "too long",
    param: "input",
  });
});

Deno.test("streamEncoder() sends the first frames before a keep-alive, and numbers keep-alives", () => {
  const encoder = streamEncoder(CONTEXT);
  const stream = [
    encoder.ping(),
    encoder.ping(),
    ...[START, { type: "open", kind: "text" } as const].map(encoder.push),
    encoder.ping(),
    ...[{ type: "delta", text: "x" } as const, CLOSE, stop("end"), END].map(
      encoder.push,
    ),
    encoder.ping(),
  ].join("");
  const { types } = readResponseStream(stream);
  assert.deepEqual(types.slice(0, 4), [
    "created",
    "in_progress",
    "keepalive",
    "keepalive",
  ]);
  assert.equal(types.at(-1), "completed");
});

Deno.test("streamEncoder() continues the stream that another encoder began", () => {
  const context = { ...CONTEXT, opened: { frames: 0 } };
  const waiting = streamEncoder(context);
  const answering = streamEncoder(context);
  const before = waiting.ping() + waiting.ping();
  const after = [START, ...text("x"), stop("end"), END].map(answering.push);
  const { types } = readResponseStream(before + after.join(""));
  assert.deepEqual(types.slice(0, 4), [
    "created",
    "in_progress",
    "keepalive",
    "output_item.added",
  ]);
  const failing = { ...CONTEXT, opened: { frames: 0 } };
  const first = streamEncoder(failing).ping();
  const error = new ApiError("upstream", "no");
  const last = streamEncoder(failing).push({ type: "error", error });
  assert.equal(readResponseStream(first + last).ending, "failed");
});

Deno.test("encodeReply() repeats the settings of the request, and has every key", () => {
  const reply = encodeReply([START, ...text("x"), stop("end"), END], {
    ...CONTEXT,
    ...asked({
      model: "asked",
      input: "hi",
      instructions: "Be brief",
      tools: [{ type: "function", name: "f" }],
      temperature: 0.2,
      metadata: { a: "b" },
      text: {
        format: { type: "json_schema", name: "n", schema: {} },
      },
      reasoning: { effort: "low" },
      service_tier: "auto",
    }),
  });
  for (
    const key of [
      "completed_at",
      "incomplete_details",
      "error",
      "previous_response_id",
      "instructions",
      "tools",
      "tool_choice",
      "truncation",
      "parallel_tool_calls",
      "text",
      "top_p",
      "temperature",
      "presence_penalty",
      "frequency_penalty",
      "top_logprobs",
      "reasoning",
      "max_output_tokens",
      "max_tool_calls",
      "store",
      "background",
      "service_tier",
      "metadata",
      "safety_identifier",
      "prompt_cache_key",
      "id",
      "object",
      "created_at",
      "status",
      "model",
      "output",
      "usage",
    ]
  ) assert.notEqual(reply[key], undefined, key);
  assert.equal(reply["model"], "asked");
  assert.equal(reply["input"], undefined);
  assert.equal(reply["instructions"], "Be brief");
  assert.equal(reply["temperature"], 0.2);
  assert.equal(reply["store"], false);
  assert.deepEqual(reply["tools"], [{
    type: "function",
    name: "f",
    description: null,
    parameters: null,
    strict: false,
  }]);
  assert.deepEqual(reply["reasoning"], { effort: "low", summary: null });
  assert.equal(objectOr(reply["text"])["verbosity"], "medium");
});

Deno.test("encodeReply() throws the error of a failed reply", () => {
  const error = new ApiError("upstream", "no");
  assert.throws(
    () => encodeReply([START, { type: "error", error }], CONTEXT),
    error,
  );
});

const block = fc.oneof(
  fc.record({
    kind: fc.constantFrom("text", "refusal", "reasoning", "f", "patch", "g__f"),
    deltas: fc.array(fc.string({ maxLength: 4 }), { maxLength: 4 }),
    sign: fc.option(fc.constantFrom("messages", "generate_content")),
    id: fc.option(fc.constantFrom("call_0", "call_1", "")),
  }),
);

Deno.test("streamEncoder() follows the grammar, and its last frame contains the whole reply", () => {
  const context = {
    ...CONTEXT,
    ...asked({
      tools: [
        { type: "function", name: "f" },
        { type: "custom", name: "patch" },
        {
          type: "namespace",
          name: "g",
          tools: [{ type: "function", name: "f" }],
        },
      ],
    }),
  };
  fc.assert(fc.property(
    fc.array(block, { maxLength: 5 }),
    fc.constantFrom<StopReason>("end", "max_tokens", "tool_use", "refusal"),
    fc.boolean(),
    fc.boolean(),
    (blocks, reason, early, flushes) => {
      const events: ReplyEvent[] = [START];
      if (early) events.push(stop(reason));
      for (const { kind, deltas, sign: from, id } of blocks) {
        events.push(
          kind === "text" || kind === "refusal" || kind === "reasoning"
            ? { type: "open", kind }
            : {
              type: "open",
              kind: "tool",
              name: kind,
              ...(id === null ? {} : { id }),
            },
        );
        for (const delta of deltas) events.push({ type: "delta", text: delta });
        if (from !== null && kind !== "text") {
          events.push(sign(from as Signature["from"], "s"));
        }
        events.push(CLOSE);
      }
      if (!early) events.push(stop(reason));
      events.push(END);
      const encoder = streamEncoder(context);
      const stream = events.map((event) =>
        encoder.push(event) + (flushes ? encoder.flush?.() ?? "" : "")
      ).join("");
      const { reply } = readResponseStream(stream);
      const decoder = streamDecoder(PLAIN_CONTEXT);
      const frames = sseParser().push(new TextEncoder().encode(stream));
      const decoded = [
        ...frames.flatMap((frame) => decoder.push(frame)),
        ...decoder.end(),
      ];
      assert.deepEqual(
        foldReply(decoded.filter(({ type }) => type !== "error")),
        foldReply(
          decodeReply(reply, PLAIN_CONTEXT).filter(({ type }) =>
            type !== "error"
          ),
        ),
      );
      if (!flushes) assert.deepEqual(encodeReply(events, context), reply);
    },
  ));
});

Deno.test("a completed reply states when it ended, any other one null", async (t) => {
  const rows: [StopReason, number | null][] = [
    ["end", 1_780_000_007],
    ["tool_use", 1_780_000_007],
    ["max_tokens", null],
  ];
  for (const [reason, expected] of rows) {
    await t.step(reason, () => {
      let calls = 0;
      const endedAt = (): number => 1_780_000_007 + calls++;
      const events = [START, ...text("a"), stop(reason), END];
      const { reply } = read(events, { endedAt });
      assert.equal(reply["completed_at"], expected);
      assert.ok(calls <= 1);
      calls = 0;
      const whole = encodeReply(events, { ...CONTEXT, endedAt });
      assert.deepEqual(whole, reply);
    });
  }
  const { reply } = read([START, ...text("a"), stop("end"), END]);
  assert.equal(reply["completed_at"], null);
});
