/**
 * Where a tool binds a reply to a schema, the arguments of that tool are the reply's text: text
 * before and after them would make it no JSON.
 */
import type { ReplyEvent } from "../model/reply.ts";

/**
 * Takes other text out of the replies of such a request. Text is held back until the answer, which
 * replaces it, or a call or the end, without which there is no answer.
 */
export function answerOnly(): (
  events: readonly ReplyEvent[],
) => readonly ReplyEvent[] {
  let held: ReplyEvent[] = [];
  let isHolding = false;
  let isAnswered = false;
  return (events) => {
    const kept: ReplyEvent[] = [];
    for (const event of events) {
      if (event.type === "open") {
        const isText = event.kind === "text";
        isHolding = isText && event.isAnswer !== true;
        if (isText && !isHolding) {
          isAnswered = true;
          held = [];
        }
      }
      if (isHolding && IN_BLOCKS.has(event.type)) {
        if (!isAnswered) held.push(event);
        continue;
      }
      if (
        event.type === "end" || event.type === "error" ||
        (event.type === "open" && event.kind === "tool")
      ) {
        for (const before of held) kept.push(before);
        held = [];
      }
      kept.push(event);
    }
    return kept;
  };
}

const IN_BLOCKS: ReadonlySet<ReplyEvent["type"]> = new Set([
  "open",
  "delta",
  "sign",
  "cite",
  "close",
]);
