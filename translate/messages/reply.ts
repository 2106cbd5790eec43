/**
 * Whole replies in the messages format, both ways: decoding gives the events that a stream would have given, encoding adds events
 * up. Streams are `stream.ts` and `stream_encoder.ts`.
 *
 * @module
 */
import type { DecodeContext, EncodeContext } from "../dialect.ts";
import { ApiError } from "../error.ts";
import { exactJson } from "../exact_json.ts";
import { isObject, type JsonObject } from "../json.ts";
import { madeCallId } from "../names.ts";
import {
  type Block,
  foldReply,
  type ReplyEvent,
  settleStop,
} from "../reply.ts";
import { isErrorBody } from "./error.ts";
import { carrier, replyId, STOP_WORDS, writeUsage } from "./reply_facts.ts";
import { replyReader } from "./reply_reader.ts";

/** Reads a whole reply. */
export function decodeReply(
  body: unknown,
  context: DecodeContext,
): readonly ReplyEvent[] {
  const reader = replyReader(context);
  if (isObject(body) && isErrorBody(body)) {
    return reader.take({ ...body, type: "error" });
  }
  if (!isObject(body) || !Array.isArray(body["content"])) {
    return reader.fail(
      new ApiError(
        "upstream",
        "could not read the upstream's reply: it is no message",
      ),
    );
  }
  const { stop_reason, stop_sequence, usage } = body;
  return [
    ...reader.take({ type: "message_start", message: body }),
    ...reader.take({
      type: "message_delta",
      delta: { stop_reason, stop_sequence },
      usage,
    }),
    ...reader.take({ type: "message_stop" }),
  ];
}

/**
 * Writes a whole reply.
 *
 * @throws {ApiError} the events' own error
 */
export function encodeReply(
  events: Iterable<ReplyEvent>,
  context: EncodeContext,
): JsonObject {
  const reply = foldReply(events);
  let madeIds = 0;
  const content = reply.blocks.flatMap((block) =>
    block.kind === "tool"
      ? [callBlock(
        block,
        block.id ?? madeCallId("toolu_", context.idSeed, madeIds++),
      )]
      : textBlock(block)
  );
  const refused = reply.blocks.some((block) => block.kind === "refusal");
  const sawTool = reply.blocks.some((block) => block.kind === "tool");
  const reason = settleStop(reply.stop?.reason ?? "end", sawTool);
  return {
    id: replyId(reply.id, context),
    type: "message",
    role: "assistant",
    model: context.model,
    content,
    stop_reason: STOP_WORDS[refused ? "refusal" : reason],
    stop_sequence: reply.stop?.sequence ?? null,
    usage: writeUsage(reply.usage, context),
  };
}

/** A text that is empty is no block: replayed, it would be refused. */
function textBlock(block: Block): readonly JsonObject[] {
  const { text, signature } = block;
  if (block.kind !== "reasoning") {
    return text === "" ? [] : [{ type: "text", text }];
  }
  const own = signature?.from === "messages" ? signature : undefined;
  if (own?.redacted === true && text === "") {
    return [{ type: "redacted_thinking", data: own.value }];
  }
  if (text === "" && own === undefined) return [];
  return [{
    type: "thinking",
    thinking: text,
    signature: own === undefined || own.redacted === true ? "" : own.value,
  }];
}

function callBlock(block: Block & { kind: "tool" }, id: string): JsonObject {
  return {
    type: "tool_use",
    id,
    name: block.name,
    input: callInput(block.text).input,
    ...carrier(block.signature),
  };
}

/** What `input` must be: an object. Arguments that are none are wrapped, so that whoever reads them sees what was written. */
export function callInput(
  text: string,
): { readonly input: JsonObject; readonly wrapped: boolean } {
  if (text.trim() === "") return { input: {}, wrapped: false };
  const input = exactJson(text);
  return isObject(input)
    ? { input, wrapped: false }
    : { input: { __raw_arguments: text }, wrapped: true };
}
