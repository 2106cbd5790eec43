/**
 * Encodes the opening system prompt and the neutral turns as `instructions` and input items for
 * an upstream. The items have no ids, because the upstream stores nothing that an id could refer
 * to.
 */
import {
  DEFAULT_FILENAME,
  documentText,
  dropMedia,
  encodeAddress,
  markField,
} from "../../families/chat/content.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { freeTextInput } from "../../turns/free_text.ts";
import { wireToolName } from "../../turns/names.ts";
import type {
  DocumentPart,
  GenerationRequest,
  Part,
  ReasoningPart,
  ResultPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../../model/request.ts";
import { withoutBillingLine } from "../../turns/without_billing_line.ts";
import { systemTurnsAsUser } from "../../turns/turns.ts";
import { type CallIds, callIds } from "../../turns/call_ids.ts";
import { type DroppedFields, keepsOpaque } from "../../model/dropped_fields.ts";
import { mapEach, type Steps } from "../../steps.ts";

interface EncodedMessages {
  /** Absent without a system prompt. */
  readonly instructions?: string;
  /** At least one item. */
  readonly input: readonly JsonObject[];
}

interface Writing {
  readonly can: Capabilities;
  readonly dropped: DroppedFields;
  /** The client's path of marks of what to cache in the conversation. */
  readonly marks: string | undefined;
  readonly ids: CallIds;
  /** The ids of the calls so far that are written as free-text calls. */
  readonly freeText: Set<string>;
}

/**
 * Encodes the conversation.
 *
 * @throws {ApiError} `invalid_request` for a part that this format or the model does not support
 */
export function* encodeMessages(
  request: GenerationRequest,
  can: Capabilities,
  dropped: DroppedFields,
): Steps<EncodedMessages> {
  const writing = {
    can,
    dropped,
    marks: request.cacheMarks?.turns,
    ids: callIds(can.maxToolCallId),
    freeText: new Set<string>(),
  };
  const turns = can.systemAnywhere
    ? request.turns
    : systemTurnsAsUser(request.turns);
  const items = yield* mapEach(
    turns,
    (turn) =>
      turn.role === "assistant"
        ? encodeAssistant(turn, writing)
        : encodeOther(turn, writing),
  );
  const input = items.flat();
  const system = request.system.map((part) => ({
    ...part,
    text: withoutBillingLine(part.text),
  })).filter(({ text }) => text !== "");
  if (input.length === 0 && system.length === 0) {
    throw dropped.refusal("messages", "holds nothing to answer");
  }
  // `instructions` have no parts that could be marked, and are no input.
  if (
    input.length === 0 ||
    system.some((part) => Object.keys(markField(part, can)).length > 0)
  ) {
    const content = system.flatMap((part) => inputPart(part, writing));
    return {
      input: [{ type: "message", role: "developer", content }, ...input],
    };
  }
  const instructions = system.map(({ text }) => text).join("\n\n");
  return { ...(instructions === "" ? {} : { instructions }), input };
}

/** Items of the assistant have no place for a mark. */
function dropMark(part: Part, { marks, dropped }: Writing): void {
  if ("cacheMark" in part && part.cacheMark !== undefined && marks) {
    dropped.path(marks);
  }
}

/** Encodes a user or system turn. Each output of a call becomes an item of its own. */
function encodeOther(turn: Turn, writing: Writing): readonly JsonObject[] {
  const items: JsonObject[] = [];
  let content: JsonObject[] = [];
  const flush = (): void => {
    if (content.length === 0) return;
    items.push({
      type: "message",
      role: turn.role === "system" ? "developer" : "user",
      content,
    });
    content = [];
  };
  for (const part of turn.parts) {
    if (part.type === "tool_result") {
      flush();
      items.push(encodeOutput(part, writing));
    } else content.push(...contentItems(part, writing));
  }
  flush();
  return items;
}

/**
 * The content of a user or system turn apart from tool results. Reasoning and calls occur only in
 * assistant turns and are left out.
 */
function contentItems(part: Part, writing: Writing): readonly JsonObject[] {
  switch (part.type) {
    case "text":
    case "image":
    case "document":
    case "audio":
    case "opaque":
      return inputPart(part, writing);
    case "refusal":
      return inputPart({ type: "text", text: part.text }, writing);
    case "tool_call":
    case "tool_result":
    case "reasoning":
      return [];
  }
}

function inputPart(part: ResultPart, writing: Writing): readonly JsonObject[] {
  switch (part.type) {
    case "text":
      return part.text === ""
        ? []
        : [{ ...inputText(part.text), ...markField(part, writing.can) }];
    case "image":
      return [{
        type: "input_image",
        detail: "auto",
        image_url: encodeAddress(
          part,
          part.source,
          writing.can.mediaUrls,
          writing.dropped,
        ),
        ...markField(part, writing.can),
      }];
    case "document":
      return encodeDocument(part, writing);
    case "audio":
      throw writing.dropped.partRefusal(part, "cannot be sent to this model");
    case "opaque":
      return keepsOpaque(part, "responses", writing.dropped.path)
        ? [part.value]
        : [];
  }
}

function inputText(text: string): JsonObject {
  return { type: "input_text", text };
}

/** Encodes a document. A text document becomes plain text, preceded by its title and context. */
function encodeDocument(
  part: DocumentPart,
  writing: Writing,
): readonly JsonObject[] {
  const { source, title, context } = part;
  const mark = markField(part, writing.can);
  const text = documentText(part);
  if (source.type === "text") {
    return text ? [{ ...inputText(text), ...mark }] : [];
  }
  const about = context === undefined || context === ""
    ? []
    : [inputText(context)];
  const where = encodeAddress(
    part,
    source,
    writing.can.mediaUrls,
    writing.dropped,
  );
  return [
    ...about,
    source.type === "url" ? { type: "input_file", file_url: where, ...mark } : {
      type: "input_file",
      filename: title ?? DEFAULT_FILENAME,
      file_data: where,
      ...mark,
    },
  ];
}

function encodeOutput(result: ToolResultPart, writing: Writing): JsonObject {
  const mark = markField(result, writing.can);
  const written = result.content.flatMap((part) => inputPart(part, writing));
  const isMarked = Object.keys(mark).length > 0 && written.length > 0;
  const parts = isMarked
    ? written.with(-1, { ...written.at(-1), ...mark })
    : written;
  const texts = parts.flatMap((part) =>
    part["type"] === "input_text" ? [String(part["text"])] : []
  );
  const failure = result.failed === true ? ["Error"] : [];
  const isText = texts.length === parts.length && !isMarked;
  return {
    type: writing.freeText.has(result.id)
      ? "custom_tool_call_output"
      : "function_call_output",
    call_id: writing.ids.ofResult(result.id),
    output: isText
      ? [...failure, ...(texts.length === 0 ? [] : [texts.join("\n")])]
        .join(": ")
      : [...failure.map((word) => inputText(`${word}:`)), ...parts],
  };
}

function encodeAssistant(turn: Turn, writing: Writing): readonly JsonObject[] {
  const { dropped } = writing;
  const items: JsonObject[] = [];
  let content: JsonObject[] = [];
  let phase: string | undefined;
  const flush = (): void => {
    if (content.length === 0) return;
    items.push({
      type: "message",
      role: "assistant",
      ...(phase === undefined ? {} : { phase }),
      content,
    });
    content = [];
  };
  for (const part of turn.parts) {
    dropMark(part, writing);
    switch (part.type) {
      case "text":
        if (part.text !== "") {
          if (part.phase !== phase) flush();
          phase = part.phase;
          content.push({ type: "output_text", text: part.text });
        }
        break;
      case "refusal":
        if (part.text !== "") {
          content.push({ type: "refusal", refusal: part.text });
        }
        break;
      case "reasoning":
        flush();
        items.push(...encodeReasoningItem(part));
        break;
      case "tool_call":
        flush();
        items.push(encodeCall(part, writing));
        break;
      case "opaque":
        flush();
        if (keepsOpaque(part, "responses", dropped.path)) {
          items.push(part.value);
        }
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
  flush();
  // The format refuses a reasoning item that no other item follows.
  while (items.at(-1)?.["type"] === "reasoning") items.pop();
  return items;
}

function encodeCall(
  call: ToolCallPart,
  { can, ids, freeText }: Writing,
): JsonObject {
  const common = {
    call_id: ids.ofCall(call.id),
    name: wireToolName(call.name, can.maxToolName),
  };
  if (call.freeText === true && can.customTools) {
    freeText.add(call.id);
    return {
      type: "custom_tool_call",
      ...common,
      input: freeTextInput(call.arguments),
    };
  }
  freeText.delete(call.id);
  return {
    type: "function_call",
    ...common,
    arguments: call.arguments.trim() === "" ? "{}" : call.arguments,
  };
}

/** Encodes reasoning that a model of this format signed. Reasoning of other models is left out. */
function encodeReasoningItem(part: ReasoningPart): readonly JsonObject[] {
  if (part.signature?.from !== "responses") return [];
  return [{
    type: "reasoning",
    summary: part.text === ""
      ? []
      : [{ type: "summary_text", text: part.text }],
    encrypted_content: part.signature.value,
  }];
}
