/**
 * Encodes a whole reply by folding events. `decode_reply.ts` is the inverse.
 */
import type { EncodeContext } from "../../dialect.ts";
import { arrayOr, type JsonObject, objectOr } from "../../bytes/json.ts";
import { replyCallIds } from "../../turns/call_ids.ts";
import {
  type Block,
  foldReply,
  kindsOf,
  type RanCode,
  type ReplyEvent,
  settleStop,
  type StopReason,
} from "../../model/reply.ts";
import type { Signature } from "../../model/request.ts";
import { callArguments } from "./encode_messages.ts";
import { type CitedText, encodeGrounding } from "./grounding.ts";
import { encodeLogprobs } from "./logprobs.ts";
import { signatureField, thoughtField } from "./signatures.ts";
import { WIRE_FINISH_REASONS } from "./stop_reason.ts";
import { encodeUsage } from "./usage.ts";

/**
 * Encodes a whole reply.
 *
 * @throws {ApiError} the error that the events contain
 */
export function encodeReply(
  events: Iterable<ReplyEvent>,
  context: EncodeContext,
): JsonObject {
  const { id, blocks, content, probabilities, usage, stop } = foldReply(events);
  const reason = settleStop(stop?.reason ?? "end", kindsOf(blocks));
  const callId = replyCallIds("call_", context.idSeed);
  const cited: CitedText[] = [];
  const parts: JsonObject[] = [];
  for (const block of content ?? blocks) {
    if (block.kind === "tool") {
      parts.push(callPart(
        callId(block.id),
        block.name,
        block.text,
        block.signature,
      ));
      continue;
    }
    // Its sources are in the citations.
    if (block.kind === "search") continue;
    if (block.kind === "code") {
      parts.push(...codeParts(block));
      continue;
    }
    const { text, citations = [] } = block;
    if (citations.length > 0) {
      cited.push({ text, citations, part: parts.length });
    }
    const isHidden = block.kind === "reasoning" &&
      context.hidesReasoning === true;
    parts.push(...prosePart(isHidden ? { ...block, text: "" } : block));
  }
  return {
    ...endFields(reason, parts, {
      ...encodeGrounding(cited),
      ...(probabilities === undefined
        ? {}
        : { logprobsResult: encodeLogprobs(probabilities) }),
    }),
    usageMetadata: encodeUsage(usage, context.inputEstimate),
    ...replyFields(id, context),
  };
}

/** Adds a finish reason to a whole reply that has none. */
export function withStop(
  body: JsonObject,
  events: readonly ReplyEvent[],
): JsonObject {
  const { blocks, stop } = foldReply(events);
  const reason = settleStop(stop?.reason ?? "end", kindsOf(blocks));
  return {
    ...body,
    candidates: arrayOr(body["candidates"]).map((candidate, index) =>
      index === 0
        ? { ...objectOr(candidate), finishReason: WIRE_FINISH_REASONS[reason] }
        : candidate
    ),
  };
}

/** The fields of a reply beside its content; every frame of a stream has them. */
export function replyFields(
  id: string | undefined,
  context: EncodeContext,
): JsonObject {
  return {
    modelVersion: context.model,
    responseId: id === undefined || id === "" ? context.idSeed : id,
  };
}

/**
 * How a reply ended. One that was refused before it had any content is a blocked prompt, which has
 * no candidates.
 */
export function endFields(
  reason: StopReason,
  parts: readonly JsonObject[],
  more: JsonObject = {},
): JsonObject {
  if (reason === "refusal" && parts.length === 0) {
    return { promptFeedback: { blockReason: "SAFETY" } };
  }
  return {
    candidates: [{
      // A turn without parts does not count as a reply in the client libraries.
      content: {
        parts: parts.length > 0 ? parts : [{ text: "" }],
        role: "model",
      },
      finishReason: WIRE_FINISH_REASONS[reason],
      index: 0,
      ...more,
    }],
  };
}

/** A call. Arguments that are no object are wrapped in one, so that the client still sees them. */
export function callPart(
  id: string,
  name: string,
  text: string,
  signature: Signature | undefined,
): JsonObject {
  return {
    functionCall: { id, name, args: callArguments(text).args },
    ...signatureField(signature),
  };
}

/** Code that ran and its output, as Gemini reports its own. */
export function codeParts(
  { code, language, output, failed }: RanCode,
): readonly JsonObject[] {
  return [
    {
      executableCode: {
        language: language?.toUpperCase() ?? "LANGUAGE_UNSPECIFIED",
        code,
      },
    },
    ...(output === undefined ? [] : [{
      codeExecutionResult: {
        outcome: failed === true ? "OUTCOME_FAILED" : "OUTCOME_OK",
        output,
      },
    }]),
  ];
}

/** A text or thought; none for an empty one without a signature. */
function prosePart(block: Block): readonly JsonObject[] {
  const { text, signature } = block;
  if (block.kind === "reasoning") {
    return text === "" && signature === undefined
      ? []
      : [{ text, thought: true, ...thoughtField(signature) }];
  }
  return text === "" && signature === undefined
    ? []
    : [{ text, ...signatureField(signature) }];
}
