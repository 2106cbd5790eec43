/**
 * The end of a stream that passes through: the end of the body. Only what the format does not have
 * is left out, because client libraries read every frame as JSON.
 */
import type { EncodeContext, StreamEnding } from "../../dialect.ts";

export function streamEnding(_context: EncodeContext): StreamEnding {
  return {
    // Proxies in front of the vendor add the chat format's last frame.
    keep: (bytes, frames) =>
      frames.some(({ data }) => data.trim() === "[DONE]") ? [] : [bytes],
    finish: () => [],
  };
}
