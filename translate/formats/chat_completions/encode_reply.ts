/**
 * Encodes a whole reply by folding events.
 */
import type { EncodeContext } from "../../dialect.ts";
import { compact } from "../../bytes/compact.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
} from "../../bytes/json.ts";
import { type Citation, urlCitation } from "../../model/citation.ts";
import { freeTextInput } from "../../turns/free_text.ts";
import { replyCallIds } from "../../turns/call_ids.ts";
import {
  type Block,
  foldReply,
  kindsOf,
  type Reply,
  type ReplyEvent,
  settleStop,
} from "../../model/reply.ts";
import { detailWriter } from "./signatures.ts";
import { extraContent } from "../../turns/carried_signature.ts";
import { firstChoice } from "./reply_reader.ts";
import { encodeLogprobs } from "../../families/chat/logprobs.ts";
import { encodeFinishReason } from "./stop_reason.ts";
import { encodeUsage } from "./usage.ts";

/**
 * Encodes events as a whole reply.
 *
 * @throws {ApiError} the error of an `error` event
 */
export function encodeReply(
  events: Iterable<ReplyEvent>,
  context: EncodeContext,
): JsonObject {
  const reply = foldReply(events);
  const reason = settleStop(
    reply.stop?.reason ?? "end",
    kindsOf(reply.blocks),
  );
  return {
    id: replyId(reply.id, context),
    object: "chat.completion",
    created: context.created,
    model: context.model,
    choices: [{
      index: 0,
      message: encodeMessage(reply, context),
      logprobs: reply.probabilities === undefined ? null : {
        content: encodeLogprobs(reply.probabilities, null),
        refusal: null,
      },
      finish_reason: encodeFinishReason(reason, context.legacyFunctions),
    }],
    usage: encodeUsage(reply.usage, context.inputEstimate),
    // Clients with a schema require the key; its type has no null.
    system_fingerprint: "",
  };
}

/** Adds a finish reason to a whole reply that has none. */
export function withStop(
  body: JsonObject,
  events: readonly ReplyEvent[],
): JsonObject {
  const { blocks, stop } = foldReply(events);
  const reason = settleStop(stop?.reason ?? "end", kindsOf(blocks));
  const first = firstChoice(body, "whole");
  const legacy = isObject(objectOr(first["message"])["function_call"]);
  return {
    ...body,
    choices: arrayOr(body["choices"]).map((choice) =>
      choice === first
        ? { ...first, finish_reason: encodeFinishReason(reason, legacy) }
        : choice
    ),
  };
}

/** The upstream's id with this format's prefix, so that the two ids can be matched. */
export function replyId(
  id: string | undefined,
  context: EncodeContext,
): string {
  const bare = id?.replace(/^(?:msg_|chatcmpl-)/, "") ?? "";
  return `chatcmpl-${bare === "" ? context.idSeed : bare}`;
}

function encodeMessage(reply: Reply, context: EncodeContext): JsonObject {
  const { blocks } = reply;
  const text = textOf(blocks, "text");
  const refusal = textOf(blocks, "refusal");
  const thought = textOf(blocks, "reasoning");
  const details = detailsOf(blocks);
  const annotations = annotationsOf(blocks);
  const calls = blocks.filter((block) => block.kind === "tool");
  const first = calls[0];
  const signed = blocks.findLast(({ kind, signature }) =>
    kind === "text" && signature !== undefined
  );
  const callId = replyCallIds("call_", context.idSeed);
  return compact({
    role: "assistant",
    content: text === "" && (first !== undefined || refusal !== "")
      ? null
      : text,
    refusal: refusal === "" ? null : refusal,
    annotations: annotations.length === 0 ? undefined : annotations,
    reasoning_content: thought === "" ? undefined : thought,
    reasoning_details: details.length === 0 ? undefined : details,
    extra_content: extraContent(signed?.signature, "tagged"),
    ...(first === undefined ? {} : context.legacyFunctions
      ? {
        function_call: { name: first.name, arguments: argumentsOf(first.text) },
      }
      : {
        tool_calls: calls.map((call) =>
          compact({
            id: callId(call.id),
            ...(context.freeTextTools?.has(call.name) === true
              ? {
                type: "custom",
                custom: { name: call.name, input: freeTextInput(call.text) },
              }
              : {
                type: "function",
                function: {
                  name: call.name,
                  arguments: argumentsOf(call.text),
                },
              }),
            extra_content: extraContent(call.signature, "tagged"),
          })
        ),
      }),
  });
}

/**
 * The reasoning blocks as `reasoning_details`, each with its position; empty if no block is
 * signed.
 */
function detailsOf(blocks: readonly Block[]): readonly JsonObject[] {
  if (
    !blocks.some(({ kind, signature }) =>
      kind === "reasoning" && signature !== undefined
    )
  ) return [];
  const writer = detailWriter();
  return blocks.flatMap((block) => {
    if (block.kind === "reasoning") {
      return [writer.detail(block.text, block.signature)];
    }
    writer.began(block.kind);
    if (block.kind === "text") writer.text(block.text);
    return [];
  });
}

/** A source of the text, with its place in the message's whole text. */
export function annotation(
  citation: Citation,
  from: number,
  length: number,
): JsonObject {
  return {
    type: "url_citation",
    url_citation: urlCitation(citation, from, length),
  };
}

function annotationsOf(blocks: readonly Block[]): readonly JsonObject[] {
  let from = 0;
  return blocks.flatMap((block) => {
    if (block.kind !== "text") return [];
    const { citations = [], text } = block;
    const start = from;
    from += text.length;
    return citations.map((one) => annotation(one, start, text.length));
  });
}

function textOf(blocks: readonly Block[], kind: Block["kind"]): string {
  return blocks.filter((block) => block.kind === kind).map((block) =>
    block.text
  ).join("");
}

/** A call without arguments gets `{}`: clients parse the text, and an empty text is not JSON. */
function argumentsOf(text: string): string {
  return text.trim() === "" ? "{}" : text;
}
