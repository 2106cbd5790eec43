/**
 * The JSON of a frame's data, parsed once: a stream that passes through is read by its decoder and
 * by its ending, and the last frame of some formats repeats the whole reply.
 *
 * @module
 */
import { exactJson } from "../bytes/exact_json.ts";
import type { Frame } from "./sse.ts";

const PARSED = new WeakMap<Frame, { readonly value: unknown }>();

/** The data's value, with exact numbers; undefined for data that is not JSON. */
export function frameJson(frame: Frame): unknown {
  const known = PARSED.get(frame);
  if (known !== undefined) return known.value;
  const value = exactJson(frame.data.trim());
  PARSED.set(frame, { value });
  return value;
}
