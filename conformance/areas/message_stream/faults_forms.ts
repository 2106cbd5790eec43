/**
 * Mutants for the checks of the area `message_stream`: streams in one piece, without content, with
 * overlapping blocks, or failing.
 */
import type { Hooks, OutFrame } from "../../reference_gateway/hooks.ts";
import { frames } from "../../reference_gateway/change_reply.ts";

/** Changes message_delta of streams without any block. */
export function withoutContent(
  change: (frame: OutFrame) => readonly OutFrame[],
): Hooks {
  return frames("messages", (data, { state }, frame) => {
    if (frame.event === "content_block_start") state.set("content", true);
    return frame.event === "message_delta" && !state.has("content")
      ? change(frame)
      : data;
  });
}
