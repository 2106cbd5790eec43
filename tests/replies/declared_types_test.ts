/**
 * What clients receive fits the types that the official libraries declare: whole replies and each
 * event of streams, from every upstream format to every client format, errors, models and counts.
 * Bytes that pass through are the vendor's and are not judged.
 */
import { atOnce } from "../../translate/steps.ts";
import assert from "node:assert/strict";
import { arrayOr, objectOr } from "../../translate/bytes/json.ts";
import {
  type Dialect,
  type EncodeContext,
  PLAIN_CONTEXT,
} from "../../translate/dialect.ts";
import { upstreamDialect } from "../../translate/dialects.ts";
import { chatCompletions } from "../../translate/formats/chat_completions/mod.ts";
import { generateContent } from "../../translate/formats/generate_content/mod.ts";
import { messages } from "../../translate/formats/messages/mod.ts";
import { responses } from "../../translate/formats/responses/mod.ts";
import {
  ApiError,
  ERROR_STATUS,
  kindOfStatus,
} from "../../translate/model/error.ts";
import type { ReplyEvent, StopReason } from "../../translate/model/reply.ts";
import {
  streamOfWhole,
  streamRelay,
  wholeOfStream,
  wholeReply,
} from "../../translate/stream/relay.ts";
import { sseParser } from "../../translate/stream/sse.ts";
import {
  encodeChatBody,
  encodeChatFrames,
} from "../../replay/vendors/encode_chat_completions.ts";
import {
  encodeGenerateBody,
  encodeGenerateFrames,
} from "../../replay/vendors/encode_generate_content.ts";
import {
  encodeMessagesBody,
  encodeMessagesFrames,
} from "../../replay/vendors/encode_messages.ts";
import {
  encodeResponsesBody,
  encodeResponsesFrames,
} from "../../replay/vendors/encode_responses.ts";
import type {
  EncodableReply,
  NeutralReply,
} from "../../replay/vendors/neutral_reply.ts";
import { replyJudge, type ReplyType } from "../support/replies/reply_types.ts";
import { RESPONSES_REQUESTS } from "../support/fuzz/seed_requests/responses.ts";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";
import {
  fixtureReplies,
  recordedReplies,
  type UpstreamReply,
} from "../support/upstreams/upstream_replies.ts";
import { ENCODE_CONTEXT } from "../../translate/testing/encode_context.ts";

interface Client {
  readonly dialect: Dialect;
  readonly whole: readonly ReplyType[];
  readonly event: readonly ReplyType[];
  /** Absent where the library declares none. */
  readonly error?: ReplyType;
  /** What a client may ask for beside the plain reply. */
  readonly variants: readonly Partial<EncodeContext>[];
}

const ENCODE: EncodeContext = {
  ...ENCODE_CONTEXT,
  model: "asked-for",
  wantUsage: true,
};

const CLIENTS: readonly Client[] = [
  {
    dialect: messages,
    whole: ["message", "betaMessage"],
    event: ["messageEvent", "betaMessageEvent"],
    error: "messageError",
    variants: [{}],
  },
  {
    dialect: chatCompletions,
    whole: ["completion"],
    event: ["chunk"],
    error: "openaiError",
    variants: [
      {},
      { legacyFunctions: true, wantUsage: false },
      { freeTextTools: new Set(["get_weather"]) },
    ],
  },
  {
    dialect: responses,
    whole: ["response"],
    event: ["responseEvent"],
    error: "openaiError",
    variants: [{}, {
      echo: {
        tools: [{ type: "custom", name: "get_weather" }],
        user: "u",
      },
      endedAt: () => 1_780_000_001,
    }],
  },
  {
    dialect: generateContent,
    whole: ["generated"],
    event: ["generated"],
    variants: [{}],
  },
];

const judged = replyJudge();
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array): string => new TextDecoder().decode(data);

/** The error of a frame that ends a stream; undefined for other frames. */
function errorIn({ dialect }: Client, data: unknown): unknown {
  const { type, error } = objectOr(data);
  if (dialect === chatCompletions || dialect === generateContent) return error;
  return dialect === messages && type === "error" ? data : undefined;
}

function judgeStream(client: Client, stream: string, from: string): void {
  const parser = sseParser();
  for (const { data } of [...parser.push(bytes(stream)), ...parser.end()]) {
    if (data === "[DONE]") continue;
    const json = JSON.parse(data);
    // The libraries skip these frames, which keep a connection alive.
    if (["ping", "keepalive"].includes(json["type"])) continue;
    const error = errorIn(client, json);
    if (error === undefined) judged.judge(client.event, json, from);
    else if (client.error !== undefined) {
      judged.judge([client.error], error, from);
    }
  }
}

function judgeError({ dialect, error }: Client, given: ApiError): void {
  if (error === undefined) return;
  const { body } = dialect.encodeError(given, "req_1");
  const shown = error === "messageError" ? body : body["error"];
  judged.judge([error], shown, `an error: ${given.kind}`);
}

/** Everything that a client can receive of one upstream reply. */
function judgeReply(client: Client, reply: UpstreamReply): void {
  const { name, upstream: upstreamName, whole, stream } = reply;
  const upstream = upstreamDialect(upstreamName);
  const decode = {
    ...PLAIN_CONTEXT,
    isTranslated: true,
    wantsProbabilities: true,
  };
  const attempt = (give: () => void): void => {
    try {
      give();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      judgeError(client, error);
    }
  };
  for (const variant of client.variants) {
    const sides = [
      client.dialect,
      upstream,
      decode,
      { ...ENCODE, ...variant },
    ] as const;
    const from = `${name}, ${upstreamName} to ${client.dialect.name}`;
    const judgeWhole = (body: Uint8Array): void =>
      judged.judge(client.whole, JSON.parse(text(body)), from);
    if (whole !== undefined) {
      attempt(() =>
        judgeWhole(atOnce(wholeReply(...sides, bytes(whole))).body)
      );
      attempt(() => {
        const { body } = atOnce(streamOfWhole(...sides, bytes(whole)));
        judgeStream(client, text(body), from);
      });
    }
    if (stream !== undefined) {
      attempt(() =>
        judgeWhole(atOnce(wholeOfStream(...sides, bytes(stream))).body)
      );
      const relay = streamRelay(...sides);
      // The first frames alone, a ping, the rest: calls are held back for a signature.
      const half = stream.indexOf("\n\n", stream.length / 2);
      const out = [
        relay.push(bytes(stream.slice(0, half))),
        relay.ping(),
        relay.push(bytes(stream.slice(half))),
        relay.end(),
      ];
      judgeStream(client, out.map(text).join(""), from);
    }
  }
}

function assertFits(): void {
  assert.deepEqual(judged.differences(), []);
}

Deno.test("every fixture fits in every client's format", () => {
  for (const reply of fixtureReplies()) {
    for (const client of CLIENTS) judgeReply(client, reply);
  }
  assertFits();
  assert.ok(judged.compared() > 10_000, "hardly anything was compared");
});

const recorded = recordedReplies();
Deno.test({
  name: recorded.length === 0
    ? "every recorded reply fits in every client's format: SKIPPED, no recordings"
    : "every recorded reply fits in every client's format",
  ignore: recorded.length === 0,
  fn() {
    for (const reply of recorded) {
      for (const client of CLIENTS) judgeReply(client, reply);
    }
    assertFits();
  },
});

/** Every kind of event, with every field. */
const EVENTS: readonly ReplyEvent[] = [
  { type: "start", id: "msg_1", model: "m", usage: { input: 1, cacheRead: 2 } },
  { type: "open", kind: "reasoning" },
  { type: "delta", text: "Hm." },
  { type: "sign", signature: { from: "messages", value: "S" } },
  { type: "close" },
  { type: "open", kind: "reasoning" },
  {
    type: "sign",
    signature: { from: "messages", value: "R", redacted: true },
  },
  { type: "close" },
  { type: "code", code: "1 + 1", language: "python", output: "2" },
  { type: "open", kind: "text", phase: "commentary" },
  { type: "delta", text: "I look " },
  { type: "delta", text: "it up." },
  {
    type: "cite",
    citation: {
      url: "https://127.0.0.1/a",
      title: "A",
      quote: "up",
      span: { start: 7, end: 9 },
    },
  },
  { type: "cite", citation: { url: "https://127.0.0.1/b" } },
  { type: "close" },
  {
    type: "search",
    queries: ["Ulm"],
    sources: [{ url: "https://127.0.0.1/a", title: "A" }, {
      url: "https://127.0.0.1/b",
    }],
  },
  { type: "open", kind: "refusal" },
  { type: "delta", text: "No." },
  { type: "close" },
  { type: "open", kind: "tool", id: "call_1", name: "get_weather" },
  { type: "delta", text: '{"city":' },
  { type: "delta", text: '"Ulm"}' },
  { type: "sign", signature: { from: "generate_content", value: "G" } },
  { type: "close" },
  {
    type: "usage",
    usage: {
      input: 10,
      cacheRead: 2,
      cacheWrite: 12,
      output: 5,
      reasoning: 2,
      cacheWrite5m: 1,
      cacheWrite30m: 2,
      cacheWrite1h: 3,
      cacheWrite12h: 6,
      audioInput: 1,
      imageInput: 1,
      audioOutput: 1,
      imageOutput: 1,
      unknownInput: 1,
      unknownOutput: 1,
      uses: { web_search: 1, code_interpreter: 2 },
      tier: "priority",
      speed: "fast",
      region: "us",
      served: [{ model: "other", input: 1, output: 1 }],
    },
  },
];

const STOPS: readonly StopReason[] = [
  "end",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "refusal",
  "pause",
  "context_window",
  "other",
];

Deno.test("every event of a reply fits, whatever ends it", () => {
  for (const reason of STOPS) {
    const events: readonly ReplyEvent[] = [
      ...EVENTS,
      { type: "stop", reason, raw: reason, sequence: "x" },
      { type: "end" },
    ];
    for (const client of CLIENTS) {
      const { dialect, whole, variants } = client;
      for (const variant of variants) {
        const context = { ...ENCODE, ...variant };
        const from = `${reason} to ${dialect.name}`;
        judged.judge(whole, dialect.encodeReply(events, context), from);
        const encoder = dialect.streamEncoder(context);
        const stream = events.map((event) => encoder.push(event)).join("");
        judgeStream(client, stream, from);
      }
    }
  }
  assertFits();
});

/** What the replay upstream answers in a format, whole and streamed. */
type ReplayEncoder = readonly [
  whole: (reply: EncodableReply) => string,
  frames: (reply: EncodableReply) => readonly string[],
];
const REPLAYED: Readonly<Record<string, ReplayEncoder>> = {
  messages: [encodeMessagesBody, encodeMessagesFrames],
  chat_completions: [encodeChatBody, encodeChatFrames],
  responses: [encodeResponsesBody, encodeResponsesFrames],
  generate_content: [encodeGenerateBody, encodeGenerateFrames],
};

/** Without what the vendors send and their libraries do not declare. */
function declaredOnly(text: string): string {
  return text.replaceAll(
    /,\s*"(?:obfuscation|serviceTier)":\s*"[^"]*"/g,
    "",
  );
}

Deno.test("what the replay upstream answers fits as it is", () => {
  const reply: NeutralReply = {
    blocks: [
      { kind: "thinking", pieces: ["Hm", "."], signature: "S" },
      { kind: "text", pieces: ["Yes", "."] },
      { kind: "tool", name: "f", args: { a: 1 } },
    ],
    stop: "tool_use",
    stopSequence: null,
    usage: { input: 9, cacheRead: 1, cacheWrite: 2, output: 5, reasoning: 2 },
  };
  const plain: NeutralReply = {
    blocks: [{ kind: "text", pieces: ["Yes"] }],
    stop: "end",
    stopSequence: null,
    usage: { input: 9, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 },
  };
  for (const client of CLIENTS) {
    const [whole, frames] = REPLAYED[client.dialect.name] ?? [];
    assert.ok(whole !== undefined && frames !== undefined);
    // Beta types have more; the vendor sends that where a beta is asked for.
    const types = { ...client, event: client.event.slice(0, 1) };
    for (const one of [reply, plain]) {
      for (const usageAsked of [true, false]) {
        const encodable = { reply: one, model: "m", usageAsked, seed: "s" };
        const from = `the replay's ${client.dialect.name}`;
        judged.judge(
          client.whole.slice(0, 1),
          JSON.parse(declaredOnly(whole(encodable))),
          from,
        );
        judgeStream(types, declaredOnly(frames(encodable).join("")), from);
      }
    }
  }
  assertFits();
});

Deno.test("a Responses reply fits whatever request it repeats", () => {
  const [reply] = fixtureReplies();
  const [, , client] = CLIENTS;
  assert.ok(reply !== undefined && client !== undefined);
  const variants = RESPONSES_REQUESTS.map((request) => ({
    echo: responses.echoOf?.(request) ?? {},
  }));
  judgeReply({ ...client, variants }, reply);
  assertFits();
});

Deno.test("every error fits, as a body and in a stream", () => {
  const kinds = Object.values(ERROR_STATUS).map(kindOfStatus);
  for (const client of CLIENTS) {
    for (const kind of kinds) {
      for (
        const details of [
          {},
          { code: "a_code", param: "a.field", retryAfterSeconds: 3 },
          { code: "context_length_exceeded", upstreamStatus: 400 },
        ]
      ) {
        const error = new ApiError(kind, "what went wrong", details);
        judgeError(client, error);
        const encoder = client.dialect.streamEncoder(ENCODE);
        const frames = encoder.push({ type: "start" }) +
          encoder.push({ type: "error", error });
        judgeStream(client, frames, `a stream's error: ${kind}`);
      }
    }
  }
  assertFits();
});

Deno.test("models, token counts and stored replies fit", async () => {
  await using gateway = await startTestGateway();
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(gateway.url + path, {
      headers: { "x-api-key": TEST_KEY },
    });
    assert.equal(response.status, 200, path);
    return await response.json();
  };
  const models = arrayOr(objectOr(await get("/v1/models"))["data"]);
  assert.ok(models.length > 0);
  const one = await get(`/v1/models/${objectOr(models[0])["id"]}`);
  for (const model of [...models, one]) {
    judged.judge(
      ["messageModel", "betaMessageModel", "openaiModel"],
      model,
      "the list of models",
    );
  }
  const asked = {
    model: "vendorc-3-pro",
    messages: [{ role: "user", content: "Hi" }],
  };
  const count = await gateway.post("/v1/messages/count_tokens", asked);
  judged.judge(
    ["messageCount", "betaMessageCount"],
    await count.json(),
    "a token count",
  );
  const counted = await gateway.post(
    "/v1beta/models/vendora-opus-4-8:countTokens",
    { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
  );
  judged.judge(["generatedCount"], await counted.json(), "a token count");
  const reply = await gateway.post("/v1/responses", {
    model: "vendorc-3-pro",
    input: "Hi",
  });
  const id = objectOr(await reply.json())["id"];
  judged.judge(
    ["response"],
    await get(`/v1/responses/${id}`),
    "a stored reply",
  );
  judged.judge(
    ["responseItems"],
    await get(`/v1/responses/${id}/input_items`),
    "the input of a stored reply",
  );
  assertFits();
});

Deno.test("no deliberate difference is without need", () => {
  assert.deepEqual(judged.unused(), []);
});
