/**
 * The ending of a stream that passes through: `message_delta` with a stop reason, then `message_stop`, also where the upstream
 * leaves one of them out.
 *
 * @module
 */
import type { EncodeContext, EndingKeeper } from "../dialect.ts";
import { mergeUsage, type Usage } from "../reply.ts";
import { namedFrame } from "../sse.ts";
import { STOP_WORDS, writeFinalUsage } from "./reply_facts.ts";

const ENCODER = new TextEncoder();
const MESSAGE_STOP = ENCODER.encode(
  namedFrame("message_stop", `{"type":"message_stop"}`),
);

/** Makes the keeper of one stream's ending. */
export function endingKeeper(_context: EncodeContext): EndingKeeper {
  let told = false;
  let sawTool = false;
  let usage: Usage = {};
  return {
    keep(bytes, _frames, events) {
      let isEnd = false;
      for (const event of events) {
        if (event.type === "stop") told = true;
        else if (event.type === "open") sawTool ||= event.kind === "tool";
        else if (event.type === "usage") usage = mergeUsage(usage, event.usage);
        else if (event.type === "end") isEnd = true;
      }
      if (!isEnd || told) return [bytes];
      const data = JSON.stringify({
        type: "message_delta",
        delta: {
          stop_reason: STOP_WORDS[sawTool ? "tool_use" : "end"],
          stop_sequence: null,
        },
        usage: writeFinalUsage(usage),
      });
      return [ENCODER.encode(namedFrame("message_delta", data)), bytes];
    },
    finish: () => [MESSAGE_STOP],
  };
}
