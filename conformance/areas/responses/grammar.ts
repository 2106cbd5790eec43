/** The order of a stream's frames, as a machine that reports every broken rule. */
import type { Frame } from "../../evidence/exchange.ts";
import {
  at,
  listAt,
  numberAt,
  sameJson,
  textAt,
} from "../../evidence/json_path.ts";
import { isObject, type Json } from "@model-gateway/replay/json";
import { typeOf } from "../../endpoints/read_responses.ts";

interface GrammarFault {
  readonly rule: GrammarRule;
  readonly frame: Frame | undefined;
  readonly expected: string;
}

export type GrammarRule =
  | "start"
  | "end"
  | "event"
  | "sequence"
  | "known"
  | "order"
  | "overlap"
  | "index"
  | "id"
  | "text"
  | "delta"
  | "output"
  | "kept";

/** The event names about one kind of text, and where the text belongs. */
interface TextKind {
  readonly item: string;
  /** The field of `….done`, of the part, or of the item with the whole text. */
  readonly field: string;
  /** The events around it, and the name of its index; a call has neither. */
  readonly part?: "content_part" | "reasoning_summary_part";
}

const TEXTS: Readonly<Record<string, TextKind>> = {
  output_text: { item: "message", field: "text", part: "content_part" },
  refusal: { item: "message", field: "refusal", part: "content_part" },
  reasoning_text: { item: "reasoning", field: "text", part: "content_part" },
  reasoning_summary_text: {
    item: "reasoning",
    field: "text",
    part: "reasoning_summary_part",
  },
  function_call_arguments: { item: "function_call", field: "arguments" },
  custom_tool_call_input: { item: "custom_tool_call", field: "input" },
};

/** The members of an item that are known when it is added. */
const STAYS = ["type", "role", "name", "namespace", "call_id"];

/** The lists of an item that are empty when it is added. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  message: ["content"],
  reasoning: ["summary"],
};

/** The kind of text in a part, by the part's type. */
const KIND_OF_PART: Readonly<Record<string, string>> = {
  output_text: "output_text",
  refusal: "refusal",
  reasoning_text: "reasoning_text",
  summary_text: "reasoning_summary_text",
};

const TERMINALS: readonly string[] = [
  "response.completed",
  "response.incomplete",
  "response.failed",
];

/**
 * Event names that libraries know, except those about texts, and the event names of tools that a
 * vendor runs.
 */
const KNOWN =
  /^(error|keepalive|response\.(created|in_progress|queued|completed|incomplete|failed|output_item\.(added|done)|(content|reasoning_summary)_part\.(added|done)|output_text\.annotation\.added|(mcp|[a-z_]+_call|audio)[a-z_]*\..+))$/;

interface OpenItem {
  readonly id: string;
  readonly type: string;
  readonly added: Json | undefined;
  readonly parts: string[];
  /** The kind of text that is open, and the text so far. */
  kind?: string;
  text: string;
  /** Whether `….done` has given the open text. */
  isWhole: boolean;
  isDone: boolean;
}

export function faultsIn(all: readonly Frame[]): readonly GrammarFault[] {
  const faults: GrammarFault[] = [];
  const frames = all.at(-1)?.data === "[DONE]" ? all.slice(0, -1) : all;
  const expect = (
    holds: boolean,
    rule: GrammarRule,
    frame: Frame | undefined,
    expected: string,
  ): boolean => {
    if (!holds) faults.push({ rule, frame, expected });
    return holds;
  };
  const items: OpenItem[] = [];
  const done: Json[] = [];
  judgeEnds(frames, expect);
  for (const [number, frame] of frames.entries()) {
    const type = typeOf(frame);
    expect(frame.event === type, "event", frame, `event: ${type}`);
    const sequence = numberAt(frame.json, "sequence_number");
    expect(sequence === number, "sequence", frame, `number ${number}`);
    const [, kind = "", step] = /^response\.(\w+)\.(delta|done)$/.exec(type) ??
      [];
    const text = TEXTS[kind];
    expect(
      KNOWN.test(type) || text !== undefined,
      "known",
      frame,
      "a type that the format has",
    );
    if (type === "response.output_item.added") added(frame);
    else if (type === "response.output_item.done") finished(frame);
    else if (text !== undefined) texted(frame, kind, text, step === "done");
    else if (/_part\.(added|done)$/.test(type)) parted(frame, type);
  }
  const last = frames.findLast((frame) => TERMINALS.includes(typeOf(frame)));
  if (last !== undefined && typeOf(last) !== "response.failed") {
    expect(
      items.every(({ isDone }) => isDone),
      "order",
      last,
      "every item done before the end",
    );
    expect(
      sameJson(
        listAt(last.json, "response.output").map(withoutSeal),
        done.map(withoutSeal),
      ),
      "output",
      last,
      "the items of response.output_item.done",
    );
  }
  return faults;

  function added(frame: Frame): void {
    const item = at(frame.json, "item");
    const index = numberAt(frame.json, "output_index");
    expect(index === items.length, "index", frame, `index ${items.length}`);
    expect(
      items.every(({ isDone }) => isDone),
      "overlap",
      frame,
      "the item before it is done",
    );
    const type = textAt(item, "type");
    const isCall = /^(function|custom_tool)_call$/.test(type);
    expect(
      !isCall ||
        (textAt(item, "name") !== "" && textAt(item, "call_id") !== ""),
      "order",
      frame,
      "a call with its name and call_id",
    );
    const begins = Object.values(TEXTS).filter((text) =>
      text.part === undefined && text.item === type
    ).every(({ field }) => at(item, field) === "");
    const lists = LISTS[type] ?? [];
    expect(
      begins && lists.every((name) => sameJson(at(item, name), [])),
      "kept",
      frame,
      "an item whose texts and lists are empty",
    );
    items.push({
      id: textAt(item, "id"),
      type,
      added: item,
      parts: [],
      text: "",
      isWhole: false,
      isDone: false,
    });
  }

  /** The open item that a frame is about. */
  function itemAt(frame: Frame): OpenItem | undefined {
    const item = items[numberAt(frame.json, "output_index") ?? -1];
    const id = at(frame.json, "item_id") ?? at(frame.json, "item.id");
    if (item !== undefined) {
      expect(item.id === id && id !== "", "id", frame, `the id ${item.id}`);
    }
    return expect(item?.isDone === false, "order", frame, "an open item")
      ? item
      : undefined;
  }

  function parted(frame: Frame, type: string): void {
    const item = itemAt(frame);
    if (item === undefined) return;
    const part = at(frame.json, "part");
    const kind = KIND_OF_PART[textAt(part, "type")] ?? "";
    const text = TEXTS[kind];
    if (text === undefined) return;
    if (type.endsWith(".added")) {
      expect(item.kind === undefined, "order", frame, "no open part");
      expect(text.item === item.type, "order", frame, `part of ${text.item}`);
      judgeIndex(frame, item, text);
      expect(at(part, text.field) === "", "kept", frame, "an empty text");
      item.kind = kind;
      item.text = "";
      item.isWhole = false;
      return;
    }
    expect(
      item.kind === kind && item.isWhole,
      "order",
      frame,
      "after its text",
    );
    judgeIndex(frame, item, text);
    expect(textAt(part, text.field) === item.text, "text", frame, item.text);
    item.parts.push(item.text);
    delete item.kind;
  }

  function texted(
    frame: Frame,
    kind: string,
    text: TextKind,
    isWhole: boolean,
  ): void {
    const item = itemAt(frame);
    if (item === undefined) return;
    const isOpen = text.part === undefined
      ? item.type === text.item
      : item.kind === kind;
    expect(isOpen && !item.isWhole, "order", frame, "in its open part");
    judgeIndex(frame, item, text);
    if (isWhole) {
      const whole = textAt(frame.json, text.field);
      expect(whole === item.text, "text", frame, item.text);
      item.isWhole = true;
      return;
    }
    const delta = textAt(frame.json, "delta");
    expect(delta !== "", "delta", frame, "a text");
    item.text += delta;
  }

  function judgeIndex(frame: Frame, item: OpenItem, text: TextKind): void {
    if (text.part === undefined) return;
    const name = text.part === "content_part"
      ? "content_index"
      : "summary_index";
    expect(
      numberAt(frame.json, name) === item.parts.length,
      "index",
      frame,
      `${name} ${item.parts.length}`,
    );
  }

  function finished(frame: Frame): void {
    const item = itemAt(frame);
    if (item === undefined) return;
    item.isDone = true;
    const whole = at(frame.json, "item");
    for (const name of STAYS) {
      expect(
        sameJson(at(whole, name) ?? null, at(item.added, name) ?? null),
        "kept",
        frame,
        `${name} as when it was added`,
      );
    }
    const call = Object.values(TEXTS).find((text) =>
      text.item === item.type && text.part === undefined
    );
    expect(item.kind === undefined, "order", frame, "after its last part");
    if (call !== undefined) {
      expect(item.isWhole, "order", frame, "after its whole text");
      item.parts.push(item.text);
    }
    const texts = call === undefined
      ? [...listAt(whole, "summary"), ...listAt(whole, "content")].map((part) =>
        textAt(part, "text") || textAt(part, "refusal")
      )
      : [textAt(whole, call.field)];
    if (call !== undefined || ["message", "reasoning"].includes(item.type)) {
      expect(sameJson(texts, item.parts), "text", frame, item.parts.join());
    }
    if (whole !== undefined) done.push(whole);
  }
}

type Expect = (
  holds: boolean,
  rule: GrammarRule,
  frame: Frame | undefined,
  expected: string,
) => boolean;

function judgeEnds(frames: readonly Frame[], expect: Expect): void {
  const [first, second] = frames.filter((frame) =>
    typeOf(frame) !== "keepalive"
  );
  const isCreated = typeOf(frames[0] ?? NO_FRAME) === "response.created";
  expect(isCreated, "start", frames[0], "response.created");
  expect(
    ["response.in_progress", "response.queued"].includes(
      typeOf(second ?? NO_FRAME),
    ),
    "start",
    second,
    "response.in_progress or response.queued",
  );
  const reply = at(first?.json, "response");
  expect(
    ["in_progress", "queued"].includes(textAt(reply, "status")) &&
      sameJson(at(reply, "output"), []) && at(reply, "usage") === null,
    "start",
    first,
    "a reply in progress, with output [] and usage null",
  );
  const ends = frames.filter((frame) => TERMINALS.includes(typeOf(frame)));
  const [end] = ends;
  expect(
    ends.length === 1 && end === frames.at(-1),
    "end",
    frames.at(-1),
    "one of completed, incomplete and failed, as the last frame",
  );
  if (end === undefined) return;
  const status = typeOf(end).replace("response.", "");
  const whole = at(end.json, "response");
  expect(
    isObject(whole) && whole["status"] === status &&
      whole["id"] === at(reply, "id"),
    "end",
    end,
    `the whole reply with the status ${status} and the id of the first frame`,
  );
}

const NO_FRAME: Frame = {
  at: 0,
  atMs: 0,
  event: undefined,
  data: "",
  json: undefined,
};

/** An item without the value that changes from frame to frame. */
function withoutSeal(item: Json): Json {
  if (!isObject(item)) return item;
  const { encrypted_content: _, ...rest } = item;
  return rest;
}
