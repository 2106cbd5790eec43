/** Puts a reply on the wire as api.anthropic.com does: named events, padded JSON, a ping after the first block opened. */
import {
  fragments,
  type Said,
  type SaidBlock,
  spacedJson,
  type Speech,
} from "./said.ts";
import { letters, type Seeded, seededBy } from "./seeded.ts";

const STOP_REASONS: Readonly<Record<Said["stop"], string>> = {
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

/** The frames of a streamed reply. */
export function messagesFrames({ said, model, seed }: Speech): string[] {
  const seeded = seededBy(seed);
  const frames: string[] = [];
  const send = (event: MessagesEvent): void => {
    frames.push(frame(event, seeded));
  };
  send({
    type: "message_start",
    message: { ...envelope(model, seeded), ...startUsage(said) },
  });
  if (said.blocks.length === 0) frames.push(PING);
  said.blocks.forEach((block, index) => {
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
      stop_reason: STOP_REASONS[said.stop],
      stop_sequence: said.stopSequence,
      stop_details: null,
    },
    usage: {
      ...inputUsage(said),
      output_tokens: said.usage.output,
      ...thinkingUsage(said),
    },
  });
  send({ type: "message_stop" });
  return frames;
}

/** The body of a whole reply. */
export function messagesWhole({ said, model, seed }: Speech): string {
  const seeded = seededBy(seed);
  const start = envelope(model, seeded);
  return JSON.stringify({
    ...start,
    content: said.blocks.map((block) => closed(block, seeded)),
    stop_reason: STOP_REASONS[said.stop],
    stop_sequence: said.stopSequence,
    usage: {
      ...inputUsage(said),
      cache_creation: cacheCreation(said),
      output_tokens: said.usage.output,
      service_tier: "standard",
      inference_geo: "not_available",
      ...thinkingUsage(said),
    },
  });
}

/** One frame; 0 to 15 blanks stand before the last brace, as many as the vendor likes. */
function frame(
  event: MessagesEvent,
  seeded: Seeded,
): string {
  const padding = " ".repeat(seeded(16));
  return `event: ${event.type}\ndata: ${
    JSON.stringify(event).slice(0, -1)
  }${padding}}\n\n`;
}

function envelope(model: string, seeded: Seeded): object {
  return {
    model,
    id: `msg_01${letters(seeded, 22)}`,
    type: "message",
    role: "assistant",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
  };
}

function startUsage(said: Said): object {
  return {
    usage: {
      ...inputUsage(said),
      cache_creation: cacheCreation(said),
      output_tokens: Math.min(1, said.usage.output),
      service_tier: "standard",
      inference_geo: "not_available",
    },
  };
}

function inputUsage({ usage }: Said): object {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
  };
}

function cacheCreation({ usage }: Said): object {
  return {
    ephemeral_5m_input_tokens: usage.cacheWrite,
    ephemeral_1h_input_tokens: 0,
  };
}

function thinkingUsage({ usage }: Said): object {
  return usage.reasoning === 0
    ? {}
    : { output_tokens_details: { thinking_tokens: usage.reasoning } };
}

function opening(block: SaidBlock, seeded: Seeded): object {
  switch (block.kind) {
    case "text":
      return { type: "text", text: "" };
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

function closed(block: SaidBlock, seeded: Seeded): object {
  switch (block.kind) {
    case "text":
      return { type: "text", text: block.pieces.join("") };
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

function toolHead(name: string, seeded: Seeded): object {
  return { type: "tool_use", id: `toolu_01${letters(seeded, 22)}`, name };
}

function deltas(block: SaidBlock): object[] {
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
      // The first fragment is always empty, and the only one of a tool without arguments.
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
