/**
 * Two readers of one event stream. The strict one (`eventsource-parser`) follows the standard: a
 * frame counts when its blank line has arrived. The witness is an independent implementation that
 * also counts an unfinished last frame. Where they differ, the stream is malformed, and a check
 * reports it.
 */
import { createParser } from "eventsource-parser";
import { parseJson } from "@model-gateway/replay/json";
import type { Arrival, Frame } from "./exchange.ts";

/** The witness skips larger streams, since it reads the whole text at once. */
const MAX_WITNESS_BYTES = 8 * 1024 * 1024;

/** The frames as a strict reader finds them, each with the time of the piece that completed it. */
export function strictFrames(
  body: Uint8Array,
  arrivals: readonly Arrival[],
): Frame[] {
  const frames: Frame[] = [];
  let atMs = 0;
  const parser = createParser({
    onEvent: ({ event, data }) => {
      frames.push({
        at: frames.length,
        atMs,
        event,
        data,
        json: parseJson(data),
      });
    },
  });
  const decoder = new TextDecoder();
  let from = 0;
  for (const arrival of arrivals) {
    atMs = arrival.atMs;
    parser.feed(
      decoder.decode(body.subarray(from, arrival.upTo), { stream: true }),
    );
    from = arrival.upTo;
  }
  return frames;
}

/** The frames as a lenient reader finds them; their times are 0. */
export function witnessFrames(body: Uint8Array): Frame[] {
  if (body.length > MAX_WITNESS_BYTES) return [];
  const frames: Frame[] = [];
  let event: string | undefined;
  let data: string[] = [];
  const dispatch = (): void => {
    if (data.length > 0) {
      const text = data.join("\n");
      frames.push({
        at: frames.length,
        atMs: 0,
        event: event === "" ? undefined : event,
        data: text,
        json: parseJson(text),
      });
    }
    event = undefined;
    data = [];
  };
  for (const line of new TextDecoder().decode(body).split(/\r\n|\n|\r/)) {
    if (line === "") dispatch();
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "data") data.push(value ?? "");
    if (field === "event") event = value ?? "";
  }
  dispatch();
  return frames;
}
