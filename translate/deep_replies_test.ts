/** Replies nested deeper than V8 can write again end as upstream errors, whole and streamed. */
import { atOnce } from "./steps.ts";
import assert from "node:assert/strict";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import { type EncodeContext, PLAIN_CONTEXT } from "./dialect.ts";
import { ApiError } from "./model/error.ts";
import { upstreamDialect } from "./dialects.ts";
import { messages } from "./formats/messages/mod.ts";
import { streamRelay, wholeReply } from "./stream/relay.ts";
import type { DialectName } from "./model/request.ts";
import { responses } from "./formats/responses/mod.ts";
import { ENCODE_CONTEXT } from "./testing/encode_context.ts";

const ENCODE: EncodeContext = ENCODE_CONTEXT;
// Numeric keys make V8 write recursively.
const DEEP = `${'{"5":'.repeat(9_000)}1${"}".repeat(9_000)}`;
const WHOLE: Readonly<Record<DialectName, string>> = {
  messages:
    `{"type":"message","content":[{"type":"tool_use","id":"a","name":"f","input":${DEEP}}],"stop_reason":"tool_use"}`,
  chat_completions:
    `{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":${DEEP}}}]},"finish_reason":"stop"}]}`,
  generate_content:
    `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${DEEP}}}]},"finishReason":"STOP"}]}`,
  converse:
    `{"output":{"message":{"content":[{"toolUse":{"toolUseId":"a","name":"f","input":${DEEP}}}]}},"stopReason":"tool_use"}`,
  responses:
    `{"status":"completed","output":[{"type":"function_call","call_id":"a","name":"f","arguments":${DEEP}}]}`,
};
const FRAMES: Readonly<Record<DialectName, string>> = {
  messages:
    `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":${DEEP}}}\n\ndata: {"type":"content_block_stop","index":0}\n\n`,
  chat_completions:
    `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":${DEEP}}}]}}]}\n\n`,
  generate_content: `data: ${WHOLE.generate_content}\n\n`,
  converse:
    `event: contentBlockDelta\ndata: {"contentBlockIndex":0,"delta":{"toolUse":{"input":${DEEP}}}}\n\n`,
  responses:
    `data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"a","name":"f","arguments":${DEEP}}}\n\n`,
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

for (
  const upstream of [
    "messages",
    "chat_completions",
    "generate_content",
    "responses",
    "converse",
  ] as const
) {
  for (const client of [messages, chatCompletions, responses]) {
    Deno.test(`a call that nests too deep, from ${upstream} to ${client.name}`, () => {
      assert.throws(
        () =>
          atOnce(wholeReply(
            client,
            upstreamDialect(upstream),
            PLAIN_CONTEXT,
            ENCODE,
            bytes(WHOLE[upstream]),
          )),
        (error) => error instanceof ApiError && error.kind === "upstream",
      );
      const relay = streamRelay(
        client,
        upstreamDialect(upstream),
        PLAIN_CONTEXT,
        ENCODE,
      );
      relay.push(bytes(FRAMES[upstream]));
      relay.end();
      assert.equal(relay.progress().error?.kind, "upstream");
    });
  }
}
