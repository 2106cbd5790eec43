/**
 * The frames of the mock upstream's streams, with the fields and sizes of real vendors'.
 */
import {
  chatUsage,
  countedTokens,
  CREATED,
  INPUT_TOKENS,
  message,
  MESSAGE_ID,
  MODEL,
  part,
  response,
  type UpstreamDialect,
} from "./mock_bodies.ts";
import { pieceText, type ReplyPlan } from "../load/reply_plan.ts";

/** The texts of the events. */
export function textPieces(plan: ReplyPlan): string[] {
  return Array.from(
    { length: plan.events },
    (_, index) => pieceText(plan, index),
  );
}

/** Frames without HTTP around them, in three parts. */
interface StreamFrames {
  /** Before the first text. */
  readonly opening: readonly string[];
  /** One per event. */
  readonly texts: readonly string[];
  /** After the last text. */
  readonly closing: readonly string[];
}

/** The frames that answer with a plan in a dialect. */
export function streamFrames(
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
    texts: textPieces(plan).map((text) =>
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
    texts: textPieces(plan).map((content) =>
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
  const texts = textPieces(plan).map((text, index) => {
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
  const text = textPieces(plan).join("");
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
    texts: textPieces(plan).map((delta) =>
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
