/**
 * Whole replies, both ways. Reading one gives the events that a stream would have sent; writing one adds events up.
 *
 * @module
 */
import type { DecodeContext, EncodeContext } from "../dialect.ts";
import { ApiError } from "../error.ts";
import { arrayOr, compact, isObject, type JsonObject } from "../json.ts";
import { madeCallId } from "../names.ts";
import {
  type Block,
  foldReply,
  type Reply,
  type ReplyEvent,
  settleStop,
} from "../reply.ts";
import { writeCallSignature, writeDetail } from "./carriers.ts";
import { choiceReader } from "./choice_reader.ts";
import { encodeFinishReason } from "./stop_reason.ts";
import { encodeUsage } from "./usage.ts";

/** Reads a whole reply leniently; an error inside it becomes an `error` event. */
export function decodeReply(
  body: unknown,
  context: DecodeContext,
): readonly ReplyEvent[] {
  const reader = choiceReader(context);
  // One vendor's compatible endpoint wraps its errors in an array.
  const only = Array.isArray(body) ? body.find(isObject) : body;
  if (!isObject(only)) return unreadable();
  const events = reader.chunk(only);
  if (events.at(-1)?.type === "error") return events;
  if (arrayOr(only["choices"]).length === 0) return unreadable();
  try {
    return [...events, ...reader.finish()];
  } catch (error) {
    // Only what finish() documents; a bug of ours goes on its way.
    if (!(error instanceof ApiError)) throw error;
    return [...events, { type: "error", error }];
  }
}

function unreadable(): readonly ReplyEvent[] {
  return [{
    type: "error",
    error: new ApiError(
      "upstream",
      "could not read the upstream's reply: it holds no choice",
    ),
  }];
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
  const sawTool = reply.blocks.some((block) => block.kind === "tool");
  const reason = settleStop(reply.stop?.reason ?? "end", sawTool);
  return {
    id: replyId(reply.id, context),
    object: "chat.completion",
    created: context.created,
    model: context.model,
    choices: [{
      index: 0,
      message: encodeMessage(reply, context),
      logprobs: null,
      finish_reason: encodeFinishReason(reason, context.legacyFunctions),
    }],
    usage: encodeUsage(reply.usage, context.inputEstimate),
  };
}

/** The upstream's id in this format's dress, so that the two can be matched. */
export function replyId(
  id: string | undefined,
  context: EncodeContext,
): string {
  const bare = id?.replace(/^(?:msg_|chatcmpl-)/, "") ?? "";
  return `chatcmpl-${bare === "" ? context.idSeed : bare}`;
}

function encodeMessage(reply: Reply, context: EncodeContext): JsonObject {
  const text = textOf(reply.blocks, "text");
  const refusal = textOf(reply.blocks, "refusal");
  const thoughts = reply.blocks.filter((block) => block.kind === "reasoning");
  const thought = textOf(thoughts, "reasoning");
  const calls = reply.blocks.filter((block) => block.kind === "tool");
  const first = calls[0];
  return compact({
    role: "assistant",
    content: text === "" && (first !== undefined || refusal !== "")
      ? null
      : text,
    refusal: refusal === "" ? null : refusal,
    reasoning_content: thought === "" ? undefined : thought,
    reasoning_details: thoughts.some(isSigned)
      ? thoughts.map((block, index) =>
        writeDetail(block.text, block.signature, index)
      )
      : undefined,
    ...(first === undefined ? {} : context.legacyFunctions
      ? {
        function_call: { name: first.name, arguments: argumentsOf(first.text) },
      }
      : {
        tool_calls: calls.map((call, n) =>
          compact({
            id: call.id ?? madeCallId("call_", context.idSeed, n),
            type: "function",
            function: { name: call.name, arguments: argumentsOf(call.text) },
            extra_content: writeCallSignature(call.signature),
          })
        ),
      }),
  });
}

function isSigned(block: Block): boolean {
  return block.signature?.from === "messages";
}

function textOf(blocks: readonly Block[], kind: Block["kind"]): string {
  return blocks.filter((block) => block.kind === kind).map((block) =>
    block.text
  ).join("");
}

/** A call without arguments: clients parse the text, and an empty one is no JSON. */
function argumentsOf(text: string): string {
  return text.trim() === "" ? "{}" : text;
}
