/**
 * The state of one item of an upstream's reply while `item_reader.ts` reads it, and the tables
 * that map stream events to the parts of an item.
 */
import { upstreamJson } from "../../bytes/exact_json.ts";
import type { TextBuffer } from "../../bytes/text_buffer.ts";
import {
  countIn,
  isObject,
  type JsonObject,
  stringIn,
} from "../../bytes/json.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import { type FreeTextWriter, freeTextWriter } from "../../turns/free_text.ts";

/**
 * The kinds of item that are read differently. A "free call" is a call whose input is free text.
 */
export type ItemKind = "message" | "reasoning" | "call" | "free call" | "other";

/** The kind for each wire type; any other type is `other`. */
const ITEM_KINDS: ReadonlyMap<string, ItemKind> = new Map([
  ["message", "message"],
  ["reasoning", "reasoning"],
  ["function_call", "call"],
  ["custom_tool_call", "free call"],
]);

export function kindOf(item: JsonObject): ItemKind {
  return ITEM_KINDS.get(stringIn(item["type"]) ?? "") ?? "other";
}

/** The state of an item that is being read. */
export interface ItemState {
  /** Determined by the first frame about the item. */
  readonly kind: ItemKind;
  /** The `phase` of a message. */
  phase: string | undefined;
  /** Events that wait until the preceding items are closed. */
  readonly waiting: ReplyEvent[];
  /** Whether one of its blocks is open. */
  open: boolean;
  /**
   * Key of the part that the open block holds. Each part of a message is a block; all parts of
   * reasoning share one.
   */
  part: string;
  /** The text read so far for each part, by part key. */
  readonly parts: Map<string, TextBuffer>;
  /** How many sources were read of each part, by part key. */
  readonly cited: Map<string, number>;
  /** How many probabilities of tokens were read of each part, by part key. */
  readonly weighed: Map<string, number>;
  /** The text of the part that was read last. */
  lastPart: TextBuffer | undefined;
  /**
   * Which parts of a reasoning item are used: summaries or the reasoning itself, whichever
   * arrives first.
   */
  source: "summary" | "content" | undefined;
  /** Name of the called tool; undefined until a frame contains it. */
  name: string | undefined;
  /** The group of the called tool. */
  namespace: string | undefined;
  /** The id that pairs the call with its output. */
  callId: string | undefined;
  /** The signature in its first frame; the last frame may have another one. */
  signature: string | undefined;
  /** Wraps the input of a free-text call as arguments. */
  readonly freeText: FreeTextWriter | undefined;
  /** Whether its `done` event was read. */
  done: boolean;
  /** Whether it emits no further events. */
  closed: boolean;
}

/** Delta events, by type without `response.`: the kind of item and the part that they extend. */
export const DELTAS: ReadonlyMap<string, readonly [ItemKind, string]> = new Map(
  [
    ["output_text.delta", ["message", "text"]],
    ["refusal.delta", ["message", "refusal"]],
    ["reasoning_summary_text.delta", ["reasoning", "summary"]],
    ["reasoning_text.delta", ["reasoning", "content"]],
    ["reasoning.delta", ["reasoning", "content"]],
    ["function_call_arguments.delta", ["call", "arguments"]],
    ["custom_tool_call_input.delta", ["free call", "input"]],
  ],
);

/**
 * Events with the complete text of a part, by type without `response.`: the kind of item, the
 * part, and the field with the text.
 */
export const DONES: ReadonlyMap<string, readonly [ItemKind, string, string]> =
  new Map(
    [
      ["output_text.done", ["message", "text", "text"]],
      ["refusal.done", ["message", "refusal", "refusal"]],
      ["reasoning_summary_text.done", ["reasoning", "summary", "text"]],
      ["reasoning_text.done", ["reasoning", "content", "text"]],
      ["reasoning.done", ["reasoning", "content", "text"]],
      ["function_call_arguments.done", ["call", "arguments", "arguments"]],
      ["custom_tool_call_input.done", ["free call", "input", "input"]],
    ],
  );

/** The state of an item that has just begun. */
export function newItemState(kind: ItemKind): ItemState {
  return {
    kind,
    phase: undefined,
    waiting: [],
    open: false,
    part: "",
    parts: new Map(),
    cited: new Map(),
    weighed: new Map(),
    lastPart: undefined,
    source: undefined,
    name: undefined,
    namespace: undefined,
    callId: undefined,
    signature: undefined,
    freeText: kind === "free call" ? freeTextWriter() : undefined,
    done: false,
    closed: false,
  };
}

/** Whether the item is a call of either kind. */
export function isCall(item: ItemState): boolean {
  return item.kind === "call" || item.kind === "free call";
}

/** The key of a part within its item. */
export function partKey(part: string, index: number): string {
  return `${part}:${index}`;
}

/** The key of the part that a frame is about. */
export function keyOf(part: string, data: JsonObject): string {
  const index = part === "summary"
    ? data["summary_index"]
    : part === "arguments" || part === "input"
    ? 0
    : data["content_index"];
  return partKey(part, countIn(index) ?? 0);
}

/**
 * The arguments of a call as JSON text. Some vendors send an object instead.
 *
 * @throws {ApiError} `upstream` for an object that is nested too deeply to serialize
 */
export function argumentsOf(item: JsonObject): string {
  const value = item["arguments"];
  return isObject(value) ? upstreamJson(value) : stringIn(value) ?? "";
}
