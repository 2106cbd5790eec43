/**
 * Encodes a reply as api.anthropic.com does: named events, padded JSON, a ping after the first
 * block's start.
 */
import {
  type EncodableReply,
  fragments,
  type NeutralBlock,
  type NeutralReply,
  spacedJson,
} from "./neutral_reply.ts";
import { letters, type SeededRandom, seededRandom } from "./seeded.ts";

const STOP_REASONS: Readonly<Record<NeutralReply["stop"], string>> = {
  end: "end_turn",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  tool_use: "tool_use",
  refusal: "refusal",
  pause: "pause_turn",
  context_window: "model_context_window_exceeded",
  other: "some_new_reason",
};

const PING = 'event: ping\ndata: {"type": "ping"}\n\n';

interface MessagesEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Frames of a streamed reply. */
export function encodeMessagesFrames(
  { reply, model, seed }: EncodableReply,
): string[] {
  const seeded = seededRandom(seed);
  const frames: string[] = [];
  const send = (event: MessagesEvent): void => {
    frames.push(frame(event, seeded));
  };
  send({
    type: "message_start",
    message: { ...envelope(model, seeded), ...startUsage(reply) },
  });
  if (reply.blocks.length === 0) frames.push(PING);
  reply.blocks.forEach((block, index) => {
    send({
      type: "content_block_start",
      index,
      content_block: opening(block, seeded),
    });
    if (index === 0) frames.push(PING);
    for (const delta of deltas(block)) {
      send({ type: "content_block_delta", index, delta });
    }
    send({ type: "content_block_stop", index });
  });
  send({
    type: "message_delta",
    delta: {
      stop_reason: STOP_REASONS[reply.stop],
      stop_sequence: reply.stopSequence,
      stop_details: null,
      container: null,
    },
    usage: {
      ...inputUsage(reply),
      output_tokens: reply.usage.output,
      ...endUsage(reply),
    },
  });
  send({ type: "message_stop" });
  return frames;
}

export function encodeMessagesBody(
  { reply, model, seed }: EncodableReply,
): string {
  const seeded = seededRandom(seed);
  const start = envelope(model, seeded);
  return JSON.stringify({
    ...start,
    content: reply.blocks.map((block) => closed(block, seeded)),
    stop_reason: STOP_REASONS[reply.stop],
    stop_sequence: reply.stopSequence,
    usage: {
      ...inputUsage(reply),
      cache_creation: cacheCreation(reply),
      output_tokens: reply.usage.output,
      ...endUsage(reply),
      ...SERVED,
    },
  });
}

/** One frame. Like the vendor, it has 0 to 15 spaces before the last brace. */
function frame(
  event: MessagesEvent,
  seeded: SeededRandom,
): string {
  const padding = " ".repeat(seeded(16));
  return `event: ${event.type}\ndata: ${
    JSON.stringify(event).slice(0, -1)
  }${padding}}\n\n`;
}

function envelope(model: string, seeded: SeededRandom): object {
  return {
    model,
    id: `msg_01${letters(seeded, 22)}`,
    type: "message",
    role: "assistant",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
  };
}

/** How a reply was served. */
const SERVED = {
  service_tier: "standard",
  inference_geo: "not_available",
  speed: null,
};

function startUsage(reply: NeutralReply): object {
  return {
    usage: {
      ...inputUsage(reply),
      cache_creation: cacheCreation(reply),
      output_tokens: Math.min(1, reply.usage.output),
      output_tokens_details: null,
      server_tool_use: null,
      ...SERVED,
    },
  };
}

function inputUsage({ usage }: NeutralReply): object {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
  };
}

function cacheCreation({ usage }: NeutralReply): object {
  const { cacheWrite, cacheWrite1h = 0 } = usage;
  return {
    ephemeral_5m_input_tokens: cacheWrite - cacheWrite1h,
    ephemeral_1h_input_tokens: cacheWrite1h,
  };
}

function endUsage({ usage }: NeutralReply): object {
  return {
    output_tokens_details: usage.reasoning === 0
      ? null
      : { thinking_tokens: usage.reasoning },
    server_tool_use: null,
  };
}

function opening(block: NeutralBlock, seeded: SeededRandom): object {
  switch (block.kind) {
    case "text":
      return { type: "text", text: "", citations: null };
    case "thinking":
      return { type: "thinking", thinking: "", signature: "" };
    case "tool":
      return {
        ...toolHead(block.name, seeded),
        input: {},
        caller: { type: "direct" },
      };
  }
}

function closed(block: NeutralBlock, seeded: SeededRandom): object {
  switch (block.kind) {
    case "text":
      return { type: "text", text: block.pieces.join(""), citations: null };
    case "thinking":
      return {
        type: "thinking",
        thinking: block.pieces.join(""),
        signature: block.signature,
      };
    case "tool":
      return {
        ...toolHead(block.name, seeded),
        input: block.args,
        caller: { type: "direct" },
      };
  }
}

function toolHead(name: string, seeded: SeededRandom): object {
  return { type: "tool_use", id: `toolu_01${letters(seeded, 22)}`, name };
}

function deltas(block: NeutralBlock): object[] {
  switch (block.kind) {
    case "text":
      return block.pieces.map((text) => ({ type: "text_delta", text }));
    case "thinking":
      return [
        ...block.pieces.map((thinking) => ({
          type: "thinking_delta",
          thinking,
        })),
        { type: "signature_delta", signature: block.signature },
      ];
    case "tool": {
      // The first fragment is always empty; a tool without arguments has no other.
      const json = Object.keys(block.args).length === 0
        ? ""
        : spacedJson(block.args, ", ");
      return ["", ...fragments(json, 12)].map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      }));
    }
  }
}
