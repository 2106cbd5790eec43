/** Checks of the area `responses`: the frames of a stream. */
import { type Check, checksWith, type Misses } from "../../suite/check.ts";
import { at, listAt, textAt } from "../../evidence/json_path.ts";
import {
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import {
  count,
  END,
  frameOf,
  inFrames,
  inserted,
  nth,
  without,
} from "./faults.ts";
import { withAt } from "../../faults/change_reply.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { follows } from "./grammar_finding.ts";

const OPENAI = "https://platform.openai.com/docs/api-reference/responses-";

function addedCall(change: (item: JsonObject) => JsonObject): Hooks {
  return inFrames(
    /^output_item\.added$/,
    (data) =>
      at(data, "item.call_id") === undefined
        ? data
        : { ...data, item: change(objectOf(data["item"])) },
  );
}

/** Near misses of a string that a call has from its beginning. */
function inAdded(name: string): Misses {
  const put = (value: (text: string) => Json): Hooks =>
    addedCall((item) => ({ ...item, [name]: value(textAt(item, name)) }));
  return {
    [`${name}-cut`]: put((text) => text.slice(0, -1)),
    [`${name}-doubled`]: put((text) => text + text),
    [`${name}-other-case`]: put((text) => text.toUpperCase()),
    [`${name}-list`]: put((text) => [text]),
  };
}

/** The usual streams, and those of calls where the model accepts the tools. */
export function usualAndCalls(e: Evidence): readonly Exchange[] {
  const isChoice = ({ scenario }: Exchange): boolean =>
    scenario === "responses-choices";
  const all = e.matching("responses/*/stream/*");
  return [
    ...all.filter((x) => !isChoice(x)).flatMap(({ label }) => e.streams(label)),
    ...all.filter((x) => isChoice(x) && x.head?.status === 200),
  ];
}

export const RESPONSES_STREAM_CHECKS: readonly Check[] = checksWith({
  section: "Responses stream",
  mode: "both",
  needs: "responses",
  reads: ["responses-replies", "responses-choices"],
  of: usualAndCalls,
}, [
  {
    id: "responses.stream-start",
    rule:
      "A stream begins with `response.created` and then `response.in_progress` or `response.queued`; both carry the reply without output and usage.",
    each: follows("start"),
    faults: {
      "responses-stream-no-created": without(/^created$/),
      "responses-stream-no-progress": without(/^in_progress$/),
      "responses-stream-starts-complete": inFrames(
        /^created$/,
        (data) => withAt(data, "response.status", "completed"),
      ),
      "responses-keepalive-first": inFrames(/^created$/, (data) => [
        frameOf({ type: "keepalive", sequence_number: 0 }),
        frameOf(data),
      ]),
    },
  },
  {
    id: "responses.stream-end",
    rule:
      "A stream ends with exactly one of `response.completed`, `response.incomplete` and `response.failed`, which carries the whole reply.",
    each: follows("end"),
    faults: {
      "responses-stream-no-end": without(END),
      "responses-stream-two-ends": inFrames(END, (data) => [
        frameOf(data),
        frameOf(data),
      ]),
      "responses-stream-after-end": inFrames(END, (data) => [
        frameOf(data),
        frameOf({ type: "keepalive", sequence_number: 0 }),
      ]),
      "responses-stream-end-bare": inFrames(END, (data) => {
        const { id: _, ...response } = objectOf(data["response"]);
        return { ...data, response };
      }),
    },
  },
  {
    id: "responses.stream-event-names",
    rule: "The `event` of a frame equals the `type` of its data.",
    each: follows("event"),
    faults: {
      "responses-stream-no-event": inFrames(/./, (data) => [{ data }]),
      "responses-stream-event-short": inFrames(/./, (data) => [
        { event: textAt(data, "type").replace("response.", ""), data },
      ]),
    },
  },
  {
    id: "responses.stream-numbers",
    rule:
      "`sequence_number` counts the frames from 0 without gaps, keep-alive frames included.",
    each: follows("sequence"),
    faults: {
      "responses-stream-numbers-from-1": inFrames(/./, (data) => ({
        ...data,
        sequence_number: count(data, "sequence_number") + 1,
      })),
      "responses-keepalive-unnumbered": inserted({ type: "keepalive" }),
      "responses-stream-number-twice": inFrames(END, (data) => ({
        ...data,
        sequence_number: count(data, "sequence_number") - 1,
      })),
    },
  },
  {
    id: "responses.stream-known-types",
    rule: "Every type of frame is one that the format has.",
    level: "convention",
    each: follows("known"),
    faults: {
      "responses-stream-own-type": inserted({ type: "gateway.trace" }),
      "responses-stream-reasoning-delta": inFrames(
        /^reasoning_summary_text\.delta$/,
        (data) => [frameOf({ ...data, type: "response.reasoning.delta" })],
      ),
    },
  },
  {
    id: "responses.stream-order",
    rule:
      "An item is added, then its parts are added, told in deltas, told whole and done, and then it is done.",
    each: follows("order"),
    faults: {
      "responses-stream-no-added": without(/^output_item\.added$/),
      "responses-stream-no-part": without(/_part\.added$/),
      "responses-stream-no-text-done": without(/text\.done$/),
      "responses-stream-no-part-done": without(/_part\.done$/),
      "responses-stream-no-item-done": without(/^output_item\.done$/),
      "responses-stream-arguments-not-done": without(/arguments\.done$/),
      "responses-stream-call-nameless": inFrames(
        /^output_item\.added$/,
        (data) => withAt(data, "item.name", ""),
      ),
    },
  },
  {
    id: "responses.stream-one-item",
    rule: "One item is open at a time.",
    level: "convention",
    mode: "replay",
    each: follows("overlap"),
    faults: {
      "responses-stream-overlap": inFrames(
        /^(output_item\.(added|done)|completed|incomplete)$/,
        (data, { state }) => {
          const held = state.get("done");
          if (textAt(data, "type").endsWith("item.done")) {
            state.set("done", data);
            return undefined;
          }
          state.delete("done");
          if (held === undefined) return data;
          const isEnd = !textAt(data, "type").endsWith("added");
          const both = [frameOf(data), frameOf(objectOf(held))];
          return isEnd ? both.reverse() : both;
        },
      ),
    },
  },
  {
    id: "responses.stream-indices",
    rule:
      "`output_index` counts the items, and `content_index` and `summary_index` count the parts of an item, each from 0.",
    each: follows("index"),
    faults: {
      "responses-stream-index-0": inFrames(
        /./,
        (data) => "output_index" in data ? { ...data, output_index: 1 } : data,
      ),
      "responses-stream-content-index": inFrames(
        /./,
        (data) =>
          "content_index" in data ? { ...data, content_index: 1 } : data,
      ),
    },
  },
  {
    id: "responses.stream-item-ids",
    rule: "`item_id` is the id of the item that was added at its index.",
    each: follows("id"),
    faults: {
      "responses-stream-item-id-rotates": inFrames(/\.delta$/, (data, x) => ({
        ...data,
        item_id: `${textAt(data, "item_id")}${nth(x)}`,
      })),
      "responses-stream-item-id-absent": inFrames(
        /\.delta$/,
        { item_id: undefined },
      ),
    },
  },
  {
    id: "responses.stream-texts",
    rule:
      "The joined deltas, the text of `done` and the text in the item are equal.",
    level: "convention",
    each: follows("text"),
    faults: {
      "responses-stream-delta-lost": inFrames(
        /\.delta$/,
        (data, x) => nth(x) === 1 ? undefined : data,
      ),
      "responses-stream-done-cut": inFrames(/output_text\.done$/, (data) => ({
        ...data,
        text: textAt(data, "text").slice(0, -1),
      })),
      "responses-stream-arguments-at-once": without(/arguments\.delta$/),
      "responses-stream-item-empty": inFrames(
        /^output_item\.done$/,
        (data) =>
          at(data, "item.content") === undefined
            ? data
            : withAt(data, "item.content", []),
      ),
    },
  },
  {
    id: "responses.stream-no-empty-delta",
    rule: "No delta is empty.",
    level: "convention",
    each: follows("delta"),
    faults: {
      "responses-stream-empty-delta": inFrames(
        /output_text\.delta$/,
        (data) => [
          frameOf({ ...data, delta: "" }),
          frameOf(data),
        ],
      ),
    },
  },
  {
    id: "responses.stream-output",
    rule: "The `output` of the last frame is the items that were done.",
    level: "convention",
    each: follows("output"),
    faults: {
      "responses-stream-output-empty": inFrames(
        END,
        (data) => withAt(data, "response.output", []),
      ),
      "responses-stream-output-sorted": inFrames(
        END,
        (data) =>
          withAt(
            data,
            "response.output",
            listAt(data, "response.output").toReversed(),
          ),
      ),
    },
  },
  {
    id: "responses.stream-items-kept",
    rule:
      "What an item has when it is added stays: its type, its role, its name and its ids. Its texts and lists begin empty.",
    source: `${OPENAI}streaming, response.output_item.added`,
    each: follows("kept"),
    misses: {
      ...inAdded("name"),
      ...inAdded("call_id"),
      "arguments-absent": addedCall(({ arguments: _, ...item }) => item),
      "arguments-object": addedCall((item) =>
        "arguments" in item ? { ...item, arguments: {} } : item
      ),
      "arguments-begun": addedCall((item) =>
        "arguments" in item ? { ...item, arguments: "{" } : item
      ),
      "part-null": inFrames(
        /_part\.added$/,
        (data) =>
          at(data, "part.text") === undefined
            ? data
            : withAt(data, "part.text", null),
      ),
    },
  },
  {
    id: "responses.stream-every-kind",
    rule:
      "These rules hold for texts, refusals, reasoning and calls alike, and for replies without any output.",
    mode: "replay",
    reads: ["responses-contents"],
    each: follows(),
    faults: {
      "responses-stream-refusal-as-delta": inFrames(/^refusal\./, (data) => {
        const type = textAt(data, "type").replace("refusal", "output_text");
        return [frameOf({ ...data, type })];
      }),
      "responses-stream-arguments-blank": inFrames(
        /arguments\.done$/,
        (data) =>
          data["arguments"] === "{}" ? { ...data, arguments: "" } : data,
      ),
    },
  },
]);
