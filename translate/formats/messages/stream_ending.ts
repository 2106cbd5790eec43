/**
 * The end of a stream that passes through: `message_delta` with a stop reason, then `message_stop`,
 * even where the upstream leaves one of them out. The official library ignores frames without an
 * `event:` line.
 */
import type { EncodeContext, StreamEnding } from "../../dialect.ts";
import { mergeUsage, type Usage } from "../../model/reply.ts";
import { objectOr, textIn } from "../../bytes/json.ts";
import { frameJson } from "../../stream/frame_json.ts";
import { namedFrame } from "../../stream/sse.ts";
import { WIRE_STOP_REASONS } from "./stop_reason.ts";
import { encodeFinalUsage } from "./usage.ts";

const ENCODER = new TextEncoder();
const MESSAGE_STOP = ENCODER.encode(
  namedFrame("message_stop", `{"type":"message_stop"}`),
);

export function streamEnding(_context: EncodeContext): StreamEnding {
  let hasStop = false;
  let sawTool = false;
  let usage: Usage = {};
  return {
    keep(bytes, _frames, events) {
      let isEnd = false;
      for (const event of events) {
        if (event.type === "stop") hasStop = true;
        else if (event.type === "open") sawTool ||= event.kind === "tool";
        else if (event.type === "usage" || event.type === "start") {
          usage = mergeUsage(usage, event.usage ?? {});
        } else if (event.type === "end") isEnd = true;
      }
      if (!isEnd || hasStop) return [bytes];
      const data = JSON.stringify({
        type: "message_delta",
        delta: {
          stop_reason: WIRE_STOP_REASONS[sawTool ? "tool_use" : "end"],
          stop_sequence: null,
        },
        usage: encodeFinalUsage(usage),
      });
      return [ENCODER.encode(namedFrame("message_delta", data)), bytes];
    },
    nameLine(frame) {
      if (frame.event !== undefined) return undefined;
      const type = textIn(objectOr(frameJson(frame))["type"]) ?? "";
      return /^\w+$/.test(type) ? `event: ${type}\n` : undefined;
    },
    finish: () => [MESSAGE_STOP],
  };
}
