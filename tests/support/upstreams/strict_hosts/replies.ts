/**
 * What a strict host answers, whole and as a stream, in its format and with its reasoning where
 * that host puts it.
 */
import { type JsonObject, objectOr } from "../../../../translate/bytes/json.ts";
import { joinPieces } from "../../../../translate/bytes/buffers.ts";
import {
  awsFrame,
  chunkFrame,
} from "../../../../translate/testing/aws_frames.ts";
import { list, proofOf } from "./refusal.ts";

/** The format of a reply; `invoke`: messages in AWS's frames. */
export type ReplyFormat =
  | "messages"
  | "invoke"
  | "chat"
  | "generate"
  | "responses"
  | "converse";

/** Where a host of the chat format has its reasoning. */
export type ReasoningPlace =
  | "none"
  | "reasoning_content"
  | "reasoning"
  | "details"
  | "sealed"
  | "signatures"
  | "content"
  | "tags";

/** A call of the reply: a tool, and the end of its id. */
export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** What the model does. */
export interface Script {
  /** Empty: it does not reason. */
  readonly thought: string;
  readonly text: string;
  readonly calls: readonly ScriptedCall[];
  /** Makes its proofs different from those of other replies. */
  readonly number: number;
}

/** How a host writes. */
export interface ReplyStyle {
  readonly maker: string;
  readonly reasoning: ReasoningPlace;
}

type Writer = (script: Script, style: ReplyStyle) => JsonObject;

const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };

const messages: Writer = ({ thought, text, calls, number }, { maker }) => ({
  id: `msg_${number}`,
  type: "message",
  role: "assistant",
  model: "strict",
  content: [
    ...(thought === "" ? [] : [{
      type: "thinking",
      thinking: thought,
      signature: proofOf(maker, number),
    }]),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...calls.map(({ id, name, input }) => ({
      type: "tool_use",
      id,
      name,
      input,
    })),
  ],
  stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 4 },
});

/** The fields of an assistant's message that hold its reasoning. */
function chatReasoning(
  { thought, text, calls, number }: Script,
  { maker, reasoning }: ReplyStyle,
): JsonObject {
  if (thought === "") return { content: text };
  switch (reasoning) {
    case "none":
    case "signatures":
      return { content: text };
    case "reasoning_content":
      return { content: text, reasoning_content: thought };
    case "reasoning":
      return { content: text, reasoning: thought };
    case "details":
      return {
        content: text,
        reasoning: thought,
        reasoning_details: [{
          type: "reasoning.text",
          text: thought,
          signature: proofOf(maker, number),
          format: "anthropic-claude-v1",
          index: 0,
        }],
      };
    case "sealed":
      return {
        content: text,
        reasoning: thought,
        reasoning_details: [
          {
            type: "reasoning.text",
            text: thought,
            format: "google-gemini-v1",
            index: 0,
          },
          {
            type: "reasoning.encrypted",
            id: calls[0]?.id ?? null,
            data: proofOf(maker, number),
            format: "google-gemini-v1",
            index: 0,
          },
        ],
      };
    case "content":
      return {
        content: [
          { type: "thinking", thinking: [{ type: "text", text: thought }] },
          ...(text === "" ? [] : [{ type: "text", text }]),
        ],
      };
    case "tags":
      return { content: `<think>${thought}</think>${text}` };
  }
}

const chat: Writer = (script, style) => ({
  id: `chatcmpl-${script.number}`,
  object: "chat.completion",
  created: 1,
  model: "strict",
  choices: [{
    index: 0,
    message: {
      role: "assistant",
      ...chatReasoning(script, style),
      ...(script.calls.length === 0 ? {} : {
        tool_calls: script.calls.map(({ id, name, input }, at) => ({
          id,
          type: "function",
          function: { name, arguments: JSON.stringify(input) },
          ...(style.reasoning === "signatures" && at === 0
            ? {
              extra_content: {
                google: {
                  thought_signature: proofOf(style.maker, script.number),
                },
              },
            }
            : {}),
        })),
      }),
    },
    finish_reason: script.calls.length > 0 ? "tool_calls" : "stop",
  }],
  usage: USAGE,
});

const generate: Writer = ({ thought, text, calls, number }, { maker }) => ({
  candidates: [{
    index: 0,
    content: {
      role: "model",
      parts: [
        ...(thought === "" ? [] : [{ text: thought, thought: true }]),
        ...(text === "" ? [] : [{ text }]),
        ...calls.map(({ name, input }, at) => ({
          functionCall: { name, args: input },
          ...(at === 0 ? { thoughtSignature: proofOf(maker, number) } : {}),
        })),
      ],
    },
    finishReason: "STOP",
  }],
  usageMetadata: {
    promptTokenCount: 9,
    candidatesTokenCount: 4,
    totalTokenCount: 13,
  },
  modelVersion: "strict",
});

const responses: Writer = ({ thought, text, calls, number }, { maker }) => ({
  id: `resp_${number}`,
  object: "response",
  created_at: 1,
  status: "completed",
  model: "strict",
  output: [
    ...(thought === "" ? [] : [{
      type: "reasoning",
      id: `rs_${number}`,
      summary: [{ type: "summary_text", text: thought }],
      encrypted_content: proofOf(maker, number),
    }]),
    ...(text === "" ? [] : [{
      type: "message",
      id: `msg_${number}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    }]),
    ...calls.map(({ id, name, input }) => ({
      type: "function_call",
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: JSON.stringify(input),
      status: "completed",
    })),
  ],
  usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
});

const converse: Writer = ({ thought, text, calls, number }, { maker }) => ({
  output: {
    message: {
      role: "assistant",
      content: [
        ...(thought === "" ? [] : [{
          reasoningContent: {
            reasoningText: {
              text: thought,
              signature: proofOf(maker, number),
            },
          },
        }]),
        ...(text === "" ? [] : [{ text }]),
        ...calls.map(({ id, name, input }) => ({
          toolUse: { toolUseId: id, name, input },
        })),
      ],
    },
  },
  stopReason: calls.length > 0 ? "tool_use" : "end_turn",
  usage: { inputTokens: 9, outputTokens: 4, totalTokens: 13 },
});

const WRITERS: Readonly<Record<ReplyFormat, Writer>> = {
  messages,
  invoke: messages,
  chat,
  generate,
  responses,
  converse,
};

/** The reply of a host. */
export function strictReply(
  format: ReplyFormat,
  script: Script,
  style: ReplyStyle,
  stream: boolean,
): Response {
  const whole = WRITERS[format](script, style);
  return stream ? STREAMS[format](whole) : Response.json(whole);
}

function eventStream(frames: readonly JsonObject[], end = ""): Response {
  const text = frames.map((data) =>
    `${
      typeof data["type"] === "string" ? `event: ${data["type"]}\n` : ""
    }data: ${JSON.stringify(data)}\n\n`
  ).join("");
  return new Response(text + end, {
    headers: { "content-type": "text/event-stream" },
  });
}

function binary(frames: readonly Uint8Array[]): Response {
  return new Response(joinPieces(frames).slice(), {
    headers: { "content-type": "application/vnd.amazon.eventstream" },
  });
}

function messageEvents(whole: JsonObject): readonly JsonObject[] {
  const delta = (index: number, delta: JsonObject): JsonObject => ({
    type: "content_block_delta",
    index,
    delta,
  });
  return [
    {
      type: "message_start",
      message: { ...whole, content: [], stop_reason: null },
    },
    ...list(whole["content"]).flatMap((block, index) => {
      const { type, text, thinking, signature, input } = block;
      const [empty, deltas] = type === "text"
        ? [{ type, text: "" }, [{ type: "text_delta", text }]]
        : type === "thinking"
        ? [{ type, thinking: "", signature: "" }, [
          { type: "thinking_delta", thinking },
          { type: "signature_delta", signature },
        ]]
        : [{ ...block, input: {} }, [{
          type: "input_json_delta",
          partial_json: JSON.stringify(input),
        }]];
      return [
        { type: "content_block_start", index, content_block: empty },
        ...deltas.map((one) => delta(index, one)),
        { type: "content_block_stop", index },
      ];
    }),
    {
      type: "message_delta",
      delta: { stop_reason: whole["stop_reason"], stop_sequence: null },
      usage: { output_tokens: 4 },
    },
    { type: "message_stop" },
  ];
}

function chatFrames(whole: JsonObject): readonly JsonObject[] {
  const { message, finish_reason: finish } = objectOr(
    list(whole["choices"])[0],
  );
  const { tool_calls: calls, ...rest } = objectOr(message);
  const chunk = (delta: JsonObject, end: unknown): JsonObject => ({
    ...whole,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: end }],
    usage: null,
  });
  return [
    chunk(rest, null),
    ...list(calls).map((call, index) =>
      chunk({ tool_calls: [{ index, ...call }] }, null)
    ),
    chunk({}, finish),
    { ...chunk({}, null), choices: [], usage: USAGE },
  ];
}

/** The events between an item's beginning and its end. */
function insideItem(item: JsonObject, output_index: number): JsonObject[] {
  const at = { item_id: item["id"], output_index };
  const [part] = list(item["content"] ?? item["summary"]);
  const text = part?.["text"];
  switch (item["type"]) {
    case "function_call": {
      const type = "response.function_call_arguments";
      const args = item["arguments"];
      return [
        { type: `${type}.delta`, ...at, delta: args },
        { type: `${type}.done`, ...at, arguments: args },
      ];
    }
    case "reasoning": {
      const type = "response.reasoning_summary";
      const place = { ...at, summary_index: 0 };
      const empty = { type: "summary_text", text: "" };
      return [
        { type: `${type}_part.added`, ...place, part: empty },
        { type: `${type}_text.delta`, ...place, delta: text },
        { type: `${type}_text.done`, ...place, text },
        { type: `${type}_part.done`, ...place, part },
      ];
    }
    default: {
      const place = { ...at, content_index: 0 };
      const empty = { type: "output_text", text: "", annotations: [] };
      return [
        { type: "response.content_part.added", ...place, part: empty },
        { type: "response.output_text.delta", ...place, delta: text },
        { type: "response.output_text.done", ...place, text },
        { type: "response.content_part.done", ...place, part },
      ];
    }
  }
}

/** The item as it begins. */
function beginning(item: JsonObject): JsonObject {
  switch (item["type"]) {
    case "function_call":
      return { ...item, arguments: "", status: "in_progress" };
    case "reasoning":
      return { ...item, summary: [] };
    default:
      return { ...item, content: [], status: "in_progress" };
  }
}

function responseEvents(whole: JsonObject): readonly JsonObject[] {
  const events: JsonObject[] = [
    {
      type: "response.created",
      response: { ...whole, status: "in_progress", output: [] },
    },
    ...list(whole["output"]).flatMap((item, output_index) => [
      {
        type: "response.output_item.added",
        output_index,
        item: beginning(item),
      },
      ...insideItem(item, output_index),
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: whole },
  ];
  return events.map((event, n) => ({ ...event, sequence_number: n }));
}

function converseFrames(whole: JsonObject): readonly Uint8Array[] {
  const frame = (type: string, data: JsonObject): Uint8Array =>
    awsFrame({
      ":event-type": type,
      ":content-type": "application/json",
      ":message-type": "event",
    }, JSON.stringify(data));
  const { message } = objectOr(whole["output"]);
  return [
    frame("messageStart", { role: "assistant" }),
    ...list(objectOr(message)["content"]).flatMap((block, at) => {
      const index = { contentBlockIndex: at };
      const delta = (one: JsonObject): Uint8Array =>
        frame("contentBlockDelta", { ...index, delta: one });
      const stop = frame("contentBlockStop", index);
      if (block["text"] !== undefined) {
        return [delta({ text: block["text"] }), stop];
      }
      if (block["toolUse"] === undefined) {
        const { reasoningText } = objectOr(block["reasoningContent"]);
        const { text, signature } = objectOr(reasoningText);
        return [
          delta({ reasoningContent: { text } }),
          delta({ reasoningContent: { signature } }),
          stop,
        ];
      }
      const { input, ...start } = objectOr(block["toolUse"]);
      return [
        frame("contentBlockStart", { ...index, start: { toolUse: start } }),
        delta({ toolUse: { input: JSON.stringify(input) } }),
        stop,
      ];
    }),
    frame("messageStop", { stopReason: whole["stopReason"] }),
    frame("metadata", { usage: whole["usage"] }),
  ];
}

const STREAMS: Readonly<Record<ReplyFormat, (whole: JsonObject) => Response>> =
  {
    messages: (whole) => eventStream(messageEvents(whole)),
    invoke: (whole) =>
      binary(
        messageEvents(whole).map((event) => chunkFrame(JSON.stringify(event))),
      ),
    chat: (whole) => eventStream(chatFrames(whole), "data: [DONE]\n\n"),
    generate: (whole) => eventStream([whole]),
    responses: (whole) => eventStream(responseEvents(whole)),
    converse: (whole) => binary(converseFrames(whole)),
  };
