/** Encodes a reply as api.openai.com does on its Responses endpoint. */
import { compact } from "../compact.ts";
import {
  CREATED,
  type EncodableReply,
  fragments,
  type NeutralBlock,
  type NeutralReply,
} from "./neutral_reply.ts";
import type { JsonObject } from "../json.ts";
import { letters, type SeededRandom, seededRandom } from "./seeded.ts";

const INCOMPLETE: Readonly<Partial<Record<NeutralReply["stop"], string>>> = {
  max_tokens: "max_output_tokens",
  context_window: "max_output_tokens",
  refusal: "content_filter",
};

/** Length of the random part of an item's id. */
const ID_LETTERS = 48;

/** A block as an item: its kind of text, the pieces, and the item with a text in it. */
interface Item {
  /** The name of the events about its text, and the field of `….done`. */
  readonly event: string;
  readonly field: string;
  /** The events around its text, and the name of their index; a call has neither. */
  readonly part?: readonly [events: string, index: string];
  readonly pieces: readonly string[];
  readonly id: string;
  /** The item as it is added, and as it is done. */
  of(text: string, status: string): object;
  /** Its only part. */
  partOf(text: string): object;
}

function itemFor(block: NeutralBlock, seeded: SeededRandom): Item {
  const id = (prefix: string): string =>
    `${prefix}_${letters(seeded, ID_LETTERS)}`;
  switch (block.kind) {
    case "text": {
      const isText = block.refused !== true;
      const partOf = (text: string): object =>
        isText
          ? { type: "output_text", annotations: [], logprobs: [], text }
          : { type: "refusal", refusal: text };
      const own = id("msg");
      return {
        event: isText ? "output_text" : "refusal",
        field: isText ? "text" : "refusal",
        part: ["content_part", "content_index"],
        pieces: block.pieces,
        id: own,
        partOf,
        of: (text, status) => ({
          id: own,
          type: "message",
          status,
          content: text === "" ? [] : [partOf(text)],
          role: "assistant",
        }),
      };
    }
    case "thinking": {
      const partOf = (text: string): object => ({ type: "summary_text", text });
      const own = id("rs");
      return {
        event: "reasoning_summary_text",
        field: "text",
        part: ["reasoning_summary_part", "summary_index"],
        pieces: block.pieces,
        id: own,
        partOf,
        of: (text) => ({
          id: own,
          type: "reasoning",
          encrypted_content: block.signature,
          summary: text === "" ? [] : [partOf(text)],
        }),
      };
    }
    case "tool": {
      const { name, namespace, freeText = false } = block;
      const own = id(freeText ? "ctc" : "fc");
      const call_id = `call_${letters(seeded, 24)}`;
      const field = freeText ? "input" : "arguments";
      const text = freeText
        ? String(block.args["input"] ?? "")
        : JSON.stringify(block.args);
      return {
        event: freeText ? "custom_tool_call_input" : "function_call_arguments",
        field,
        pieces: fragments(text, 8),
        id: own,
        partOf: () => ({}),
        of: (text, status) => ({
          id: own,
          type: freeText ? "custom_tool_call" : "function_call",
          status,
          [field]: text,
          call_id,
          name,
          ...compact({ namespace }),
        }),
      };
    }
  }
}

/** Frames of a streamed reply. */
export function encodeResponsesFrames(
  { reply, model, seed, asked = {} }: EncodableReply,
): string[] {
  const seeded = seededRandom(seed);
  const config = configOf(model, seeded, asked);
  const frames: string[] = [];
  const send = (type: string, fields: object): void => {
    const data = { type, ...fields, sequence_number: frames.length };
    frames.push(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  send("response.created", { response: config });
  send("response.in_progress", { response: config });
  const output: object[] = [];
  for (const block of reply.blocks) {
    const item = itemFor(block, seeded);
    const output_index = output.length;
    const { event, field, part, id, pieces } = item;
    const about = (name: string, fields: object): void =>
      send(`response.${name}`, {
        item_id: id,
        output_index,
        ...(part === undefined ? {} : { [part[1]]: 0 }),
        ...fields,
      });
    const text = pieces.join("");
    const more = event === "output_text" ? { logprobs: [] } : {};
    send("response.output_item.added", {
      output_index,
      item: item.of("", "in_progress"),
    });
    if (part !== undefined) {
      about(`${part[0]}.added`, { part: item.partOf("") });
    }
    for (const delta of pieces) {
      const obfuscation = letters(seeded, seeded(16));
      about(`${event}.delta`, { delta, ...more, obfuscation });
    }
    about(`${event}.done`, { [field]: text, ...more });
    if (part !== undefined) {
      about(`${part[0]}.done`, { part: item.partOf(text) });
    }
    const done = item.of(text, statusOf(reply, block));
    send("response.output_item.done", { output_index, item: done });
    output.push(done);
  }
  const whole = endOf(config, reply, output);
  send(`response.${whole.status}`, { response: whole });
  return frames;
}

export function encodeResponsesBody(
  { reply, model, seed, asked = {} }: EncodableReply,
): string {
  const seeded = seededRandom(seed);
  const config = configOf(model, seeded, asked);
  const output = reply.blocks.map((block) => {
    const item = itemFor(block, seeded);
    return item.of(item.pieces.join(""), statusOf(reply, block));
  });
  return JSON.stringify(endOf(config, reply, output));
}

/** Settings that a reply repeats, with their defaults. */
const SETTINGS = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  temperature: 1,
  text: { format: { type: "text" }, verbosity: "medium" },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
  metadata: {},
  presence_penalty: 0,
  frequency_penalty: 0,
};

/** The last item of a reply that was cut is incomplete. */
function statusOf(reply: NeutralReply, block: NeutralBlock): string {
  return block === reply.blocks.at(-1) && reasonOf(reply) !== undefined
    ? "incomplete"
    : "completed";
}

/** Why a reply is incomplete; undefined when it is not. */
function reasonOf({ blocks, stop }: NeutralReply): string | undefined {
  const isRefused = blocks.some((block) =>
    block.kind === "text" && block.refused === true
  );
  return isRefused ? undefined : INCOMPLETE[stop];
}

function configOf(
  model: string,
  seeded: SeededRandom,
  asked: JsonObject,
): object {
  return {
    ...SETTINGS,
    ...Object.fromEntries(
      [...Object.keys(SETTINGS), "user"].filter((name) =>
        (asked[name] ?? null) !== null
      )
        .map((name) => [name, asked[name]]),
    ),
    id: `resp_${letters(seeded, ID_LETTERS)}`,
    object: "response",
    created_at: CREATED,
    status: "in_progress",
    access_programs: null,
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    model,
    output: [],
    previous_response_id: null,
    service_tier: "default",
    store: false,
    usage: null,
  };
}

function endOf(
  config: object,
  reply: NeutralReply,
  output: readonly object[],
): { readonly status: string; readonly [name: string]: unknown } {
  const { usage } = reply;
  const reason = reasonOf(reply);
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    ...config,
    status: reason === undefined ? "completed" : "incomplete",
    ...(reason === undefined
      ? { completed_at: CREATED + 1 }
      : { incomplete_details: { reason } }),
    output,
    usage: {
      input_tokens: input,
      input_tokens_details: {
        cached_tokens: usage.cacheRead,
        cache_write_tokens: usage.cacheWrite,
      },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: input + usage.output,
    },
  };
}
