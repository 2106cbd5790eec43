/**
 * Replies of models that reason without showing it: streams in three parts (before the text, the
 * text, and the end with the usage) and whole ones.
 */

/** Frames of one upstream format. */
export interface SilentFrames {
  readonly start: readonly string[];
  readonly text: (text: string) => string;
  readonly end: (outputTokens: number) => readonly string[];
  readonly whole: (text: string, outputTokens: number) => object;
}

export const PROMPT_TOKENS = 100;

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function data(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function chunk(delta: object, finish: string | null = null): string {
  return data({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
}

function response(status: string, usage: object | null): object {
  return {
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "m",
    status,
    output: [],
    usage,
  };
}

const ITEM = { id: "msg_1", type: "message", role: "assistant" };
const PART = { type: "output_text", text: "", annotations: [] };
const PLACE = { item_id: "msg_1", output_index: 0, content_index: 0 };

export const SILENT_FRAMES = {
  messages: {
    start: [event("message_start", {
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: PROMPT_TOKENS, output_tokens: 1 },
      },
    })],
    text: (text) =>
      event("content_block_start", {
        index: 0,
        content_block: { type: "text", text: "" },
      }) +
      event("content_block_delta", {
        index: 0,
        delta: { type: "text_delta", text },
      }),
    end: (output_tokens) => [
      event("content_block_stop", { index: 0 }),
      event("message_delta", {
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens },
      }),
      event("message_stop", {}),
    ],
    whole: (text, output_tokens) => ({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: PROMPT_TOKENS, output_tokens },
    }),
  },
  chat: {
    start: [chunk({ role: "assistant", content: "" })],
    text: (content) => chunk({ content }),
    end: (completion_tokens) => [
      chunk({}, "stop"),
      data({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [],
        usage: {
          prompt_tokens: PROMPT_TOKENS,
          completion_tokens,
          total_tokens: PROMPT_TOKENS + completion_tokens,
        },
      }),
      "data: [DONE]\n\n",
    ],
    whole: (content, completion_tokens) => ({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{
        index: 0,
        message: { role: "assistant", content },
        finish_reason: "stop",
      }],
      usage: {
        prompt_tokens: PROMPT_TOKENS,
        completion_tokens,
        total_tokens: PROMPT_TOKENS + completion_tokens,
      },
    }),
  },
  responses: {
    start: [
      event("response.created", {
        sequence_number: 0,
        response: response("in_progress", null),
      }),
    ],
    text: (delta) =>
      event("response.output_item.added", {
        sequence_number: 1,
        output_index: 0,
        item: { ...ITEM, status: "in_progress", content: [] },
      }) +
      event("response.content_part.added", {
        sequence_number: 2,
        ...PLACE,
        part: PART,
      }) +
      event("response.output_text.delta", {
        sequence_number: 3,
        ...PLACE,
        delta,
      }),
    end: (output_tokens) => [
      event("response.completed", {
        sequence_number: 4,
        response: response("completed", {
          input_tokens: PROMPT_TOKENS,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens,
          output_tokens_details: { reasoning_tokens: output_tokens - 4 },
          total_tokens: PROMPT_TOKENS + output_tokens,
        }),
      }),
    ],
    whole: (text, output_tokens) => ({
      ...response("completed", {
        input_tokens: PROMPT_TOKENS,
        output_tokens,
        total_tokens: PROMPT_TOKENS + output_tokens,
      }),
      output: [{
        ...ITEM,
        status: "completed",
        content: [{ ...PART, text }],
      }],
    }),
  },
  gemini: {
    start: [],
    text: (text) =>
      data({ candidates: [{ content: { role: "model", parts: [{ text }] } }] }),
    end: (output) => [
      data({
        candidates: [{
          content: { role: "model", parts: [{ text: "" }] },
          finishReason: "STOP",
        }],
        usageMetadata: {
          promptTokenCount: PROMPT_TOKENS,
          candidatesTokenCount: 4,
          thoughtsTokenCount: output - 4,
          totalTokenCount: PROMPT_TOKENS + output,
        },
      }),
    ],
    whole: (text, output) => ({
      candidates: [{
        content: { role: "model", parts: [{ text }] },
        finishReason: "STOP",
      }],
      usageMetadata: {
        promptTokenCount: PROMPT_TOKENS,
        candidatesTokenCount: output,
        totalTokenCount: PROMPT_TOKENS + output,
      },
    }),
  },
} as const satisfies Readonly<Record<string, SilentFrames>>;
