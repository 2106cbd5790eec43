/** Reads replies of the message endpoint and the content of the fixture that a label names. */
import { fixtureContent } from "../evidence/content.ts";
import { witnessFrames } from "../evidence/event_stream.ts";
import type { Exchange } from "../evidence/exchange.ts";
import { at, listAt, textAt } from "../evidence/json_path.ts";
import { WRITTEN } from "@model-gateway/replay/fixtures";
import type { ReadContent } from "@model-gateway/replay/content_of";
import {
  type Json,
  type JsonObject,
  parseJson,
} from "@model-gateway/replay/json";
import type { Evidence } from "../suite/evidence.ts";
import { streamedBlocks } from "./event_order.ts";

/** All labels in the records of a check. */
function labelsIn(e: Evidence, form: "whole" | "stream"): readonly string[] {
  const has = (test: (name: string) => boolean): boolean =>
    e.records.some(({ scenario }) => test(scenario));
  return [
    ...(has((name) => name === "text") ? [`messages/*/${form}`] : []),
    ...(has((name) => name.endsWith(`-${form}`))
      ? [`messages/*/${form}/*`]
      : []),
  ];
}

/** All whole replies of the message endpoint that a check reads. */
export function wholeReplies(e: Evidence): readonly Exchange[] {
  return labelsIn(e, "whole").flatMap((label) =>
    possible(e, label) ?? e.replies(label)
  );
}

export function messageStreams(e: Evidence): readonly Exchange[] {
  return labelsIn(e, "stream").flatMap((label) =>
    possible(e, label) ?? e.streams(label)
  );
}

/**
 * The exchanges of a request that a real model may refuse: some support no stop strings, some no
 * forced calls.
 */
function possible(e: Evidence, label: string): Exchange[] | undefined {
  if (e.mode === "replay" || !label.endsWith("/*")) return undefined;
  return e.matching(label).filter(({ head }) => head?.status === 200);
}

/** The scenarios of a form of reply. A check that reads the rare ones needs mutants of its own. */
export function scenariosOf(
  form: "whole" | "stream",
  ...names: readonly ("forms" | "blocks" | "oddities" | "sizes")[]
): readonly string[] {
  return names.map((name) => `message-${name}-${form}`);
}

export function fixtureOf({ label }: Exchange): string {
  return label.split("/")[3] ?? "text";
}

export function fixtureContentOf(x: Exchange): ReadContent {
  return fixtureContent(fixtureOf(x), x.via);
}

/** The blocks of a reply, whole or streamed, with the compared fields only. */
export function blocksOf(x: Exchange): readonly JsonObject[] {
  return x.frames.length > 0
    ? streamedBlocks(x)
    : listAt(x.json, "content").map(fieldsOf);
}

/**
 * The blocks of the message dialect's fixture, as a whole reply and as a stream. They differ in ids
 * and signatures, and a gateway may build a reply of one form from the other.
 */
export function blocksOfFixture(
  name: string,
): readonly (readonly JsonObject[])[] {
  const reply = WRITTEN.get(name)?.replies.messages;
  const whole = listAt(parseJson(reply?.whole ?? ""), "content");
  const bytes = new TextEncoder().encode(reply?.stream.join("") ?? "");
  return [
    whole.map(fieldsOf),
    streamedBlocks({ frames: witnessFrames(bytes) }),
  ];
}

function fieldsOf(block: Json): JsonObject {
  const type = textAt(block, "type");
  const names = FIELDS[type] ?? [];
  return {
    type,
    ...Object.fromEntries(names.map((name) => [name, at(block, name) ?? null])),
  };
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  tool_use: ["id", "name", "input"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
};

/**
 * The blocks that every gateway must pass on: other blocks and empty texts are left out, adjacent
 * texts are joined.
 */
export function essential(blocks: readonly JsonObject[]): JsonObject[] {
  const kept: JsonObject[] = [];
  for (const block of blocks) {
    const type = textAt(block, "type");
    const last = kept.at(-1);
    if (!(type in FIELDS) || (type === "text" && block["text"] === "")) {
      continue;
    }
    if (type === "text" && textAt(last, "type") === "text") {
      const text = textAt(last, "text") + textAt(block, "text");
      kept.splice(-1, 1, { type, text });
    } else kept.push(block);
  }
  return kept;
}

export function joined(x: Exchange, type: string, field: string): string {
  return blocksOf(x).filter((block) => block["type"] === type)
    .map((block) => textAt(block, field)).join("");
}

/** The tool calls: name and input of each. */
export function callsOf(x: Exchange): Json {
  return blocksOf(x).filter(({ type }) => type === "tool_use")
    .map(({ name, input }): Json => ({ name, args: input }));
}

export function reasonOf(x: Exchange): Json | undefined {
  if (x.frames.length === 0) return at(x.json, "stop_reason");
  return finalOf(x, "delta.stop_reason");
}

export function sequenceOf(x: Exchange): Json | undefined {
  if (x.frames.length === 0) return at(x.json, "stop_sequence");
  return finalOf(x, "delta.stop_sequence");
}

/**
 * A figure of the usage. For a stream: the last one sent, that of `message_start` when
 * `message_delta` has none.
 */
export function tokens(x: Exchange, name: string): Json | undefined {
  if (x.frames.length === 0) return at(x.json, `usage.${name}`);
  const start = x.frames.find(({ json }) =>
    at(json, "type") === "message_start"
  );
  return finalOf(x, `usage.${name}`) ??
    at(start?.json, `message.usage.${name}`);
}

/** The value at a path of the last `message_delta` that has one. */
export function finalOf({ frames }: Exchange, path: string): Json | undefined {
  return frames.filter(({ json }) => at(json, "type") === "message_delta")
    .map(({ json }) => at(json, path))
    .findLast((value) => value !== undefined);
}

/**
 * The stop reasons that are right for a fixture. For causes beyond the documented four the vendor's
 * own word may be passed on.
 */
export function reasonsFor(x: Exchange): readonly string[] {
  const { stop, refusal } = fixtureContentOf(x);
  if (refusal !== "") return ["refusal", "end_turn"];
  switch (stop) {
    case "end":
      // When the vendor does not report which stop string hit, a gateway may find out or not.
      return fixtureOf(x) === "stop-sequence"
        ? ["end_turn", "stop_sequence"]
        : ["end_turn"];
    case "refusal":
      return ["refusal", "end_turn"];
    case "pause":
      return ["pause_turn", "max_tokens", "end_turn"];
    case "context_window":
      return ["model_context_window_exceeded", "max_tokens"];
    case "other":
      return ["max_tokens", "end_turn", "some_new_reason"];
    case "max_tokens":
    case "stop_sequence":
    case "tool_use":
      return [stop];
  }
}
