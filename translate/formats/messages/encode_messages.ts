/**
 * Encodes turns for an upstream of the messages format: parts → blocks, in the order that the
 * format demands (results first, neighbours merged, no empty texts). `decode_messages.ts` is the
 * inverse.
 */
import {
  callInput,
  type Drop,
  expressibleTurns,
  isExpressible,
} from "../../families/messages/turns.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import type { JsonObject } from "../../bytes/json.ts";
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
import { type CallIds, callIds } from "../../turns/call_ids.ts";
import { markField } from "./cache_marks.ts";
import { mediaBlock } from "./encode_media.ts";
import { mapEach, type Steps } from "../../steps.ts";

/** Options and state of the encoding. */
interface Writing {
  readonly request: GenerationRequest;
  readonly can: Capabilities;
  readonly drop: Drop;
  readonly ids: CallIds;
}

/**
 * The turns in the order that the format demands, without parts that it cannot express. Still
 * parts, because their contents decide whether the model may reason.
 *
 * @throws {ApiError} `invalid_request` with the path of another dialect's part that must not be
 * dropped
 */
export function arrangedTurns(
  request: GenerationRequest,
  can: Capabilities,
  drop: Drop,
): readonly Turn[] {
  const placed = can.systemAnywhere
    ? systemAfterResults(request.turns)
    : systemTurnsAsUser(request.turns);
  const merged = mergeTurns(expressibleTurns(placed, "messages", drop));
  const allowed = merged.map(withoutLastReasoning);
  return allowed.every((turn, at) => turn === merged[at])
    ? merged
    : mergeTurns(allowed.filter((turn) => turn.parts.length > 0));
}

/**
 * The format refuses reasoning that nothing follows. Such reasoning remains of a reply that was cut
 * short, or whose next part the client removed or no model of this format can read.
 */
function withoutLastReasoning(turn: Turn): Turn {
  if (turn.role !== "assistant") return turn;
  const last = turn.parts.findLastIndex((part) => part.type !== "reasoning");
  return last === turn.parts.length - 1
    ? turn
    : { ...turn, parts: turn.parts.slice(0, last + 1) };
}

/**
 * Moves an instruction between calls and their results behind the results, which must come first.
 */
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

/**
 * Whether a tool call is in progress without signed reasoning, as after a client that does not keep
 * reasoning: models with a reasoning budget require such a turn to open with signed reasoning.
 */
export function lacksReasoning(turns: readonly Turn[]): boolean {
  const last = turns.findLast((turn) => turn.role === "assistant");
  return last !== undefined &&
    last.parts.some((part) => part.type === "tool_call") &&
    last.parts[0]?.type !== "reasoning";
}

/**
 * Encodes turns from {@linkcode arrangedTurns}. `prefill` is false where the model must not
 * continue its own text.
 */
export function* encodeMessages(
  turns: readonly Turn[],
  request: GenerationRequest,
  can: Capabilities,
  prefill: boolean,
  drop: Drop,
): Steps<readonly JsonObject[]> {
  const writing = { request, can, drop, ids: callIds(can.maxToolCallId) };
  const messages = yield* mapEach(turns, (turn, at) => ({
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

/** The format refuses trailing blanks in a text that the model continues. */
function withoutTrailingBlanks(parts: readonly Part[]): readonly Part[] {
  const last = parts.at(-1);
  return last?.type === "text"
    ? [...parts.slice(0, -1), { ...last, text: last.text.trimEnd() }]
    : parts;
}

function blocksOf(
  parts: readonly Part[],
  writing: Writing,
): readonly JsonObject[] {
  const results: JsonObject[] = [];
  // Parts that a result cannot contain follow after all results, because nothing may separate
  // those.
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
      return { type: "text", text: part.text, ...markField(part) };
    case "refusal":
      return { type: "text", text: part.text };
    case "reasoning":
      return reasoningBlock(part);
    case "tool_call":
      return callBlock(part, writing);
    case "image":
    case "document":
    case "audio":
      return {
        ...mediaBlock(part, writing.can, writing.request.fieldNames),
        ...(part.type === "audio" ? {} : markField(part)),
      };
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
  if (wrapped) writing.drop(writing.request.fieldNames.arguments);
  return {
    type: "tool_use",
    id: writing.ids.ofCall(part.id),
    name: wireToolName(part.name, writing.can.maxToolName),
    input,
    ...markField(part),
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
    if (!isExpressible(inner, "messages", writing.drop)) continue;
    if (inner.type === "image" && !writing.can.imagesInToolResult) {
      besides.push(
        { type: "text", text: `Picture from the result of call ${id}:` },
        mediaBlock(inner, writing.can, writing.request.fieldNames),
      );
    } else if (inner.type === "text") {
      content.push({ type: "text", text: inner.text });
    } else if (inner.type === "opaque") content.push(inner.value);
    else {content.push(
        mediaBlock(inner, writing.can, writing.request.fieldNames),
      );}
  }
  return {
    type: "tool_result",
    tool_use_id: id,
    ...(content.length === 0 ? {} : { content }),
    ...(part.failed === true ? { is_error: true } : {}),
    ...markField(part),
  };
}
