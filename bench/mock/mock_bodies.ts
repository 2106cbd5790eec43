/**
 * The bodies of the mock upstream's whole replies, with the fields and sizes of real vendors'.
 */

/** The dialects of the mock upstream. */
export type UpstreamDialect =
  | "messages"
  | "chat_completions"
  | "generate_content"
  | "responses";

/** Input tokens that the mock reports for every prompt. */
export const INPUT_TOKENS = 25;
/** The model that every reply names. */
export const MODEL = "mock-model-2026-01-01";
/** The id of the message in a reply of the Responses format. */
export const MESSAGE_ID = "msg_bench0000000000000000000000000";
/** When every reply was made, in Unix seconds. */
export const CREATED = 1_767_225_600;

/** The body of a whole reply. */
export function wholeBody(
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
export function response(
  text?: string,
  outputTokens = 0,
): Readonly<Record<string, unknown>> {
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

/** The output item of a reply of the Responses format. */
export function message(text: string): Readonly<Record<string, unknown>> {
  return {
    id: MESSAGE_ID,
    type: "message",
    status: "completed",
    content: [part(text)],
    role: "assistant",
  };
}

/** The text of that item. */
export function part(text: string): Readonly<Record<string, unknown>> {
  return { type: "output_text", annotations: [], logprobs: [], text };
}

/** Usage as chat completions report it. */
export function chatUsage(
  outputTokens: number,
): Readonly<Record<string, unknown>> {
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

/** Usage as generate content reports it. */
export function countedTokens(
  outputTokens: number,
): Readonly<Record<string, unknown>> {
  return {
    promptTokenCount: INPUT_TOKENS,
    candidatesTokenCount: outputTokens,
    totalTokenCount: INPUT_TOKENS + outputTokens,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: INPUT_TOKENS }],
  };
}
