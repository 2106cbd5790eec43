/**
 * Frames of a chat completions stream, as an upstream sends them.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { Fields } from "../replies/reply_grammar.ts";

/** The fields that all chunks of a stream have. */
export const HEAD: Fields = {
  id: "chatcmpl-7",
  object: "chat.completion.chunk",
  created: 1780000000,
  model: "upstream-model",
};
export const DONE = "data: [DONE]\n\n";

/** A chunk with one choice; `more` holds further top-level fields. */
export function chunk(
  delta: unknown,
  finish?: unknown,
  more: Fields = {},
): string {
  const choice = {
    index: 0,
    delta,
    ...compact({ finish_reason: finish }),
  };
  return `data: ${JSON.stringify({ ...HEAD, choices: [choice], ...more })}\n\n`;
}

/** A fragment of a tool call, for `delta.tool_calls`. */
export function call(fields: Fields, name?: string, args?: string): Fields {
  return {
    ...fields,
    function: {
      ...compact({ name, arguments: args }),
    },
  };
}

export const ROLE: string = chunk({ role: "assistant", content: "" }, null);
/** A `usage` of 13 tokens. */
export const USAGE: Fields = {
  prompt_tokens: 9,
  completion_tokens: 4,
  total_tokens: 13,
};
