import assert from "node:assert/strict";
import { chatCompletions } from "../formats/chat_completions/mod.ts";
import { type Dialect, type EncodeContext, PLAIN_CONTEXT } from "../dialect.ts";
import { ApiError } from "../model/error.ts";
import { messages } from "../formats/messages/mod.ts";
import { passThroughRelay } from "./pass_through.ts";
import { streamRelay } from "./relay.ts";
import { ENCODE_CONTEXT } from "../testing/encode_context.ts";
import { assistant } from "../testing/request_samples.ts";

const ENCODE: EncodeContext = { ...ENCODE_CONTEXT, model: "asked/for" };

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array): string => new TextDecoder().decode(data);

function relayed(
  dialect: Dialect,
  stream: string,
  size = 1_000_000,
  encode = ENCODE,
): string {
  const relay = passThroughRelay(dialect, dialect, PLAIN_CONTEXT, encode);
  const source = bytes(stream);
  let out = "";
  for (let at = 0; at < source.length; at += size) {
    out += text(relay.push(source.subarray(at, at + size)));
  }
  return out + text(relay.end());
}

const MESSAGES = [
  `event: message_start\ndata: {"type":"message_start","message":{"model": "upstream-1","id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}   }\n\n`,
  `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n`,
  `event: ping\ndata: {"type": "ping"}\n\n`,
  `event: brand_new\ndata: {"type":"brand_new","n":1.0}\n\n`,
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"say \\"model\\":\\"x\\" 😀"}}      \n\n`,
  `event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n`,
  `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}\n\n`,
  `event: message_stop\ndata: {"type":"message_stop"}\n\n`,
];

const chunk = (choices: string, more = ""): string =>
  `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"upstream-1","choices":${choices}${more}}\n\n`;
const CHAT = [
  chunk(
    `[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]`,
    `,"usage":null`,
  ),
  chunk(
    `[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]`,
    `,"usage":null`,
  ),
  chunk(`[{"index":0,"delta":{},"finish_reason":"stop"}]`, `,"usage":null`),
  chunk(
    `[]`,
    `,"usage":{"prompt_tokens":3,"completion_tokens":9,"total_tokens":12}`,
  ),
  `data: [DONE]\n\n`,
];

Deno.test("passThroughRelay() changes the model and no other byte, wherever the stream is cut", () => {
  const stream = MESSAGES.join("");
  const wanted = stream.replace(
    '"model": "upstream-1"',
    '"model": "asked/for"',
  );
  for (const size of [1, 2, 3, 7, 64, 1_000_000]) {
    assert.equal(relayed(messages, stream, size), wanted);
  }
  const chat = CHAT.join("");
  const asked = { ...ENCODE, wantUsage: true };
  for (const size of [1, 5, 1_000_000]) {
    assert.equal(
      relayed(chatCompletions, chat, size, asked),
      chat.replaceAll("upstream-1", "asked/for"),
    );
  }
});

Deno.test("passThroughRelay() names the events of a message that have no name, wherever the stream is cut", () => {
  const deltas = ["a", "b", "c"].map((letter) =>
    `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${letter}"}}\n\n`
  );
  const named = [...MESSAGES.slice(0, 5), ...deltas, ...MESSAGES.slice(5)]
    .join("").replace('"model": "upstream-1"', '"model": "asked/for"');
  const unnamed = named.replaceAll(/^event: .*\n/gm, "");
  for (const size of [1, 7, 64, 1_000_000]) {
    assert.equal(relayed(messages, unnamed, size), named);
  }
  assert.match(
    relayed(messages, `data: {"type":"a\\nb"}\n\n`),
    /^data: /,
    "a type of two lines is no name",
  );
});

Deno.test("passThroughRelay() keeps CR LF, comments and unknown fields", () => {
  const stream = `: note\r\n\r\nid: 7\r\n${
    MESSAGES.join("").replaceAll("\n", "\r\n")
  }`;
  assert.equal(
    relayed(messages, stream, 11),
    stream.replace('"upstream-1"', '"asked/for"'),
  );
});

Deno.test("passThroughRelay() keeps every CR LF, wherever the stream is cut", () => {
  const streams: readonly (readonly [Dialect, readonly string[]])[] = [
    [messages, MESSAGES],
    [chatCompletions, CHAT],
  ];
  const asked = { ...ENCODE, wantUsage: true };
  for (const [dialect, frames] of streams) {
    for (const mark of ["\r\n", "\r"]) {
      const stream = frames.join("").replaceAll("\n", mark);
      const wanted = stream.replaceAll("upstream-1", "asked/for");
      for (let at = 1; at < stream.length; at++) {
        const relay = passThroughRelay(dialect, dialect, PLAIN_CONTEXT, asked);
        const source = bytes(stream);
        const out = text(relay.push(source.subarray(0, at))) +
          text(relay.push(source.subarray(at))) + text(relay.end());
        assert.equal(out, wanted, `${dialect.name}, cut at ${at}`);
      }
    }
  }
});

Deno.test("passThroughRelay() removes usage that the client did not ask for after reading it, wherever the stream is cut", () => {
  const [first = "", text = "", ...ending] = CHAT;
  const wanted = [first, text, text, text, ...ending.toSpliced(1, 1)].join("")
    .replaceAll(`,"usage":null`, "").replaceAll("upstream-1", "asked/for");
  // Also where the finishing chunk is missing, which is added after the model of the first one.
  for (const received of [ending, ending.slice(1)]) {
    const stream = [first, text, text, text, ...received].join("");
    for (const size of [1, 5, 64, 1_000_000]) {
      const out = relayed(chatCompletions, stream, size);
      if (received === ending) assert.equal(out, wanted);
      assert.doesNotMatch(out, /usage/);
    }
  }
  const relay = passThroughRelay(
    chatCompletions,
    chatCompletions,
    PLAIN_CONTEXT,
    ENCODE,
  );
  relay.push(bytes(CHAT.join("")));
  assert.equal(relay.done(), true);
  const { input, output } = relay.progress().usage;
  assert.deepEqual([input, output], [3, 9]);
});

Deno.test("passThroughRelay() ends a cut stream with an error in the client's format, with nothing after it", async (t) => {
  for (
    const [dialect, frames, terminator] of [[
      messages,
      MESSAGES,
      "message_stop",
    ], [chatCompletions, CHAT, "[DONE]"]] as const
  ) {
    const finish = dialect === messages ? 7 : 3;
    for (let n = 1; n < finish; n++) {
      await t.step(`${dialect.name}, after frame ${n}`, () => {
        const out = relayed(dialect, frames.slice(0, n).join(""));
        assert.ok(!out.includes(terminator));
        assert.match(
          out.split("\n\n").at(-2) ?? "",
          /"error":\{"type":"(api_error|server_error)"|"error":\{"message"/,
        );
      });
    }
    await t.step(`${dialect.name}, in the middle of a frame`, () => {
      const out = relayed(dialect, frames.join("").slice(0, 130));
      assert.match(out, /"error":\{/);
      assert.ok(!out.includes(terminator));
    });
  }
});

Deno.test("passThroughRelay() ends a finished stream that lacks its last frame, or that frame's blank line", async (t) => {
  for (
    const [dialect, frames] of [[messages, MESSAGES], [
      chatCompletions,
      CHAT,
    ]] as const
  ) {
    const asked = { ...ENCODE, wantUsage: true };
    const whole = relayed(dialect, frames.join(""), 1_000_000, asked);
    await t.step(
      `${dialect.name}: no last frame`,
      () =>
        assert.equal(
          relayed(dialect, frames.slice(0, -1).join(""), 9, asked),
          whole,
        ),
    );
    await t.step(
      `${dialect.name}: no blank line`,
      () =>
        assert.equal(
          relayed(dialect, frames.join("").trimEnd(), 9, asked).trimEnd(),
          whole.trimEnd(),
        ),
    );
  }
});

Deno.test("passThroughRelay() replaces an upstream's error with one in the dialect's form and ignores later frames", () => {
  const error =
    `data: {"error":{"code":502,"message":"Provider disconnected"},"choices":[]}\n\n`;
  const out = relayed(chatCompletions, `${CHAT[0]}${error}data: [DONE]\n\n`);
  assert.match(out, /"message":"Provider disconnected"/);
  assert.ok(!out.includes("[DONE]"));
});

Deno.test("fail() sends the error once, and nothing after the end of the answer", () => {
  const relay = passThroughRelay(messages, messages, PLAIN_CONTEXT, ENCODE);
  relay.push(bytes(MESSAGES.slice(0, 3).join("")));
  assert.match(
    text(relay.fail(new ApiError("timeout", "too late"))),
    /^event: error\ndata: .*"timeout_error".*too late/,
  );
  assert.equal(relay.fail(new ApiError("timeout", "again")).length, 0);
  assert.equal(relay.push(bytes(MESSAGES.slice(3).join(""))).length, 0);
  const over = passThroughRelay(messages, messages, PLAIN_CONTEXT, ENCODE);
  over.push(bytes(MESSAGES.join("")));
  assert.equal(over.fail(new ApiError("timeout", "too late")).length, 0);
});

Deno.test("ping() is a comment before the answer starts and the format's own ping after", () => {
  const relay = passThroughRelay(messages, messages, PLAIN_CONTEXT, ENCODE);
  assert.equal(text(relay.ping()), ": keep-alive\n\n");
  relay.push(bytes(MESSAGES[0] ?? ""));
  assert.equal(text(relay.ping()), `event: ping\ndata: {"type": "ping"}\n\n`);
  relay.push(bytes(MESSAGES.slice(1).join("")));
  assert.equal(text(relay.ping()), "");
});

Deno.test("passThroughRelay() does not send the start of an incomplete frame", () => {
  const finished = CHAT.slice(0, -1).join("");
  const asked = { ...ENCODE, wantUsage: true };
  for (const begun of ["d", "data", "data:", ": no"]) {
    assert.equal(
      relayed(chatCompletions, finished + begun, 1_000_000, asked),
      CHAT.join("").replaceAll("upstream-1", "asked/for"),
      begun,
    );
  }
});

const parsed = (out: string): unknown[] =>
  out.split("\n\n").filter((frame) => frame.startsWith("data: {")).map((
    frame,
  ) => JSON.parse(frame.slice("data: ".length)));
const finishes = (out: string): unknown[] =>
  parsed(out).flatMap((chunk) => {
    const { choices } = chunk as {
      choices: { delta: unknown; finish_reason: unknown }[];
    };
    return choices.filter((choice) => choice.finish_reason !== null);
  });
const ASKED = { ...ENCODE, wantUsage: true };
const TEXT = chunk(
  `[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]`,
);
const FINISH = chunk(`[{"index":0,"delta":{},"finish_reason":"stop"}]`);
const USAGE = chunk(
  `[]`,
  `,"usage":{"prompt_tokens":3,"completion_tokens":9,"total_tokens":12}`,
);
const DONE = `data: [DONE]\n\n`;

Deno.test("passThroughRelay() adds a missing finishing chunk, before usage and [DONE]", () => {
  const out = relayed(chatCompletions, TEXT + USAGE + DONE, 1_000_000, ASKED);
  assert.deepEqual(parsed(out).map((one) => Object(one).choices.length), [
    1,
    1,
    0,
  ]);
  assert.deepEqual(finishes(out), [{
    index: 0,
    delta: {},
    logprobs: null,
    finish_reason: "stop",
  }]);
  assert.equal(Object(parsed(out)[1]).id, "chatcmpl-1");
  assert.equal(Object(parsed(out)[1]).model, "asked/for");
  assert.ok(out.endsWith(USAGE.replace("upstream-1", "asked/for") + DONE));
});

Deno.test("passThroughRelay() sends tool_calls as the finish reason of a tool call where the upstream gives none", () => {
  const call = chunk(
    `[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":null}]`,
  );
  const out = relayed(chatCompletions, call + DONE);
  assert.equal(Object(finishes(out)[0]).finish_reason, "tool_calls");
});

Deno.test("passThroughRelay() moves the finish reason from a chunk with content to the end", () => {
  const mixed = chunk(
    `[{"index":0,"delta":{"content":" you"},"finish_reason":"length"}]`,
    `,"n":12345678901234567890`,
  );
  const out = relayed(chatCompletions, TEXT + mixed + mixed + USAGE + DONE);
  assert.equal(out.match(/" you"/g)?.length, 2);
  assert.deepEqual(finishes(out), [{
    index: 0,
    delta: {},
    finish_reason: "length",
  }]);
  assert.ok(out.includes("12345678901234567890"));
  assert.ok(out.indexOf('"length"') > out.lastIndexOf(" you"));
});

Deno.test("passThroughRelay() empties the delta of a finishing chunk without content", () => {
  const blank = (delta: string): string =>
    chunk(`[{"index":0,"delta":${delta},"finish_reason":"stop"}]`);
  for (
    const delta of [
      `{"content":""}`,
      `{"role":"assistant","content":""}`,
      `{"content":"","reasoning_content":null}`,
    ]
  ) {
    const out = relayed(chatCompletions, TEXT + blank(delta) + DONE);
    assert.deepEqual(finishes(out), [{
      index: 0,
      delta: {},
      finish_reason: "stop",
    }], delta);
  }
});

Deno.test("passThroughRelay() keeps unknown fields of a finishing chunk", () => {
  const finishing = chunk(
    `[{"index":0,"delta":{"content":"","annotations":[{"url":"u"}],"audio":{"id":"a"}},"finish_reason":"stop"}]`,
  );
  const out = relayed(chatCompletions, TEXT + finishing + DONE);
  assert.ok(out.includes(`"annotations":[{"url":"u"}],"audio":{"id":"a"}`));
  assert.equal(finishes(out).length, 1);
});

Deno.test("passThroughRelay() keeps the role of an answer that ends with its first chunk", () => {
  const only = chunk(
    `[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]`,
  );
  const out = relayed(chatCompletions, only + DONE);
  assert.equal(parsed(out).length, 2);
  assert.deepEqual(Object(parsed(out)[0]).choices[0].delta, assistant(""));
  assert.deepEqual(finishes(out), [{
    index: 0,
    delta: {},
    finish_reason: "stop",
  }]);
});

Deno.test("passThroughRelay() drops a second finishing chunk, but not the usage in it", () => {
  const again = FINISH.replace(
    "}\n\n",
    `,"usage":{"prompt_tokens":3,"completion_tokens":9,"total_tokens":12}}\n\n`,
  );
  const stream = TEXT + FINISH + again + DONE;
  assert.equal(
    relayed(chatCompletions, stream),
    (TEXT + FINISH + DONE).replaceAll("upstream-1", "asked/for"),
  );
  const asked = relayed(chatCompletions, stream, 1_000_000, ASKED);
  assert.equal(finishes(asked).length, 1);
  assert.deepEqual(Object(parsed(asked)[2]).choices, []);
  assert.equal(Object(parsed(asked)[2]).usage.total_tokens, 12);
});

/** Chunks of one answer, and what they look like in short. */
const delta = (text: string, more = ""): string =>
  chunk(`[{"index":0,"delta":${text},"finish_reason":null}]`, more);
const COUNTS =
  `,"usage":{"prompt_tokens":3,"completion_tokens":9,"total_tokens":12}`;
const brief = (out: string): readonly string[] =>
  parsed(out).map((one) => {
    const { choices, usage } = Object(one);
    const [first] = choices;
    const found = first === undefined
      ? "none"
      : first.finish_reason ?? JSON.stringify(first.delta);
    return usage?.total_tokens === undefined ? found : `${found} with usage`;
  });

Deno.test("passThroughRelay() ends with the finishing chunk, then the usage, whatever their order was", async (t) => {
  const hi = `{"role":"assistant","content":"Hi"}`;
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    ["usage first", USAGE + FINISH, []],
    ["usage in a chunk with an empty choice", delta("{}", COUNTS) + FINISH, []],
    [
      "usage beside the finish reason",
      FINISH.replace("}\n\n", `${COUNTS}}\n\n`),
      [],
    ],
    [
      "usage behind it, beside a choice",
      FINISH + delta(`{"content":""}`, COUNTS),
      [],
    ],
    ["usage twice", FINISH.replace("}\n\n", `${COUNTS}}\n\n`) + USAGE, []],
    ["an empty choice behind it", FINISH + delta(`{"content":""}`) + USAGE, [
      `{"content":""}`,
    ]],
    ["content behind it", FINISH + delta(`{"content":" you"}`) + USAGE, [
      `{"content":" you"}`,
    ]],
    ["no finish reason", delta(`{"content":""}`, COUNTS), []],
  ];
  for (const [name, ending, between] of rows) {
    await t.step(name, () => {
      const stream = TEXT + ending + DONE;
      for (const size of [1, 1_000_000]) {
        const asked = relayed(chatCompletions, stream, size, ASKED);
        assert.deepEqual(brief(asked), [
          hi,
          ...between,
          "stop",
          "none with usage",
        ]);
        assert.ok(asked.endsWith(DONE));
        const out = relayed(chatCompletions, stream, size);
        assert.deepEqual(brief(out), [hi, ...between, "stop"]);
      }
      const relay = streamRelay(
        messages,
        chatCompletions,
        PLAIN_CONTEXT,
        ENCODE,
      );
      const out = text(relay.push(bytes(stream))) + text(relay.end());
      assert.match(out, /"stop_reason":"end_turn".*"output_tokens":9/);
      assert.equal(out.includes(" you"), stream.includes(" you"));
    });
  }
});

Deno.test("passThroughRelay() does not change the ends of several replies", () => {
  const second = FINISH.replace('"index":0', '"index":1');
  const stream = TEXT + FINISH + second + DONE;
  assert.equal(
    relayed(chatCompletions, stream),
    stream.replaceAll("upstream-1", "asked/for"),
  );
});

Deno.test("passThroughRelay() adds no end to a stream that was cut", () => {
  const out = relayed(chatCompletions, TEXT + USAGE, 1_000_000, ASKED);
  assert.equal(finishes(TEXT).length, 0);
  assert.ok(!out.includes('"finish_reason":"'));
  assert.ok(out.includes('"error"') && !out.includes("[DONE]"));
});

Deno.test("passThroughRelay() adds a stop reason to a message that stops without one", () => {
  const out = relayed(
    messages,
    MESSAGES.filter((frame) => !frame.includes("message_delta")).join(""),
  );
  const [delta] = parsed(out.replaceAll(/event: .*\n/g, "")).filter((one) =>
    Object(one).type === "message_delta"
  );
  assert.equal(Object(delta).delta.stop_reason, "end_turn");
  assert.equal(Object(delta).usage.output_tokens, 1, "as at the start");
  assert.ok(out.indexOf("message_delta") < out.indexOf("message_stop"));
});
