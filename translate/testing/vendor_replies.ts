/**
 * What a vendor of each family answers, whole and in frames: thoughts, text and calls with the
 * proofs that the family attaches to them. Only the members that readers of replies need.
 */
import type { JsonObject } from "../bytes/json.ts";
import type { ClientFormat } from "../mod.ts";

/** The content of one reply. */
export interface ModelTurn {
  readonly family: ClientFormat;
  readonly thought: string;
  readonly text: string;
  /** Ids of the calls of `look`; the argument is the id as well. Empty in an answer. */
  readonly calls: readonly string[];
  /** The value that its vendor wants back; empty for a chat host that seals nothing. */
  readonly proof: string;
}

/** A vendor's reply in both forms. */
interface VendorReply {
  readonly whole: JsonObject;
  readonly frames: readonly JsonObject[];
}

/** The argument of a call. */
export const inputOf = (id: string): JsonObject => ({ n: id });

/** A text in two deltas. */
const halves = (text: string): readonly [string, string] => [
  text.slice(0, 2),
  text.slice(2),
];

function fromMessages({ thought, text, calls, proof }: ModelTurn): VendorReply {
  const stop = calls.length > 0 ? "tool_use" : "end_turn";
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    usage: {},
  };
  const thinking = { type: "thinking", thinking: thought, signature: proof };
  const content = [
    thinking,
    { type: "text", text },
    ...calls.map((id) => ({
      type: "tool_use",
      id,
      name: "look",
      input: inputOf(id),
    })),
  ];
  const delta = (index: number, delta: JsonObject): JsonObject => ({
    type: "content_block_delta",
    index,
    delta,
  });
  const deltas = (block: typeof content[number], at: number): JsonObject[] => {
    if ("thinking" in block) {
      return [
        ...halves(thought).map((thinking) =>
          delta(at, { type: "thinking_delta", thinking })
        ),
        delta(at, { type: "signature_delta", signature: proof }),
      ];
    }
    return "text" in block
      ? halves(text).map((text) => delta(at, { type: "text_delta", text }))
      : [delta(at, {
        type: "input_json_delta",
        partial_json: JSON.stringify(block.input),
      })];
  };
  const begun = { thinking: "", signature: "", text: "", input: {} };
  return {
    whole: { ...message, content, stop_reason: stop },
    frames: [
      { type: "message_start", message: { ...message, content: [] } },
      ...content.flatMap((block, index) => [
        {
          type: "content_block_start",
          index,
          content_block: Object.fromEntries(
            Object.entries({ ...block, ...begun }).filter(([key]) =>
              key in block
            ),
          ),
        },
        ...deltas(block, index),
        { type: "content_block_stop", index },
      ]),
      { type: "message_delta", delta: { stop_reason: stop }, usage: {} },
      { type: "message_stop" },
    ],
  };
}

/** A host that seals its reasoning as OpenRouter does, or has it as plain text as DeepSeek does. */
function fromChat({ thought, text, calls, proof }: ModelTurn): VendorReply {
  const about = { format: "xai-responses-v1", index: 0 };
  const summary = (summary: string) => ({
    type: "reasoning.summary",
    summary,
    ...about,
  });
  const seal = { type: "reasoning.encrypted", data: proof, ...about };
  const isSealed = proof !== "";
  const thinking = (text: string, ...more: JsonObject[]): JsonObject =>
    isSealed
      ? { reasoning_details: [summary(text), ...more] }
      : { reasoning_content: text };
  const tool_calls = calls.map((id, index) => ({
    index,
    id,
    type: "function",
    function: { name: "look", arguments: JSON.stringify(inputOf(id)) },
  }));
  const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
  const frame = (delta: JsonObject, finish: string | null = null) => ({
    id: "c1",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  return {
    whole: {
      id: "c1",
      choices: [{
        index: 0,
        message: {
          role: "assistant",
          content: text,
          ...thinking(thought, seal),
          ...(calls.length > 0 ? { tool_calls } : {}),
        },
        finish_reason,
      }],
    },
    frames: [
      ...halves(thought).map((half) => frame(thinking(half))),
      ...(isSealed ? [frame({ reasoning_details: [seal] })] : []),
      ...halves(text).map((content) => frame({ content })),
      ...tool_calls.map((call) => frame({ tool_calls: [call] })),
      frame({}, finish_reason),
    ],
  };
}

function fromResponses(
  { thought, text, calls, proof }: ModelTurn,
): VendorReply {
  const output = [
    {
      id: `rs_${proof}`,
      type: "reasoning",
      summary: [{ type: "summary_text", text: thought }],
      encrypted_content: proof,
    },
    {
      id: `msg_${proof}`,
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    },
    ...calls.map((id) => ({
      id: `fc_${id}`,
      type: "function_call",
      status: "completed",
      call_id: id,
      name: "look",
      arguments: JSON.stringify(inputOf(id)),
    })),
  ];
  const response = { id: "resp_1", object: "response", status: "completed" };
  const place = { output_index: 0, item_id: `rs_${proof}` };
  const parts: readonly (readonly JsonObject[])[] = [
    halves(thought).map((delta) => ({
      ...place,
      type: "response.reasoning_summary_text.delta",
      summary_index: 0,
      delta,
    })),
    halves(text).map((delta) => ({
      output_index: 1,
      item_id: `msg_${proof}`,
      type: "response.output_text.delta",
      content_index: 0,
      delta,
    })),
  ];
  return {
    whole: { ...response, output },
    frames: [
      { type: "response.created", response: { ...response, output: [] } },
      ...output.flatMap((item, output_index) => [
        {
          type: "response.output_item.added",
          output_index,
          item: {
            ...item,
            ...("summary" in item ? { summary: [] } : {}),
            ...("content" in item ? { content: [] } : {}),
            ...("arguments" in item ? { arguments: "" } : {}),
          },
        },
        ...parts[output_index] ?? [],
        { type: "response.output_item.done", output_index, item },
      ]),
      { type: "response.completed", response: { ...response, output } },
    ],
  };
}

function fromGemini({ thought, text, calls, proof }: ModelTurn): VendorReply {
  const finish = { finishReason: "STOP" };
  const signed = { thoughtSignature: proof };
  const called = calls.map((id, at) => ({
    functionCall: { id, name: "look", args: inputOf(id) },
    ...(at === 0 ? signed : {}),
  }));
  const reply = (parts: readonly JsonObject[], more: JsonObject = {}) => ({
    responseId: "g1",
    candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
  });
  return {
    whole: reply([
      { text: thought, thought: true },
      { text, ...(calls.length === 0 ? signed : {}) },
      ...called,
    ], finish),
    frames: [
      ...halves(thought).map((text) => reply([{ text, thought: true }])),
      ...halves(text).map((text) => reply([{ text }])),
      ...called.map((part) => reply([part])),
      reply([{ text: "", ...(calls.length === 0 ? signed : {}) }], finish),
    ],
  };
}

/** The reply of each family's vendor. */
export const VENDOR_REPLIES: Readonly<
  Record<ClientFormat, (turns: ModelTurn) => VendorReply>
> = {
  messages: fromMessages,
  chat_completions: fromChat,
  responses: fromResponses,
  generate_content: fromGemini,
};
