/** Checks of the area `responses`: the frames of a stream. */
import { type Check, checksWith } from "../../suite/check.ts";
import { fact } from "../../suite/finding.ts";
import { faultsIn, type GrammarRule } from "./grammar.ts";
import { streamsOf } from "./reply.ts";

/**
 * A check of some rules of the grammar, or of all when none is given, on every stream of the
 * scenarios that it reads.
 */
function frames(
  name: string,
  text: string,
  level: Check["level"],
  rules: readonly GrammarRule[],
  mutants: readonly string[],
): Pick<Check, "id" | "rule" | "level" | "judge" | "mutants"> {
  return {
    id: `responses.stream-${name}`,
    rule: { section: "Responses stream", text },
    level,
    judge: (e) =>
      streamsOf(e).map((x) => {
        const fault = faultsIn(x.frames).find(({ rule }) =>
          rules.length === 0 || rules.includes(rule)
        );
        return fact(
          fault === undefined,
          fault === undefined ? "frames" : `frame ${fault.frame?.at ?? "none"}`,
          fault?.expected ?? "in the order of the format",
          fault?.frame?.data ?? `${x.frames.length} frames`,
          x,
          fault?.frame,
        );
      }),
    mutants,
  };
}

/** Part of `RESPONSES_CHECKS`. */
export const RESPONSES_STREAM_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  needs: "responses",
  reads: ["responses-replies"],
}, [
  frames(
    "start",
    "A stream begins with `response.created` and then `response.in_progress` or `response.queued`; both carry the reply without output and usage.",
    "documented",
    ["start"],
    [
      "responses-stream-no-created",
      "responses-stream-no-progress",
      "responses-stream-starts-complete",
      "responses-keepalive-first",
    ],
  ),
  frames(
    "end",
    "A stream ends with exactly one of `response.completed`, `response.incomplete` and `response.failed`, which carries the whole reply.",
    "documented",
    ["end"],
    [
      "responses-stream-no-end",
      "responses-stream-two-ends",
      "responses-stream-after-end",
      "responses-stream-end-bare",
    ],
  ),
  frames(
    "event-names",
    "The `event` of a frame equals the `type` of its data.",
    "documented",
    ["event"],
    ["responses-stream-no-event", "responses-stream-event-short"],
  ),
  frames(
    "numbers",
    "`sequence_number` counts the frames from 0 without gaps, keep-alive frames included.",
    "documented",
    ["sequence"],
    [
      "responses-stream-numbers-from-1",
      "responses-keepalive-unnumbered",
      "responses-stream-number-twice",
    ],
  ),
  frames(
    "known-types",
    "Every type of frame is one that the format has.",
    "convention",
    ["known"],
    ["responses-stream-own-type", "responses-stream-reasoning-delta"],
  ),
  frames(
    "order",
    "An item is added, then its parts are added, told in deltas, told whole and done, and then it is done.",
    "documented",
    ["order"],
    [
      "responses-stream-no-added",
      "responses-stream-no-part",
      "responses-stream-no-text-done",
      "responses-stream-no-part-done",
      "responses-stream-no-item-done",
      "responses-stream-arguments-not-done",
      "responses-stream-call-nameless",
    ],
  ),
  {
    mode: "replay",
    ...frames(
      "one-item",
      "One item is open at a time.",
      "convention",
      ["overlap"],
      ["responses-stream-overlap"],
    ),
  },
  frames(
    "indices",
    "`output_index` counts the items, and `content_index` and `summary_index` count the parts of an item, each from 0.",
    "documented",
    ["index"],
    [
      "responses-stream-index-0",
      "responses-stream-content-index",
    ],
  ),
  frames(
    "item-ids",
    "`item_id` is the id of the item that was added at its index.",
    "documented",
    ["id"],
    ["responses-stream-item-id-rotates", "responses-stream-item-id-absent"],
  ),
  frames(
    "texts",
    "The joined deltas, the text of `done` and the text in the item are equal.",
    "convention",
    ["text"],
    [
      "responses-stream-delta-lost",
      "responses-stream-done-cut",
      "responses-stream-arguments-at-once",
      "responses-stream-item-empty",
    ],
  ),
  frames(
    "no-empty-delta",
    "No delta is empty.",
    "convention",
    ["delta"],
    ["responses-stream-empty-delta"],
  ),
  frames(
    "output",
    "The `output` of the last frame is the items that were done.",
    "convention",
    ["output"],
    ["responses-stream-output-empty", "responses-stream-output-sorted"],
  ),
  {
    ...frames(
      "every-kind",
      "These rules hold for texts, refusals, reasoning and calls alike, and for replies without any output.",
      "documented",
      [],
      ["responses-stream-refusal-as-delta", "responses-stream-arguments-blank"],
    ),
    mode: "replay",
    reads: ["responses-contents"],
  },
]);
