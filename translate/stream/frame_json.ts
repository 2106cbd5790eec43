/**
 * The JSON of a frame's data, parsed once: a stream that passes through is read by its decoder and
 * by its ending, and the last frame of some formats repeats the whole reply.
 */
import { exactJson } from "../bytes/exact_json.ts";
import type { Frame } from "./sse.ts";

/**
 * The data's value, with exact numbers; undefined for data that is not JSON. The frame itself keeps
 * the value: the entries of a `WeakMap` outlive many collections of young objects.
 */
export function frameJson(frame: Frame): unknown {
  if (frame.parsed === undefined) {
    const text = frame.data.trim();
    // The error of a parse that fails takes longer than many parses.
    frame.parsed = { value: text === "" ? undefined : exactJson(text) };
  }
  return frame.parsed.value;
}
