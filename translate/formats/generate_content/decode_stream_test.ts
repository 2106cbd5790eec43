import assert from "node:assert/strict";
import { PLAIN_CONTEXT } from "../../dialect.ts";
import type { JsonObject } from "../../bytes/json.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import { sseParser } from "../../stream/sse.ts";
import { streamDecoder } from "./decode_stream.ts";
import { functionCall } from "../../testing/request_samples.ts";

function frame(parts: readonly unknown[], more: JsonObject = {}): JsonObject {
  return { candidates: [{ content: { role: "model", parts }, ...more }] };
}

const STOP = { finishReason: "STOP" };

/** Events of a stream of these objects, framed as the vendor does. */
function events(...objects: readonly unknown[]): readonly ReplyEvent[] {
  return ofText(
    objects.map((object) => `data: ${JSON.stringify(object)}\r\n\r\n`).join(""),
  );
}

function ofText(sse: string): readonly ReplyEvent[] {
  const reader = sseParser();
  const decoder = streamDecoder(PLAIN_CONTEXT);
  const frames = [
    ...reader.push(new TextEncoder().encode(sse)),
    ...reader.end(),
  ];
  return [...frames.flatMap((one) => decoder.push(one)), ...decoder.end()];
}

function message(list: readonly ReplyEvent[]): string | undefined {
  const last = list.at(-1);
  return last?.type === "error" ? last.error.message : undefined;
}

Deno.test("streamDecoder() names sources that come after the text that they are of, once it has ended", () => {
  const groundingMetadata = {
    groundingChunks: [{ web: { uri: "https://a.test" } }],
  };
  const text = frame([{ text: "a" }]);
  const call = frame([functionCall("f", {})]);
  const sources = frame([{ text: "" }], { ...STOP, groundingMetadata });
  const seen = (...objects: readonly unknown[]): readonly unknown[] =>
    events(...objects).flatMap((event) =>
      event.type === "lost" || event.type === "cite" ? [event.type] : []
    );
  assert.deepEqual(seen(text, call, sources), ["lost"]);
  assert.deepEqual(seen(text, sources, call, sources), ["cite"]);
  const searches = { groundingMetadata: { webSearchQueries: ["x"] } };
  assert.deepEqual(seen(text, call, frame([], searches), frame([], STOP)), []);
});

Deno.test("streamDecoder() counts the searches that the vendor bills, which frames repeat", () => {
  const searched = (...queries: readonly string[]): JsonObject =>
    frame([{ text: "a" }], {
      groundingMetadata: { webSearchQueries: queries },
    });
  const uses = events(
    searched("x"),
    searched("x", "y"),
    searched("x", "y"),
    frame([], STOP),
  ).flatMap((event) => event.type === "usage" ? [event.usage.uses] : []);
  assert.deepEqual(uses, [{ web_search: 1 }, { web_search: 2 }]);
});

Deno.test("streamDecoder() remembers a call until a STOP that comes later", () => {
  const opened = (list: readonly ReplyEvent[]): readonly unknown[] =>
    list.flatMap((event) =>
      event.type === "open" && event.kind === "tool"
        ? [event.name]
        : event.type === "stop"
        ? [event.reason]
        : []
    );
  const expected = ["f", "g", "tool_use"];
  const [f, g] = [functionCall("f", {}), functionCall("g", {})];
  assert.deepEqual(
    opened(events(frame([f, g]), frame([{ text: "" }], STOP))),
    expected,
  );
  assert.deepEqual(
    opened(events(frame([f]), frame([g]), frame([], STOP))),
    expected,
  );
  assert.deepEqual(opened(events(frame([f, g], STOP))), expected);
});

Deno.test("streamDecoder() ends at the body's end and not at the first STOP", () => {
  const list = events(
    frame([{ text: "a" }], STOP),
    frame([{ text: "b" }], STOP),
    frame([functionCall("f", {})], { finishReason: "MAX_TOKENS" }),
  );
  assert.deepEqual(list.map((event) => event.type), [
    "start",
    "open",
    "delta",
    "delta",
    "close",
    "open",
    "delta",
    "close",
    "stop",
    "end",
  ]);
  assert.deepEqual(list.at(-2), {
    type: "stop",
    reason: "max_tokens",
    raw: "MAX_TOKENS",
  });
});

Deno.test("streamDecoder() emits usage when it changes; the last one counts", () => {
  const counted = (
    usageMetadata: JsonObject,
    more: JsonObject,
  ): JsonObject => ({
    ...more,
    usageMetadata,
  });
  const list = events(
    counted({ trafficType: "ON_DEMAND" }, frame([{ text: "a" }])),
    counted(
      { promptTokenCount: 10, totalTokenCount: 10 },
      frame([{ text: "b" }]),
    ),
    counted(
      { promptTokenCount: 10, totalTokenCount: 10 },
      frame([{ text: "c" }]),
    ),
    counted({
      promptTokenCount: 9,
      candidatesTokenCount: 5,
      totalTokenCount: 14,
    }, frame([], STOP)),
  );
  assert.deepEqual(list.filter((event) => event.type === "usage"), [
    { type: "usage", usage: { input: 10, output: 0 } },
    { type: "usage", usage: { input: 9, output: 5 } },
  ]);
});

Deno.test("streamDecoder() reports a stream without a finish reason, or without frames, as cut", () => {
  const cut = "the upstream's stream ended before its reply was finished";
  assert.equal(message(events(frame([{ text: "a" }]))), cut);
  assert.equal(message(events(frame([functionCall("f", {})]))), cut);
  assert.equal(message(events()), cut);
  assert.equal(
    message(events(frame([{ text: "a" }], { finishReason: 0 }))),
    cut,
  );
});

Deno.test("streamDecoder() accepts an unspecified finish reason in the last frame as the end", () => {
  const finishReason = "FINISH_REASON_UNSPECIFIED";
  const list = events(
    frame([{ text: "a" }]),
    frame([{ text: "b" }], { finishReason }),
  );
  assert.deepEqual(list.slice(-2), [
    { type: "stop", reason: "end", raw: "" },
    { type: "end" },
  ]);
  assert.equal(
    message(events(
      frame([{ text: "a" }], { finishReason }),
      frame([{ text: "b" }]),
    )),
    "the upstream's stream ended before its reply was finished",
  );
  assert.deepEqual(
    events(frame([functionCall("f", {})]), frame([], { finishReason })).slice(
      -2,
    ),
    [{ type: "stop", reason: "tool_use", raw: "" }, { type: "end" }],
  );
});

Deno.test("streamDecoder() returns an error for a frame that is not JSON, also a partial one at the end", () => {
  const broken = "could not read the upstream's stream: a frame is not JSON";
  const good = `data: ${JSON.stringify(frame([{ text: "a" }], STOP))}\r\n\r\n`;
  assert.equal(message(ofText(`${good}data: {"candid\r\n\r\n${good}`)), broken);
  assert.equal(message(ofText(`${good}data: {"candid`)), broken);
});

Deno.test("streamDecoder() returns nothing after an error or the end", () => {
  const decoder = streamDecoder(PLAIN_CONTEXT);
  const good = { data: JSON.stringify(frame([{ text: "a" }], STOP)) };
  assert.equal(decoder.push({ data: "{" }).at(-1)?.type, "error");
  assert.deepEqual(decoder.push(good), []);
  assert.deepEqual(decoder.push({ data: "{" }), []);
  assert.deepEqual(decoder.end(), []);

  const other = streamDecoder(PLAIN_CONTEXT);
  other.push(good);
  assert.equal(other.end().at(-1)?.type, "end");
  assert.deepEqual(other.push(good), []);
  assert.deepEqual(other.push({ data: "{" }), []);
  assert.deepEqual(other.end(), []);
});

Deno.test("streamDecoder() reads a bare error object after valid frames, as one vendor sends it", () => {
  const good = `data: ${JSON.stringify(frame([{ text: "a" }], STOP))}\r\n\r\n`;
  const error = JSON.stringify(
    {
      error: {
        code: 499,
        message: "The operation was cancelled.",
        status: "CANCELLED",
      },
    },
    null,
    2,
  ).replaceAll("\n", "\r\n");
  const list = ofText(good + error);
  assert.equal(message(list), "The operation was cancelled.");
  assert.ok(list.every((event) => event.type !== "stop"));
});

Deno.test("streamDecoder() reads an in-band error frame by its status word", async (t) => {
  const cases: readonly (readonly [JsonObject, string])[] = [
    [{ code: 429, status: "RESOURCE_EXHAUSTED" }, "rate_limit"],
    [{ code: 503, status: "UNAVAILABLE" }, "unavailable"],
    [{ code: 504, status: "DEADLINE_EXCEEDED" }, "timeout"],
    [{ code: 500, status: "INTERNAL" }, "internal"],
    [{ code: 400, status: "INVALID_ARGUMENT" }, "invalid_request"],
    [{ code: 404, status: "NOT_FOUND" }, "not_found"],
    [{ status: "RESOURCE_EXHAUSTED" }, "rate_limit"],
    [{ status: "UNAVAILABLE" }, "unavailable"],
    [{ code: 429 }, "rate_limit"],
    [{ code: 7, status: "FUTURE" }, "upstream"],
    [{}, "upstream"],
  ];
  for (const [error, kind] of cases) {
    await t.step(JSON.stringify(error), () => {
      const last = events(frame([{ text: "a" }]), {
        error: { message: "vendor message", ...error },
      }).at(-1);
      assert.ok(last?.type === "error");
      assert.equal(last.error.kind, kind);
      assert.equal(last.error.message, "vendor message");
    });
  }
  for (const status of ["UNAUTHENTICATED", "PERMISSION_DENIED"]) {
    await t.step(status, () => {
      const last = events({
        error: { code: 401, status, message: "key sk-secret of project 7" },
      }).at(-1);
      assert.ok(last?.type === "error");
      assert.equal(last.error.kind, "upstream");
      assert.doesNotMatch(last.error.message, /secret|project/);
    });
  }
});

Deno.test("streamDecoder() reads a JSON array without event framing, and an error in it", () => {
  const array = JSON.stringify(
    [frame([{ text: "a:\n" }]), frame([{ text: "b" }], STOP)],
    null,
    2,
  ).replaceAll("\n", "\r\n");
  const list = ofText(array);
  assert.deepEqual(
    list.flatMap((event) => event.type === "delta" ? [event.text] : []),
    ["a:\n", "b"],
  );
  assert.equal(list.at(-1)?.type, "end");
  assert.equal(
    message(ofText(array.slice(0, -4))),
    "could not read the upstream's stream: a frame is not JSON",
  );
  assert.equal(
    message(ofText('[{\n"error": {\n"code": 503,\n"message": "no"\n}\n}\n]\n')),
    "no",
  );
});

Deno.test("streamDecoder() ignores [DONE], comments and empty frames", () => {
  const good = `data: ${JSON.stringify(frame([{ text: "a" }], STOP))}\n\n`;
  const list = ofText(`: hello\n\ndata: null\n\n${good}data: [DONE]\n\n`);
  assert.deepEqual(list.map((event) => event.type), [
    "start",
    "open",
    "delta",
    "close",
    "stop",
    "end",
  ]);
});

Deno.test("streamDecoder() assembles arguments that come in pieces and emits the complete call", () => {
  const piece = (functionCall: JsonObject, more: JsonObject = {}): JsonObject =>
    frame([{ functionCall, ...more }]);
  const list = events(
    frame([{ text: "I look." }]),
    piece({ name: "weather", id: "c1", willContinue: true }, {
      thoughtSignature: "S",
    }),
    piece({
      partialArgs: [{
        jsonPath: "$.city",
        stringValue: "Bos",
        willContinue: true,
      }],
      willContinue: true,
    }),
    piece({
      partialArgs: [
        { jsonPath: "$.city", stringValue: "ton" },
        { jsonPath: "$.days", numberValue: 3 },
        { jsonPath: "$.rain", boolValue: true },
      ],
      willContinue: true,
    }),
    piece({}),
    piece({ name: "time", willContinue: true }),
    piece({ partialArgs: [{ jsonPath: "$.zone", stringValue: "UTC" }] }),
    frame([{ text: "" }], STOP),
  );
  assert.deepEqual(list.slice(4), [
    { type: "open", kind: "tool", id: "c1", name: "weather" },
    { type: "sign", signature: { from: "generate_content", value: "S" } },
    { type: "delta", text: '{"city":"Boston","days":3,"rain":true}' },
    { type: "close" },
    { type: "open", kind: "tool", name: "time" },
    { type: "delta", text: '{"zone":"UTC"}' },
    { type: "close" },
    { type: "stop", reason: "tool_use", raw: "STOP" },
    { type: "end" },
  ]);
});

Deno.test("streamDecoder() emits an assembled call at the frame that completes it", () => {
  const decoder = streamDecoder(PLAIN_CONTEXT);
  const push = (functionCall: JsonObject): readonly string[] =>
    decoder.push({ data: JSON.stringify(frame([{ functionCall }])) }).map((
      event,
    ) => event.type);
  assert.deepEqual(push({ name: "f", willContinue: true }), ["start"]);
  assert.deepEqual(push({}), ["open", "delta", "close"]);
});

Deno.test("streamDecoder() does not emit a call whose pieces were cut off", () => {
  const list = events(frame([{
    functionCall: {
      name: "f",
      partialArgs: [{ jsonPath: "$.a", stringValue: "x" }],
      willContinue: true,
    },
  }]));
  assert.deepEqual(list.map((event) => event.type), ["start", "error"]);
});
