/**
 * Writing turns for an upstream of the messages format: parts → blocks, arranged as the format demands (results first, neighbours
 * merged, no empty texts). The way back is `decode_turns.ts`.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import { invalidField } from "../error.ts";
import type { JsonObject } from "../json.ts";
import { wireToolName } from "../names.ts";
import type {
  GenerationRequest,
  OpaquePart,
  Part,
  ReasoningPart,
  ResultPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../request.ts";
import { mergeTurns, systemTurnsAsUser } from "../turns.ts";
import { type CallIds, callIds } from "./call_ids.ts";
import { mediaBlock } from "./encode_media.ts";
import type { Lose } from "./encode_tools.ts";
import { callInput } from "./reply.ts";

/** What the writing of turns must know. */
interface Writing {
  readonly request: GenerationRequest;
  readonly can: Capabilities;
  readonly lose: Lose;
  readonly ids: CallIds;
}

/**
 * The turns, arranged and without what the format has no word for. Still parts: what they hold decides whether the model may
 * reason.
 *
 * @throws {ApiError} `invalid_request` naming another dialect's part that must not be left out
 */
export function arrangedTurns(
  request: GenerationRequest,
  can: Capabilities,
  lose: Lose,
): readonly Turn[] {
  const placed = can.systemAnywhere
    ? systemAfterResults(request.turns)
    : systemTurnsAsUser(request.turns);
  const sayable = placed
    .map((turn) => ({
      ...turn,
      parts: turn.parts.filter((part) => isSayable(part, lose)),
    }))
    .filter((turn) => turn.parts.length > 0);
  return mergeTurns(sayable);
}

/** An instruction that stands between calls and their results moves behind the results, which must come first. */
function systemAfterResults(turns: readonly Turn[]): readonly Turn[] {
  const out: Turn[] = [];
  let held: Turn[] = [];
  for (const turn of turns) {
    const results = turn.parts.some((part) => part.type === "tool_result");
    if (turn.role === "system") {
      held.push(turn);
      continue;
    }
    if (!results) {
      out.push(...held);
      held = [];
    }
    out.push(turn);
  }
  return [...out, ...held];
}

/** The format refuses texts of nothing but blanks, and reasoning that it did not sign itself. */
function isSayable(part: Part | ResultPart, lose: Lose): boolean {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text.trim() !== "";
    case "reasoning":
      return part.signature?.from === "messages";
    case "opaque":
      return isOwn(part, lose);
    case "image":
    case "document":
    case "audio":
    case "tool_call":
    case "tool_result":
      return true;
  }
}

function isOwn(part: OpaquePart, lose: Lose): boolean {
  if (part.from === "messages") return true;
  if (part.essential) {
    throw invalidField(part.path, "is not available with this model");
  }
  lose(part.path);
  return false;
}

/**
 * Whether a call is in progress whose reasoning nobody signed, as after a client that keeps none: models with a reasoning budget
 * demand that such a turn open with signed reasoning.
 */
export function lacksReasoning(turns: readonly Turn[]): boolean {
  const last = turns.findLast((turn) => turn.role === "assistant");
  return last !== undefined &&
    last.parts.some((part) => part.type === "tool_call") &&
    last.parts[0]?.type !== "reasoning";
}

/** Writes arranged turns. `prefill` is false where the model must not be made to continue its own text. */
export function encodeTurns(
  turns: readonly Turn[],
  request: GenerationRequest,
  can: Capabilities,
  prefill: boolean,
  lose: Lose,
): readonly JsonObject[] {
  const writing = { request, can, lose, ids: callIds(can.maxToolCallId) };
  const messages = turns.map((turn, at) => ({
    role: turn.role,
    content: blocksOf(
      turn.role === "assistant" && at === turns.length - 1
        ? withoutTrailingBlanks(turn.parts)
        : turn.parts,
      writing,
    ),
  }));
  const last = messages.at(-1);
  const continues = last?.role === "assistant" &&
    last.content.at(-1)?.["type"] !== "tool_use";
  return continues && !prefill
    ? [...messages, {
      role: "user",
      content: [{ type: "text", text: "Continue." }],
    }]
    : messages;
}

/** Text for the model to continue must not end in blanks. */
function withoutTrailingBlanks(parts: readonly Part[]): readonly Part[] {
  const last = parts.at(-1);
  return last?.type === "text"
    ? [...parts.slice(0, -1), { type: "text", text: last.text.trimEnd() }]
    : parts;
}

function blocksOf(
  parts: readonly Part[],
  writing: Writing,
): readonly JsonObject[] {
  const results: JsonObject[] = [];
  // What a result cannot hold follows all results, for nothing may stand between them.
  const besides: JsonObject[] = [];
  const rest: JsonObject[] = [];
  for (const part of parts) {
    if (part.type === "tool_result") {
      results.push(resultBlock(part, writing, besides));
    } else rest.push(block(part, writing));
  }
  return [...results, ...besides, ...rest];
}

function block(
  part: Exclude<Part, ToolResultPart>,
  writing: Writing,
): JsonObject {
  switch (part.type) {
    case "text":
    case "refusal":
      return { type: "text", text: part.text };
    case "reasoning":
      return reasoningBlock(part);
    case "tool_call":
      return callBlock(part, writing);
    case "image":
    case "document":
    case "audio":
      return mediaBlock(part, writing.can, writing.request.words.messages);
    case "opaque":
      return part.value;
  }
}

function reasoningBlock(part: ReasoningPart): JsonObject {
  const value = part.signature?.value ?? "";
  return part.signature?.redacted === true
    ? { type: "redacted_thinking", data: value }
    : { type: "thinking", thinking: part.text, signature: value };
}

function callBlock(part: ToolCallPart, writing: Writing): JsonObject {
  const { input, wrapped } = callInput(part.arguments);
  if (wrapped) writing.lose(`${writing.request.words.messages}[].arguments`);
  return {
    type: "tool_use",
    id: writing.ids.ofCall(part.id),
    name: wireToolName(part.name, writing.can.maxToolName),
    input,
  };
}

function resultBlock(
  part: ToolResultPart,
  writing: Writing,
  besides: JsonObject[],
): JsonObject {
  const id = writing.ids.ofResult(part.id);
  const content: JsonObject[] = [];
  for (const inner of part.content) {
    if (!isSayable(inner, writing.lose)) continue;
    if (inner.type === "image" && !writing.can.imagesInToolResult) {
      besides.push(
        { type: "text", text: `Picture from the result of call ${id}:` },
        mediaBlock(inner, writing.can, writing.request.words.messages),
      );
    } else if (inner.type === "text") {
      content.push({ type: "text", text: inner.text });
    } else if (inner.type === "opaque") content.push(inner.value);
    else {content.push(
        mediaBlock(inner, writing.can, writing.request.words.messages),
      );}
  }
  return {
    type: "tool_result",
    tool_use_id: id,
    ...(content.length === 0 ? {} : { content }),
    ...(part.failed === true ? { is_error: true } : {}),
  };
}
