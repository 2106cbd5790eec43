/**
 * Encodes the opening system prompt and the neutral turns as messages for an upstream. The format
 * requires the results of calls directly after the calls, so among the turns between two
 * assistant turns the results come first.
 */
import {
  documentText,
  dropMedia,
  markField,
} from "../../families/chat/content.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { compact } from "../../bytes/compact.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { freeTextInput } from "../../turns/free_text.ts";
import { wireCallId, wireToolName } from "../../turns/names.ts";
import type {
  GenerationRequest,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../../model/request.ts";
import { withoutBillingLine } from "../../turns/without_billing_line.ts";
import { systemTurnsAsUser } from "../../turns/turns.ts";
import {
  contentOf,
  type ContentSource,
  encodeParts,
  NO_PICTURE,
  textPart,
} from "./encode_content.ts";
import { type DroppedFields, keepsOpaque } from "../../model/dropped_fields.ts";
import { withBridges, withThoughts } from "./host_forms.ts";
import { extraContent, extraField } from "../../turns/carried_signature.ts";
import { returnedDetails, UNSIGNED_CALL } from "./signatures.ts";
import { type Steps, visitEach } from "../../steps.ts";

/**
 * Encodes the conversation.
 *
 * @throws {ApiError} `invalid_request` for a part that this format or the model does not support
 */
export function* encodeMessages(
  request: GenerationRequest,
  can: Capabilities,
  dropped: DroppedFields,
): Steps<readonly JsonObject[]> {
  // A list of lists, because a long conversation would exceed the argument limit of
  // `push(...messages)`.
  const messages: (readonly JsonObject[])[] = [encodeSystem(request, can)];
  const turns = can.systemAnywhere
    ? request.turns
    : systemTurnsAsUser(request.turns);
  let between: Turn[] = [];
  yield* visitEach(turns, (turn) => {
    if (turn.role !== "assistant") return void between.push(turn);
    messages.push(encodeBetween(between, can, dropped));
    between = [];
    messages.push(encodeAssistant(turn, request, can, dropped));
  });
  messages.push(encodeBetween(between, can, dropped));
  if (!can.prefill && turns.at(-1)?.role === "assistant") {
    dropped.field("messages");
    messages.push([{ role: "user", content: "Continue." }]);
  }
  const all = messages.flat();
  if (all.length === 0) {
    throw dropped.refusal("messages", "holds nothing to answer");
  }
  return withBridges(all, can);
}

function encodeSystem(
  request: GenerationRequest,
  can: Capabilities,
): readonly JsonObject[] {
  const parts = request.system.map((part) => ({
    text: withoutBillingLine(part.text),
    mark: markField(part, can),
  })).filter(({ text }) => text !== "");
  if (parts.length === 0) return [];
  const isMarked = parts.some(({ mark }) => Object.keys(mark).length > 0);
  return [{
    role: "system",
    content: isMarked
      ? parts.map(({ text, mark }) => ({ ...textPart(text), ...mark }))
      : parts.map(({ text }) => text).join("\n\n"),
  }];
}

function encodeBetween(
  turns: readonly Turn[],
  can: Capabilities,
  dropped: DroppedFields,
): readonly JsonObject[] {
  const messages: JsonObject[] = [];
  const media: (readonly JsonObject[])[] = [];
  for (const turn of turns) {
    for (const part of turn.parts) {
      if (part.type !== "tool_result") continue;
      const result = encodeResult(part, can, dropped);
      messages.push(result.message);
      if (result.media.length > 0) media.push(result.media);
    }
  }
  if (media.length > 0) messages.push({ role: "user", content: media.flat() });
  for (const turn of turns) {
    const parts = encodeParts(turn.parts.flatMap(contentSources), can, dropped);
    if (parts.length > 0) {
      messages.push({ role: turn.role, content: contentOf(parts) });
    }
  }
  return messages;
}

/**
 * The content of a system or user turn apart from tool results. Reasoning and calls occur only in
 * assistant turns and are left out.
 */
function contentSources(part: Part): readonly ContentSource[] {
  switch (part.type) {
    case "text":
    case "image":
    case "document":
    case "audio":
    case "opaque":
      return [part];
    case "refusal":
      return [{ type: "text", text: part.text }];
    case "tool_call":
    case "tool_result":
    case "reasoning":
      return [];
  }
}

interface ToolMessage {
  readonly message: JsonObject;
  /** Labelled media that must follow in a user message. */
  readonly media: readonly JsonObject[];
}

function encodeResult(
  result: ToolResultPart,
  can: Capabilities,
  dropped: DroppedFields,
): ToolMessage {
  const id = wireCallId(result.id, can.maxToolCallId, can.callIdForm);
  const texts: string[] = [];
  const others: ContentSource[] = [];
  for (const part of result.content) {
    const isLost = part.type === "image" && !can.images;
    if (isLost) dropMedia(part, dropped);
    const text = isLost
      ? NO_PICTURE
      : part.type === "text"
      ? part.text
      : part.type === "document"
      ? documentText(part)
      : undefined;
    if (text === undefined) others.push(part);
    else if (text !== "") texts.push(text);
  }
  const joined = texts.join("\n");
  const text = result.failed !== true
    ? joined
    : joined === ""
    ? "Error"
    : `Error: ${joined}`;
  const media = encodeParts(others, can, dropped);
  const inside = can.imagesInToolResult && media.length > 0;
  const written = [
    ...(text === "" ? [] : [textPart(text)]),
    ...(inside ? media : []),
  ];
  const mark = markField(result, can);
  const isMarked = Object.keys(mark).length > 0 && written.length > 0;
  return {
    message: {
      role: "tool",
      tool_call_id: id,
      content: isMarked
        ? written.with(-1, { ...written.at(-1), ...mark })
        : inside
        ? written
        : text,
    },
    media: inside || media.length === 0
      ? []
      : [textPart(`Content of tool result ${id}:`), ...media],
  };
}

/** The format has no place for the cache mark of a call. */
function dropMark(
  { cacheMark }: ToolCallPart,
  { cacheMarks }: GenerationRequest,
  dropped: DroppedFields,
): void {
  if (cacheMark === undefined || cacheMarks?.turns === undefined) return;
  dropped.path(cacheMarks.turns);
}

function encodeAssistant(
  turn: Turn,
  request: GenerationRequest,
  can: Capabilities,
  dropped: DroppedFields,
): readonly JsonObject[] {
  const texts: string[] = [];
  let mark: JsonObject = {};
  const thoughts: ReasoningPart[] = [];
  const refusals: string[] = [];
  const calls: JsonObject[] = [];
  const fields: { [key: string]: unknown } = {};
  const opaque: JsonObject[] = [];
  for (const part of turn.parts) {
    switch (part.type) {
      case "text":
        texts.push(part.text);
        mark = { ...mark, ...markField(part, can) };
        if (can.proofFields === "google") {
          Object.assign(fields, extraField(part.signature));
        }
        break;
      case "reasoning":
        thoughts.push(part);
        break;
      case "refusal":
        refusals.push(part.text);
        break;
      case "tool_call":
        calls.push(encodeCall(part, calls.length === 0, can));
        dropMark(part, request, dropped);
        break;
      case "opaque":
        if (!keepsOpaque(part, "chat_completions", dropped.path)) break;
        if (part.path.includes(".tool_calls[")) calls.push(part.value);
        else if (part.kind === "audio") fields["audio"] = part.value;
        else opaque.push(part.value);
        break;
      case "image":
      case "document":
      case "audio":
        dropMedia(part, dropped);
        break;
      case "tool_result":
        break;
    }
  }
  const reasoning = thoughts.map((part) => part.text).join("");
  const details = returnedDetails(thoughts, can);
  const text = can.reasoningTags
    ? withThoughts(reasoning, texts.join(""))
    : texts.join("");
  const thought = can.replayReasoning ? reasoning : "";
  const refusal = refusals.join("");
  const silent = text === "" && opaque.length === 0;
  if (
    silent && calls.length === 0 && thought === "" && refusal === "" &&
    fields["audio"] === undefined
  ) return [];
  return [compact({
    role: "assistant",
    content: opaque.length > 0 ||
        (text !== "" && Object.keys(mark).length > 0)
      ? [...(text === "" ? [] : [{ ...textPart(text), ...mark }]), ...opaque]
      : text !== ""
      ? text
      : calls.length > 0 || refusal !== "" || fields["audio"] !== undefined
      ? null
      : "",
    reasoning_content: thought !== "" || can.reasoningBesideCalls
      ? thought
      : undefined,
    reasoning_details: details.length === 0 ? undefined : details,
    refusal: refusal === "" ? undefined : refusal,
    ...fields,
    tool_calls: calls.length === 0 ? undefined : calls,
  })];
}

function encodeCall(
  call: ToolCallPart,
  isFirst: boolean,
  can: Capabilities,
): JsonObject {
  const id = wireCallId(call.id, can.maxToolCallId, can.callIdForm);
  const name = wireToolName(call.name, can.maxToolName);
  if (call.freeText === true && can.customTools) {
    const input = freeTextInput(call.arguments);
    return { id, type: "custom", custom: { name, input } };
  }
  return {
    id,
    type: "function",
    function: {
      name,
      arguments: call.arguments.trim() === "" ? "{}" : call.arguments,
    },
    ...(can.proofFields === "google" ? proofOf(call, isFirst, can) : {}),
  };
}

function proofOf(
  { signature }: ToolCallPart,
  isFirst: boolean,
  { signedCalls }: Capabilities,
): JsonObject {
  const extra = extraContent(signature, "bare") ??
    (isFirst && signedCalls ? UNSIGNED_CALL : undefined);
  return extra === undefined ? {} : { extra_content: extra };
}
