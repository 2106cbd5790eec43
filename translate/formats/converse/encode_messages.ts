/**
 * Encodes turns for the Converse format: parts → content blocks, results first, neighbours merged,
 * no blank texts; the conversation begins and ends with a user turn.
 */
import type { JsonObject } from "../../bytes/json.ts";
import {
  callInput,
  type Drop,
  expressibleTurns,
  isExpressible,
} from "../../families/messages/turns.ts";
import { type CallIds, callIds } from "../../turns/call_ids.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { wireToolName } from "../../turns/names.ts";
import type {
  GenerationRequest,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../../model/request.ts";
import { mergeTurns, systemTurnsAsUser } from "../../turns/turns.ts";
import { cachePoint } from "./cache_marks.ts";
import { mediaBlocks } from "./encode_media.ts";
import { mapEach, type Steps } from "../../steps.ts";

/** Options and state of the encoding. */
interface Writing {
  readonly request: GenerationRequest;
  readonly can: Capabilities;
  readonly drop: Drop;
  readonly ids: CallIds;
  documents: number;
}

const CONTINUE = { role: "user", content: [{ text: "Continue." }] } as const;

/**
 * The turns without parts that the format cannot express.
 *
 * @throws {ApiError} `invalid_request` with the path of another dialect's part that must not be
 * dropped
 */
export function arrangedTurns(
  request: GenerationRequest,
  drop: Drop,
): readonly Turn[] {
  return mergeTurns(
    expressibleTurns(systemTurnsAsUser(request.turns), "converse", drop),
  );
}

/** Encodes turns from {@linkcode arrangedTurns}. */
export function* encodeMessages(
  turns: readonly Turn[],
  request: GenerationRequest,
  can: Capabilities,
  drop: Drop,
): Steps<readonly JsonObject[]> {
  const writing: Writing = {
    request,
    can,
    drop,
    ids: callIds(can.maxToolCallId),
    documents: 0,
  };
  const messages = yield* mapEach(turns, (turn) => ({
    role: turn.role,
    content: withText(
      turn.parts.flatMap((
        part,
      ) => [
        ...blocks(part, writing),
        ...cachePoint(part, "turns", request, can, drop),
      ]),
    ),
  }));
  const last = turns.at(-1);
  const isContinued = last?.role === "assistant" &&
    last.parts.at(-1)?.type !== "tool_call";
  return [
    ...(turns[0]?.role === "assistant" ? [CONTINUE] : []),
    ...messages,
    ...(isContinued && !can.prefill ? [CONTINUE] : []),
  ];
}

/** The format refuses documents without a text beside them. */
function withText(content: readonly JsonObject[]): readonly JsonObject[] {
  const isBare = content.some((block) => block["document"] !== undefined) &&
    !content.some((block) => block["text"] !== undefined);
  return isBare ? [...content, { text: "See the document." }] : content;
}

function blocks(part: Part, writing: Writing): readonly JsonObject[] {
  switch (part.type) {
    case "text":
    case "refusal":
      return [{ text: part.text }];
    case "reasoning":
      return [reasoningBlock(part)];
    case "tool_call":
      return [callBlock(part, writing)];
    case "tool_result":
      return [resultBlock(part, writing)];
    case "image":
    case "document":
    case "audio":
      return mediaBlocks(
        part,
        writing.request.fieldNames,
        ++writing.documents,
      );
    case "opaque":
      return [];
  }
}

function reasoningBlock({ text, signature }: ReasoningPart): JsonObject {
  const value = signature?.value ?? "";
  return {
    reasoningContent: signature?.redacted === true
      ? { redactedContent: value }
      : { reasoningText: { text, signature: value } },
  };
}

function callBlock(part: ToolCallPart, writing: Writing): JsonObject {
  const { input, wrapped } = callInput(part.arguments);
  if (wrapped) writing.drop(writing.request.fieldNames.arguments);
  return {
    toolUse: {
      toolUseId: writing.ids.ofCall(part.id),
      name: wireToolName(part.name, writing.can.maxToolName),
      input,
    },
  };
}

function resultBlock(part: ToolResultPart, writing: Writing): JsonObject {
  const content = part.content
    .filter((inner) => isExpressible(inner, "converse", writing.drop))
    .flatMap((inner) => blocks(inner, writing));
  return {
    toolResult: {
      toolUseId: writing.ids.ofResult(part.id),
      // The format refuses a result without content.
      content: content.length === 0 ? [{ text: "(no output)" }] : content,
      ...(part.failed === true ? { status: "error" } : {}),
    },
  };
}
