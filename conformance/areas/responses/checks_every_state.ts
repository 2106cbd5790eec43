/** Checks of the area `responses`: every state and item of every reply, also over web sockets. */
import type { Exchange } from "../../evidence/exchange.ts";
import {
  at,
  listAt,
  numberAt,
  sameJson,
  textAt,
} from "../../evidence/json_path.ts";
import { isObject, type Json, objectOf } from "@model-gateway/replay/json";
import { withAt } from "../../faults/change_reply.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { factOf, type Finding, some } from "../../suite/finding.ts";
import { inFrames } from "./faults.ts";
import { isUsage, wrongMember } from "./shapes.ts";

/** A state of a reply or an item, and what is wrong with it. */
interface Judged {
  readonly value: Json;
  readonly wrong: string | undefined;
}

/** The states of the reply: the body, and those in the events. */
function statesOf(x: Exchange): readonly Json[] {
  const values = x.frames.length === 0
    ? [x.json]
    : x.frames.map(({ json }) => at(json, "response"));
  return values.filter((value) => isObject(value)).filter((value) =>
    value["object"] === "response"
  );
}

/** The items by themselves in the events, and those of the states. */
function itemsIn(x: Exchange): readonly Json[] {
  return [
    ...x.frames.flatMap(({ json }) => at(json, "item") ?? []),
    ...statesOf(x).flatMap((state) => listAt(state, "output")),
  ];
}

/** The members that an item keeps once it is begun, and once it is done. */
const KEPT = ["id", "type"];
const KEPT_WHEN_DONE = ["name", "call_id", "arguments", "input", "content"];

/** The items of the states, judged by the events before, of one reply or several. */
function besideEvents({ frames }: Exchange): readonly Judged[] {
  const known = new Map<number, Json>();
  return frames.flatMap(({ json }) => {
    const type = textAt(json, "type");
    const item = at(json, "item");
    if (type === "response.created") known.clear();
    // A vendor encrypts its reasoning anew in the last event.
    const isWhole = type === "response.output_item.done" &&
      at(item, "type") !== "reasoning";
    if (item !== undefined) {
      const names = isWhole ? [...KEPT, ...KEPT_WHEN_DONE] : KEPT;
      known.set(
        numberAt(json, "output_index") ?? 0,
        Object.fromEntries(names.map((name) => [name, at(item, name) ?? null])),
      );
    }
    return listAt(json, "response.output").map((value, index) => ({
      value,
      wrong: Object.entries(objectOf(known.get(index))).find(([name, before]) =>
        !sameJson(at(value, name) ?? null, before)
      )?.[0],
    }));
  });
}

/** The first of these that is wrong, as a finding; one that passes where none is. */
function first(x: Exchange, all: readonly Judged[], expected: string): Finding {
  const bad = all.find(({ wrong }) => wrong !== undefined);
  return factOf(bad?.wrong ?? "members", bad?.value ?? `${all.length}`, x)
    .mustBe(expected, bad === undefined);
}

/** Whether the numbers of the events count on, each by one; a web socket has several replies. */
function inSequence({ frames }: Exchange): boolean {
  const numbers = frames.flatMap(({ json }) => {
    const number = at(json, "sequence_number");
    return number === undefined ? [] : [number];
  });
  return numbers.every((number, index) =>
    number === 0 || index === 0 || number === Number(numbers[index - 1]) + 1
  );
}

/** The event at the end of a reply that failed, with another value. */
function inFailed(path: string, value: Json | undefined): Hooks {
  return inFrames(/^failed$/, (data) => withAt(data, path, value));
}

export const EVERY_STATE_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  needs: "responses",
  reads: "everything",
  provedBy: ["responses-broken"],
  of: (e) =>
    some(
      e.exchanges.filter((x) =>
        x.endpoint === "responses" && statesOf(x).length > 0
      ),
      "of the Responses format",
    ),
}, [{
  id: "responses.every-item",
  source: "https://platform.openai.com/docs/api-reference/responses/object",
  rule:
    "Every item of a reply has the members of its type, also while it is made, and in a reply that failed.",
  each: (x) =>
    first(
      x,
      itemsIn(x).map((value) => ({ value, wrong: wrongMember(value) })),
      "present, of its type",
    ),
  misses: Object.fromEntries(
    Object.entries({
      id: undefined,
      type: undefined,
      status: "done",
      role: undefined,
      content: "text",
      "content.0.text": undefined,
      "content.0.annotations": null,
    }).map((
      [path, value],
    ) => [path, inFailed(`response.output.0.${path}`, value)]),
  ),
}, {
  id: "responses.every-item-as-made",
  source:
    "https://platform.openai.com/docs/api-reference/responses-streaming, `response.output_item.done`",
  rule:
    "A reply in an event has the items of the events before it, with their ids, texts and calls, whether it is complete or failed.",
  provedBy: ["responses-broken", "responses-replies"],
  each: (x) => first(x, besideEvents(x), "as in the events before"),
  misses: {
    "id-other": inFailed("response.output.0.id", "msg_another"),
    "type-other": inFailed("response.output.0.type", "messages"),
    "text-other": inFrames(
      /^completed$/,
      (data) => withAt(data, "response.output.0.content.0.text", "Another."),
    ),
  },
}, {
  id: "responses.every-usage",
  source: "https://platform.openai.com/docs/api-reference/responses/object",
  rule:
    "Wherever a reply tells its usage, also one that failed, the counts are whole numbers that add up.",
  each: (x) =>
    first(
      x,
      statesOf(x).map((state) => ({
        value: at(state, "usage") ?? null,
        wrong: isUsage(at(state, "usage")) ? undefined : "usage",
      })),
      "whole numbers, their sum, and parts that are not larger; or null",
    ),
  misses: Object.fromEntries(
    Object.entries({
      input_tokens_details: null,
      output_tokens: undefined,
      total_tokens: "31",
      "input_tokens_details.cached_tokens": undefined,
    }).map((
      [path, value],
    ) => [path, inFailed(`response.usage.${path}`, value)]),
  ),
}, {
  id: "responses.every-number",
  source:
    "https://platform.openai.com/docs/api-reference/responses-streaming, `sequence_number`",
  rule: "The numbers of the events of a reply count on, each by one.",
  each: (x) =>
    factOf(
      "sequence_number",
      x.frames.map(({ json }) => at(json, "sequence_number") ?? null),
      x,
    ).mustBe("each one more", inSequence(x)),
  misses: {
    "failed-twice": inFrames(/^failed$/, (data) => ({
      ...data,
      sequence_number: 2 * Number(at(data, "sequence_number")),
    })),
  },
}]);
