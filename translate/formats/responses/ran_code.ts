/**
 * Code that an upstream of another format ran, as a call of this format's own tool.
 */
import type { JsonObject } from "../../bytes/json.ts";
import type { RanCode } from "../../model/reply.ts";
import { ranCodeId } from "../../turns/ran_code.ts";

/** The complete item. */
export function codeItem(
  { code, output }: RanCode,
  seed: string,
  index: number,
): JsonObject {
  return {
    id: ranCodeId("ci", seed, index),
    type: "code_interpreter_call",
    status: "completed",
    code,
    container_id: ranCodeId("cntr", seed, index),
    outputs: output === undefined ? null : [{ type: "logs", logs: output }],
  };
}

/** The frames of an item, which is written at once. */
export function codeFrames(
  item: JsonObject,
  output_index: number,
  frame: (type: string, fields: JsonObject) => string,
): string {
  const { id: item_id, code } = item;
  const place = { item_id, output_index };
  const step = (word: string, fields: JsonObject = {}): string =>
    frame(`response.code_interpreter_call${word}`, { ...place, ...fields });
  return frame("response.output_item.added", {
    output_index,
    item: { ...item, status: "in_progress", code: "", outputs: null },
  }) + step(".in_progress") +
    (code === "" ? "" : step("_code.delta", { delta: code })) +
    step("_code.done", { code }) + step(".interpreting") + step(".completed") +
    frame("response.output_item.done", { output_index, item });
}
