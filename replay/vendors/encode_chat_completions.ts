/**
 * Encodes a reply as api.openai.com does. Reasoning is left out: that host never sends its text.
 */
import {
  CREATED,
  type EncodableReply,
  fragments,
  type NeutralReply,
} from "./neutral_reply.ts";
import { letters, type SeededRandom, seededRandom } from "./seeded.ts";

const FINISH_REASONS: Readonly<Record<NeutralReply["stop"], string>> = {
  end: "stop",
  max_tokens: "length",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  refusal: "content_filter",
  pause: "stop",
  context_window: "length",
  other: "some_new_reason",
};

/** Frames of a streamed reply, `[DONE]` included. */
export function encodeChatFrames(
  { reply, model, usageAsked, seed }: EncodableReply,
): string[] {
  const seeded = seededRandom(seed);
  const start = head("chat.completion.chunk", model, seeded);
  const frames: string[] = [];
  const send = (choices: readonly object[], usage: object | null): void => {
    const usageField = usageAsked ? { usage } : {};
    const chunk = {
      ...start,
      choices,
      ...usageField,
      obfuscation: letters(seeded, seeded(16)),
    };
    frames.push(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const delta = (fields: object, finish_reason: string | null = null): void => {
    send([{ index: 0, delta: fields, logprobs: null, finish_reason }], null);
  };
  for (const fields of deltas(reply, seeded)) delta(fields);
  delta({}, FINISH_REASONS[reply.stop]);
  if (usageAsked) send([], chatUsage(reply));
  frames.push("data: [DONE]\n\n");
  return frames;
}

export function encodeChatBody({ reply, model, seed }: EncodableReply): string {
  const seeded = seededRandom(seed);
  const start = head("chat.completion", model, seeded);
  const texts = reply.blocks.flatMap((block) =>
    block.kind === "text" ? block.pieces : []
  );
  const calls = toolStarts(reply, seeded).map(({ start, json }) => ({
    id: start.id,
    type: "function",
    function: { name: start.function.name, arguments: json },
  }));
  const { service_tier, system_fingerprint, ...first } = start;
  return JSON.stringify({
    ...first,
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: calls.length > 0 && texts.length === 0 ? null : texts.join(""),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
        refusal: null,
        annotations: [],
      },
      logprobs: null,
      finish_reason: FINISH_REASONS[reply.stop],
    }],
    usage: chatUsage(reply),
    service_tier,
    system_fingerprint,
  });
}

interface ChatHead {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly service_tier: string;
  readonly system_fingerprint: string;
}

function head(object: string, model: string, seeded: SeededRandom): ChatHead {
  const id = `chatcmpl-${letters(seeded, 29)}`;
  return {
    id,
    object,
    created: CREATED,
    model,
    service_tier: "default",
    system_fingerprint: "fp_replay",
  };
}

function chatUsage({ usage }: NeutralReply): object {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      audio_tokens: 0,
      ...(usage.cacheWrite === 0
        ? {}
        : { cache_write_tokens: usage.cacheWrite }),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

interface ToolStart {
  readonly index: number;
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: "" };
}

function toolStarts(
  reply: NeutralReply,
  seeded: SeededRandom,
): { readonly start: ToolStart; readonly json: string }[] {
  return reply.blocks.filter((block) => block.kind === "tool").map((
    { name, args },
    index,
  ) => ({
    start: {
      index,
      id: `call_${letters(seeded, 24)}`,
      type: "function",
      function: { name, arguments: "" },
    },
    json: JSON.stringify(args),
  }));
}

function deltas(reply: NeutralReply, seeded: SeededRandom): object[] {
  const texts = reply.blocks.flatMap((block) =>
    block.kind === "text" ? block.pieces : []
  );
  const tools = toolStarts(reply, seeded);
  const [only] = tools;
  const sent: object[] = [];
  if (texts.length > 0 || tools.length === 0) {
    sent.push(
      { role: "assistant", content: "", refusal: null },
      ...texts.map((content) => ({ content })),
    );
  } else if (tools.length === 1 && only !== undefined) {
    sent.push({
      role: "assistant",
      content: null,
      tool_calls: [only.start],
      refusal: null,
    });
  } else {
    sent.push({ role: "assistant", content: null });
  }
  const startShared = texts.length === 0 && tools.length === 1;
  for (const { start, json } of tools) {
    if (!startShared) sent.push({ tool_calls: [start] });
    for (const piece of fragments(json, 8)) {
      sent.push({
        tool_calls: [{ index: start.index, function: { arguments: piece } }],
      });
    }
  }
  return sent;
}
