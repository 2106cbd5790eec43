/**
 * The bytes of the mock upstream's replies, built once per plan: framed as HTTP, with the fields
 * and sizes of real vendors' replies.
 *
 * @module
 */
import { pieceText, type ReplyPlan, UNSTAMPED } from "./reply_plan.ts";

/** The dialects of the mock upstream. */
export type UpstreamDialect =
  | "messages"
  | "chat_completions"
  | "generate_content"
  | "responses";

/** A reply that is sent unchanged. */
export interface ReadyReply {
  /** Bytes of each write. */
  readonly writes: readonly Uint8Array[];
}

/** A reply whose events are stamped and sent at a fixed rate. */
export interface PacedReply {
  /** The head, and the frames before the first text. */
  readonly opening: Uint8Array;
  /** The frames with text, each an HTTP chunk of its own. */
  readonly frames: readonly PacedFrame[];
  /** The frames after the last text, and the end of the body. */
  readonly closing: Uint8Array;
}

/** A frame with room for a stamp. */
export interface PacedFrame {
  /** Shared by all streams: copy it before stamping. */
  readonly bytes: Uint8Array;
  /** Offset of the stamp. */
  readonly stampAt: number;
}

/** Input tokens that the mock reports for every prompt. */
export const INPUT_TOKENS = 25;
const MODEL = "mock-model-2026-01-01";
const MESSAGE_ID = "msg_bench0000000000000000000000000";
const CREATED = 1_767_225_600;

const encoder = new TextEncoder();

/** A whole reply in one write. */
export function wholeReply(
  dialect: UpstreamDialect,
  plan: ReplyPlan,
): ReadyReply {
  const text = pieces(plan).join("");
  const body = encoder.encode(
    JSON.stringify(wholeBody(dialect, text, plan.events)),
  );
  return {
    writes: [joined([
      encoder.encode(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
      ),
      body,
    ])],
  };
}

/** A stream that is sent as fast as the client reads it. */
export function fastStream(
  dialect: UpstreamDialect,
  plan: ReplyPlan,
): ReadyReply {
  const { opening, texts, closing } = streamFrames(dialect, plan);
  const chunks = [...opening, ...texts, ...closing].map(chunk);
  const perWrite = plan.perWrite === 0 ? chunks.length : plan.perWrite;
  const writes: Uint8Array[] = [];
  for (let at = 0; at < chunks.length; at += perWrite) {
    writes.push(joined(chunks.slice(at, at + perWrite)));
  }
  const [first = new Uint8Array(), ...rest] = writes;
  const last = rest.pop();
  return {
    writes: last === undefined
      ? [joined([STREAM_HEAD, first, LAST_CHUNK])]
      : [joined([STREAM_HEAD, first]), ...rest, joined([last, LAST_CHUNK])],
  };
}

/** A stream that is sent event by event, at the rate of its plan. */
export function pacedStream(
  dialect: UpstreamDialect,
  plan: ReplyPlan,
): PacedReply {
  const { opening, texts, closing } = streamFrames(dialect, plan);
  return {
    opening: joined([STREAM_HEAD, ...opening.map(chunk)]),
    frames: texts.map((text) => {
      const bytes = chunk(text);
      const head = bytes.length - encoder.encode(text).length - 2;
      return { bytes, stampAt: head + text.indexOf(UNSTAMPED) + 1 };
    }),
    closing: joined([...closing.map(chunk), LAST_CHUNK]),
  };
}

const STREAM_HEAD = encoder.encode(
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n" +
    "transfer-encoding: chunked\r\n\r\n",
);
const LAST_CHUNK = encoder.encode("0\r\n\r\n");

function pieces(plan: ReplyPlan): string[] {
  return Array.from(
    { length: plan.events },
    (_, index) => pieceText(plan, index),
  );
}

function chunk(text: string): Uint8Array {
  const bytes = encoder.encode(text);
  return joined([
    encoder.encode(`${bytes.length.toString(16)}\r\n`),
    bytes,
    encoder.encode("\r\n"),
  ]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(
    parts.reduce((sum, part) => sum + part.length, 0),
  );
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function wholeBody(
  dialect: UpstreamDialect,
  text: string,
  outputTokens: number,
): unknown {
  switch (dialect) {
    case "messages":
      return {
        model: MODEL,
        id: "msg_01Bench0000000000000000",
        type: "message",
        role: "assistant",
        content: [{ type: "text", text }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: {
          input_tokens: INPUT_TOKENS,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: outputTokens,
          service_tier: "standard",
        },
      };
    case "chat_completions":
      return {
        id: "chatcmpl-Bench0000000000000000000000",
        object: "chat.completion",
        created: CREATED,
        model: MODEL,
        choices: [{
          index: 0,
          message: {
            role: "assistant",
            content: text,
            refusal: null,
            annotations: [],
          },
          finish_reason: "stop",
        }],
        usage: chatUsage(outputTokens),
        service_tier: "default",
        system_fingerprint: null,
      };
    case "generate_content":
      return {
        candidates: [{
          content: { parts: [{ text }], role: "model" },
          finishReason: "STOP",
          index: 0,
        }],
        usageMetadata: countedTokens(outputTokens),
        modelVersion: MODEL,
        responseId: "Bench000000000000000000",
      };
    case "responses":
      return response(text, outputTokens);
  }
}

/** A reply of the Responses format; without text, the reply in progress. */
function response(text?: string, outputTokens = 0) {
  return {
    id: "resp_bench000000000000000000000000",
    object: "response",
    created_at: CREATED,
    status: text === undefined ? "in_progress" : "completed",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: MODEL,
    output: text === undefined ? [] : [message(text)],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: "default",
    store: false,
    temperature: 1,
    text: { format: { type: "text" }, verbosity: "medium" },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    truncation: "disabled",
    usage: text === undefined ? null : {
      input_tokens: INPUT_TOKENS,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: INPUT_TOKENS + outputTokens,
    },
    metadata: {},
  };
}

function message(text: string) {
  return {
    id: MESSAGE_ID,
    type: "message",
    status: "completed",
    content: [part(text)],
    role: "assistant",
  };
}

function part(text: string) {
  return { type: "output_text", annotations: [], logprobs: [], text };
}

function chatUsage(outputTokens: number) {
  return {
    prompt_tokens: INPUT_TOKENS,
    completion_tokens: outputTokens,
    total_tokens: INPUT_TOKENS + outputTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function countedTokens(outputTokens: number) {
  return {
    promptTokenCount: INPUT_TOKENS,
    candidatesTokenCount: outputTokens,
    totalTokenCount: INPUT_TOKENS + outputTokens,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: INPUT_TOKENS }],
  };
}

interface StreamFrames {
  readonly opening: readonly string[];
  readonly texts: readonly string[];
  readonly closing: readonly string[];
}

function streamFrames(
  dialect: UpstreamDialect,
  plan: ReplyPlan,
): StreamFrames {
  switch (dialect) {
    case "messages":
      return messagesFrames(plan);
    case "chat_completions":
      return chatFrames(plan);
    case "generate_content":
      return generateFrames(plan);
    case "responses":
      return responsesFrames(plan);
  }
}

function messagesFrames(plan: ReplyPlan): StreamFrames {
  const frame = (type: string, rest: Record<string, unknown> = {}): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const usage = {
    input_tokens: INPUT_TOKENS,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 1,
    service_tier: "standard",
  };
  return {
    opening: [
      frame("message_start", {
        message: {
          model: MODEL,
          id: "msg_01Bench0000000000000000",
          type: "message",
          role: "assistant",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage,
        },
      }),
      frame("content_block_start", {
        index: 0,
        content_block: { type: "text", text: "" },
      }),
      frame("ping"),
    ],
    texts: pieces(plan).map((text) =>
      frame("content_block_delta", {
        index: 0,
        delta: { type: "text_delta", text },
      })
    ),
    closing: [
      frame("content_block_stop", { index: 0 }),
      frame("message_delta", {
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { ...usage, output_tokens: plan.events },
      }),
      frame("message_stop"),
    ],
  };
}

function chatFrames(plan: ReplyPlan): StreamFrames {
  const frame = (rest: Record<string, unknown>): string =>
    `data: ${
      JSON.stringify({
        id: "chatcmpl-Bench0000000000000000000000",
        object: "chat.completion.chunk",
        created: CREATED,
        model: MODEL,
        service_tier: "default",
        system_fingerprint: null,
        usage: null,
        ...rest,
      })
    }\n\n`;
  const choice = (delta: unknown, finish: string | null = null) => [{
    index: 0,
    delta,
    finish_reason: finish,
  }];
  return {
    opening: [
      frame({ choices: choice({ role: "assistant", content: "" }) }),
    ],
    texts: pieces(plan).map((content) =>
      frame({ choices: choice({ content }) })
    ),
    closing: [
      frame({ choices: choice({}, "stop") }),
      frame({ choices: [], usage: chatUsage(plan.events) }),
      "data: [DONE]\n\n",
    ],
  };
}

function generateFrames(plan: ReplyPlan): StreamFrames {
  const texts = pieces(plan).map((text, index) => {
    const isLast = index === plan.events - 1;
    return `data: ${
      JSON.stringify({
        candidates: [{
          content: { parts: [{ text }], role: "model" },
          ...(isLast ? { finishReason: "STOP" } : {}),
          index: 0,
        }],
        usageMetadata: countedTokens(index + 1),
        modelVersion: MODEL,
        responseId: "Bench000000000000000000",
      })
    }\r\n\r\n`;
  });
  return { opening: [], texts, closing: [] };
}

function responsesFrames(plan: ReplyPlan): StreamFrames {
  const place = { content_index: 0, item_id: MESSAGE_ID, output_index: 0 };
  const text = pieces(plan).join("");
  let sequence = 0;
  const frame = (type: string, rest: Record<string, unknown>): string =>
    `event: ${type}\ndata: ${
      JSON.stringify({ type, ...rest, sequence_number: sequence++ })
    }\n\n`;
  return {
    opening: [
      frame("response.created", { response: response() }),
      frame("response.in_progress", { response: response() }),
      frame("response.output_item.added", {
        item: { ...message(""), status: "in_progress", content: [] },
        output_index: 0,
      }),
      frame("response.content_part.added", { ...place, part: part("") }),
    ],
    texts: pieces(plan).map((delta) =>
      frame("response.output_text.delta", {
        ...place,
        delta,
        logprobs: [],
        obfuscation: "a1B2c3D4e5",
      })
    ),
    closing: [
      frame("response.output_text.done", { ...place, text, logprobs: [] }),
      frame("response.content_part.done", { ...place, part: part(text) }),
      frame("response.output_item.done", {
        item: message(text),
        output_index: 0,
      }),
      frame("response.completed", { response: response(text, plan.events) }),
    ],
  };
}
