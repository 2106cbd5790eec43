import assert from "node:assert/strict";
import { type EncodeContext, PLAIN_CONTEXT } from "../../dialect.ts";
import { arrayOr, type JsonObject, objectOr } from "../../bytes/json.ts";
import { ApiError } from "../../model/error.ts";
import type { ReplyEvent, StopReason } from "../../model/reply.ts";
import { sseParser } from "../../stream/sse.ts";
import { decodeReply } from "./decode_reply.ts";
import { streamDecoder } from "./decode_stream.ts";
import { encodeReply, withStop } from "./encode_reply.ts";
import { streamEncoder } from "./encode_stream.ts";
import { ENCODE_CONTEXT } from "../../testing/encode_context.ts";
import { signedBlock } from "../../testing/reply_events.ts";
import { functionCall } from "../../testing/request_samples.ts";

const CONTEXT: EncodeContext = { ...ENCODE_CONTEXT, model: "asked/for" };

const START: ReplyEvent = { type: "start", id: "msg_1" };
const text = (...texts: string[]): ReplyEvent[] => [
  { type: "open", kind: "text" },
  ...texts.map((one): ReplyEvent => ({ type: "delta", text: one })),
  { type: "close" },
];
const ending = (reason: StopReason): ReplyEvent[] => [
  { type: "stop", reason, raw: reason },
  { type: "end" },
];

const FULL: readonly ReplyEvent[] = [
  START,
  ...signedBlock("reasoning", { from: "messages", value: "s1" }, "hm"),
  ...text("Hel", "lo"),
  { type: "open", kind: "tool", id: "c1", name: "f" },
  { type: "delta", text: '{"n":' },
  { type: "delta", text: "12345678901234567890}" },
  { type: "sign", signature: { from: "generate_content", value: "Z3M=" } },
  { type: "close" },
  { type: "open", kind: "tool", name: "g" },
  { type: "close" },
  {
    type: "usage",
    usage: { input: 10, cacheRead: 5, cacheWrite: 2, output: 9, reasoning: 4 },
  },
  ...ending("end"),
];
const PROMPT = { promptTokenCount: 7, totalTokenCount: 7 };
const USAGE = {
  promptTokenCount: 17,
  candidatesTokenCount: 5,
  totalTokenCount: 26,
  cachedContentTokenCount: 5,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 17 }],
  thoughtsTokenCount: 4,
};

function written(events: readonly ReplyEvent[]): string {
  const encoder = streamEncoder(CONTEXT);
  return events.map((event) => encoder.push(event)).join("");
}

function framesOf(stream: string): readonly JsonObject[] {
  return sseParser().push(new TextEncoder().encode(stream)).map(({ data }) =>
    objectOr(JSON.parse(data))
  );
}

function candidate(reply: JsonObject): JsonObject {
  return objectOr(arrayOr(reply["candidates"])[0]);
}

function partsOf(reply: JsonObject): readonly JsonObject[] {
  return arrayOr(objectOr(candidate(reply)["content"])["parts"]).map(objectOr);
}

Deno.test("encodeReply() writes every kind of block", () => {
  const reply = encodeReply(FULL, CONTEXT);
  assert.equal(
    JSON.stringify(reply),
    JSON.stringify({
      candidates: [{
        content: {
          parts: [
            {
              text: "hm",
              thought: true,
              thoughtSignature: btoa("gw1:messages:s1"),
            },
            { text: "Hello" },
            {
              functionCall: { id: "c1", name: "f", args: { n: 0 } },
              thoughtSignature: "Z3M=",
            },
            functionCall("g", {}, "call_0123456789abcdefghijABCD1"),
          ],
          role: "model",
        },
        finishReason: "STOP",
        index: 0,
      }],
      usageMetadata: USAGE,
      modelVersion: "asked/for",
      responseId: "msg_1",
    }).replace('"n":0', '"n":12345678901234567890'),
  );
});

Deno.test("streamEncoder() writes the same parts, and finish reason and output tokens in the last object alone", () => {
  const frames = framesOf(written(FULL));
  assert.deepEqual(frames.flatMap(partsOf), [
    { text: "hm", thought: true },
    { text: "", thought: true, thoughtSignature: btoa("gw1:messages:s1") },
    { text: "Hel" },
    { text: "lo" },
    {
      functionCall: { id: "c1", name: "f", args: { n: 12345678901234567890 } },
      thoughtSignature: "Z3M=",
    },
    functionCall("g", {}, "call_0123456789abcdefghijABCD1"),
    { text: "" },
  ]);
  for (const frame of frames) {
    assert.equal(frame["modelVersion"], "asked/for");
    assert.equal(frame["responseId"], "msg_1");
    const isLast = frame === frames.at(-1);
    assert.equal(candidate(frame)["finishReason"], isLast ? "STOP" : undefined);
    assert.deepEqual(frame["usageMetadata"], isLast ? USAGE : PROMPT);
  }
  const usage = { input: 10, cacheRead: 5, cacheWrite: 2 };
  const [first] = framesOf(written([{ ...START, usage }, ...FULL.slice(1)]));
  assert.deepEqual(first?.["usageMetadata"], {
    promptTokenCount: 17,
    totalTokenCount: 17,
  });
});

const FINISH: readonly (readonly [StopReason, string])[] = [
  ["end", "STOP"],
  ["stop_sequence", "STOP"],
  ["tool_use", "STOP"],
  ["max_tokens", "MAX_TOKENS"],
  ["context_window", "MAX_TOKENS"],
  ["refusal", "SAFETY"],
  ["pause", "OTHER"],
  ["other", "OTHER"],
];

Deno.test("every stop reason has a word, and none that is incomplete looks complete", () => {
  for (const [reason, word] of FINISH) {
    const events: ReplyEvent[] = [START, ...text("x"), ...ending(reason)];
    assert.equal(candidate(encodeReply(events, CONTEXT))["finishReason"], word);
    assert.equal(
      candidate(framesOf(written(events)).at(-1) ?? {})["finishReason"],
      word,
    );
  }
});

Deno.test("a refusal without content is a blocked prompt", () => {
  const events = [START, ...ending("refusal")];
  const frames = framesOf(written(events));
  assert.equal(frames.length, 1);
  for (const reply of [encodeReply(events, CONTEXT), frames[0] ?? {}]) {
    assert.deepEqual(reply["promptFeedback"], { blockReason: "SAFETY" });
    assert.equal(reply["candidates"], undefined);
    assert.equal(
      decodeReply(reply, PLAIN_CONTEXT).some((event) =>
        event.type === "stop" && event.reason === "refusal"
      ),
      true,
    );
  }
});

Deno.test("a reply without content has an empty text: clients drop turns without parts", () => {
  const events = [START, ...ending("end")];
  assert.deepEqual(partsOf(encodeReply(events, CONTEXT)), [{ text: "" }]);
  assert.deepEqual(framesOf(written(events)).flatMap(partsOf), [{ text: "" }]);
});

Deno.test("sources become grounding, at positions in bytes, and read back", () => {
  const cited: ReplyEvent[] = [
    START,
    { type: "open", kind: "text" },
    { type: "delta", text: "é😀 is so" },
    {
      type: "cite",
      citation: {
        url: "https://a.test",
        title: "A",
        span: { start: 4, end: 6 },
      },
    },
    { type: "cite", citation: { url: "https://b.test" } },
    { type: "close" },
    ...ending("end"),
  ];
  const grounding = {
    groundingChunks: [
      { web: { uri: "https://a.test", title: "A" } },
      { web: { uri: "https://b.test" } },
    ],
    groundingSupports: [{
      segment: { startIndex: 7, endIndex: 9, text: "is" },
      groundingChunkIndices: [0],
    }],
  };
  const whole = encodeReply(cited, CONTEXT);
  assert.deepEqual(candidate(whole)["groundingMetadata"], grounding);
  const frames = framesOf(written(cited));
  assert.deepEqual(
    frames.map((frame) => candidate(frame)["groundingMetadata"]),
    [undefined, grounding],
  );
  const decoder = streamDecoder(PLAIN_CONTEXT);
  const events = frames.flatMap((frame) =>
    decoder.push({ data: JSON.stringify(frame) })
  );
  assert.deepEqual(
    [...events, ...decoder.end()].filter(({ type }) => type === "cite"),
    cited.filter(({ type }) => type === "cite").slice(0, 1),
  );
});

Deno.test("the last object of a stream has the sources of all texts, as a whole reply has", () => {
  const said = (text: string, url: string): ReplyEvent[] => [
    { type: "open", kind: "text" },
    { type: "delta", text },
    { type: "cite", citation: { url, span: { start: 0, end: 2 } } },
    { type: "close" },
  ];
  const events: ReplyEvent[] = [
    START,
    ...said("It is", "https://a.test"),
    ...said("so.", "https://b.test"),
    { type: "open", kind: "tool", id: "c1", name: "f" },
    { type: "close" },
    ...ending("end"),
  ];
  const grounding = {
    groundingChunks: [
      { web: { uri: "https://a.test" } },
      { web: { uri: "https://b.test" } },
    ],
    groundingSupports: [{
      segment: { startIndex: 0, endIndex: 2, text: "It" },
      groundingChunkIndices: [0],
    }, {
      segment: { partIndex: 1, startIndex: 0, endIndex: 2, text: "so" },
      groundingChunkIndices: [1],
    }],
  };
  const frames = framesOf(written(events)).map(candidate);
  for (const one of [candidate(encodeReply(events, CONTEXT)), frames.at(-1)]) {
    assert.deepEqual(one?.["groundingMetadata"], grounding);
  }
  for (const one of frames.slice(0, -1)) {
    assert.equal(one["groundingMetadata"], undefined);
  }
});

Deno.test("an error ends a stream, with nothing after it but a comment that fails clients that ignore errors", () => {
  const error = new ApiError("overloaded", "busy", { retryAfterSeconds: 3 });
  const stream = written([
    START,
    ...text("x"),
    { type: "error", error },
    ...ending("end"),
  ]);
  assert.match(stream, /\}\n\n: the reply is incomplete\n\n$/);
  assert.deepEqual(framesOf(stream).at(-1), {
    error: {
      code: 503,
      message: "busy",
      status: "UNAVAILABLE",
      details: [{
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        retryDelay: "3s",
      }],
    },
  });
});

Deno.test("withStop() adds a finish reason to the first candidate alone", () => {
  const body = {
    candidates: [{
      content: { parts: [{ text: "x" }] },
      finishReason: "FINISH_REASON_UNSPECIFIED",
    }],
    later: 1,
  };
  assert.deepEqual(withStop(body, decodeReply(body, PLAIN_CONTEXT)), {
    candidates: [{ content: { parts: [{ text: "x" }] }, finishReason: "STOP" }],
    later: 1,
  });
});

Deno.test("usage that no upstream reported is estimated; sound and pictures are listed", () => {
  const usageOf = (events: readonly ReplyEvent[]): unknown =>
    encodeReply([START, ...events, ...ending("end")], CONTEXT)["usageMetadata"];
  assert.deepEqual(usageOf([]), {
    promptTokenCount: 7,
    candidatesTokenCount: 0,
    totalTokenCount: 7,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: 7 }],
  });
  assert.deepEqual(
    usageOf([{
      type: "usage",
      usage: { input: 9, audioInput: 4, output: 3, imageOutput: 2 },
    }]),
    {
      promptTokenCount: 9,
      candidatesTokenCount: 3,
      totalTokenCount: 12,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 5 },
        { modality: "AUDIO", tokenCount: 4 },
      ],
      candidatesTokensDetails: [
        { modality: "TEXT", tokenCount: 1 },
        { modality: "IMAGE", tokenCount: 2 },
      ],
    },
  );
});
