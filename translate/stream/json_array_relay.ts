/**
 * A stream as one JSON array: each frame's data is an element, and a ping is a blank line. The
 * array is closed at the end, also after an error, which is then its last element.
 */
import { encodeText } from "../bytes/buffers.ts";
import type { Relay } from "./relay_interface.ts";
import { sseParser } from "./sse.ts";

const BLANK = new TextEncoder().encode("\n");

export function asJsonArray(frames: string): string {
  const data = sseParser().push(encodeText(frames)).map((frame) => frame.data);
  return `[${data.join(",\n")}]\n`;
}

/** The relay whose event stream becomes an array. */
export function jsonArrayRelay(relay: Relay): Relay {
  const reader = sseParser();
  let begun = false;
  let closed = false;
  const elements = (bytes: Uint8Array): Uint8Array => {
    let text = "";
    for (const { data } of reader.push(bytes)) {
      text += `${begun ? ",\n" : "["}${data}`;
      begun = true;
    }
    if (relay.done() && !closed) {
      closed = true;
      text += begun ? "]\n" : "[]\n";
    }
    return encodeText(text);
  };
  return {
    ...relay,
    push: (chunk) => elements(relay.push(chunk)),
    end: () => elements(relay.end()),
    fail: (error) => elements(relay.fail(error)),
    ping: () => relay.ping().length === 0 ? relay.ping() : BLANK,
  };
}
