/**
 * Encodes the conversation as `contents`: two roles, no empty part, all results of one model turn
 * together and without other parts. `encode_request.ts` encodes the opening system prompt and the
 * other fields.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import { invalidField } from "../../model/error.ts";
import { exactJson } from "../../bytes/exact_json.ts";
import { isObject, type JsonObject } from "../../bytes/json.ts";
import { type CallIds, callIds } from "../../turns/call_ids.ts";
import type {
  GenerationRequest,
  OpaquePart,
  Part,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../../model/request.ts";
import type { FieldNames } from "../../model/field_names.ts";
import { mergeTurns, systemTurnsAsUser } from "../../turns/turns.ts";
import { mediaParts, textParts } from "./encode_media.ts";
import { functionName } from "./function_names.ts";
import { isShallow, toolResult } from "./encode_tool_result.ts";
import { FOREIGN_CALL_SIGNATURE, type WireContent } from "./wire.ts";
import { mapEach, type Steps } from "../../steps.ts";

/**
 * The user turn before a history that opens with the assistant, because the format requires a user
 * turn first. The text contains no instruction or quotable word, and is not blank, because blank
 * texts are refused as empty.
 */
const OPENING_PLACEHOLDER = ".";

/** Asks a model without prefill to go on, where the history ends with the assistant. */
export const CONTINUATION = "Continue.";

/** Records the client's path of a dropped field. */
export type Drop = (path: string) => void;

/**
 * The calls with one id, in order. Those before `next` have a result; removing them from the start
 * of a long array would copy the rest.
 */
interface CallQueue {
  readonly calls: { readonly at: number; readonly name: string }[];
  next: number;
}

interface Writing {
  readonly can: Capabilities;
  readonly words: FieldNames;
  readonly drop: Drop;
  /** The client's name of every call so far; the last one counts where ids repeat. */
  readonly names: Map<string, string>;
  /** Calls of the last model turn by id, each with one result. */
  calls: Map<string, CallQueue>;
  /** The ids that are written, for models that take any. */
  readonly ids: CallIds;
}

/**
 * Encodes the conversation.
 *
 * @throws {ApiError} `invalid_request` where no turn is left, or for a part that can be neither
 * expressed nor dropped
 */
export function* encodeMessages(
  request: GenerationRequest,
  can: Capabilities,
  drop: Drop,
): Steps<readonly WireContent[]> {
  const { fieldNames: words } = request;
  const writing: Writing = {
    can,
    words,
    drop,
    names: new Map(),
    calls: new Map(),
    ids: callIds(can.maxToolCallId),
  };
  const turns = expressibleTurns(request.turns, words, drop);
  yield;
  const written = yield* mapEach(
    turns,
    ({ role, parts }) =>
      role === "assistant"
        ? modelContents(parts, writing)
        : userContents(parts, writing),
  );
  const contents = written.flat();
  const first = contents[0];
  if (first === undefined) {
    throw invalidField(
      words.messages,
      "at least one message with content, beside the system prompt, is needed",
    );
  }
  if (first.role === "model") {
    contents.unshift({ role: "user", parts: [{ text: OPENING_PLACEHOLDER }] });
  }
  const last = contents.at(-1);
  if (
    !can.prefill && last?.role === "model" &&
    !last.parts.some((part) => "functionCall" in part)
  ) contents.push({ role: "user", parts: [{ text: CONTINUATION }] });
  return contents;
}

/**
 * The turns without parts that this format cannot express. Neighbours of one role are merged
 * afterwards, because dropping parts can make turns neighbours.
 */
function expressibleTurns(
  turns: readonly Turn[],
  words: FieldNames,
  drop: Drop,
): readonly Turn[] {
  return mergeTurns(
    systemTurnsAsUser(turns)
      .map((turn) => ({
        ...turn,
        parts: turn.parts.filter((part) => isExpressible(part, words, drop)),
      }))
      .filter((turn) => turn.parts.length > 0),
  );
}

function isExpressible(part: Part, words: FieldNames, drop: Drop): boolean {
  switch (part.type) {
    case "text":
      return part.text !== "" || part.signature?.from === "generate_content";
    case "refusal":
      return part.text !== "";
    case "reasoning":
      // Reasoning texts are summaries that the model does not need again; only signed ones must be
      // returned.
      return part.signature?.from === "generate_content";
    case "opaque":
      return keepsOpaque(part, words, drop);
    case "image":
    case "document":
    case "audio":
    case "tool_call":
    case "tool_result":
      return true;
  }
}

/**
 * Whether to keep an opaque part: only this dialect's own. Another dialect's part is dropped, or
 * refused if it is essential.
 */
function keepsOpaque(
  part: OpaquePart,
  words: FieldNames,
  drop: Drop,
): boolean {
  if (part.from === "generate_content") return true;
  if (part.essential) {
    throw invalidField(
      part.path === "" ? words.messages : part.path,
      `this model's upstream has no "${part.kind}"`,
    );
  }
  drop(part.path);
  return false;
}

function modelContents(
  parts: readonly Part[],
  writing: Writing,
): readonly WireContent[] {
  writing.calls = new Map();
  let count = 0;
  const written: JsonObject[] = [];
  for (const part of parts) {
    if (part.type === "tool_call") {
      writing.names.set(part.id, part.name);
      const same = writing.calls.get(part.id);
      const call = { at: count, name: part.name };
      if (same !== undefined) same.calls.push(call);
      else writing.calls.set(part.id, { calls: [call], next: 0 });
      written.push(functionCall(part, count === 0, writing));
      count++;
    } else written.push(...spokenParts(part, writing));
  }
  return written.length === 0 ? [] : [{ role: "model", parts: written }];
}

function functionCall(
  call: ToolCallPart,
  first: boolean,
  { can, words, drop, ids }: Writing,
): JsonObject {
  const { args, wrapped } = callArguments(call.arguments);
  if (wrapped) drop(words.arguments);
  const signature = call.signature?.from === "generate_content"
    ? call.signature.value
    : first && can.reasoning === "level"
    ? FOREIGN_CALL_SIGNATURE
    : undefined;
  return {
    functionCall: {
      ...(can.callIds ? { id: ids.ofCall(call.id) } : {}),
      name: functionName(call.name, can.maxToolName),
      args,
    },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  };
}

/**
 * A call's arguments, which must be an object. Malformed arguments are sent unchanged in a field
 * that marks them.
 */
export function callArguments(
  text: string,
): { readonly args: JsonObject; readonly wrapped: boolean } {
  if (text.trim() === "") return { args: {}, wrapped: false };
  const parsed = exactJson(text);
  return isObject(parsed) && isShallow(parsed)
    ? { args: parsed, wrapped: false }
    : { args: { __raw_arguments: text }, wrapped: true };
}

/**
 * Results go first and into a content of their own, everything else into the next one: 2.x models
 * count the parts of a content that answers calls, and a text among them is one too many.
 */
function userContents(
  parts: readonly Part[],
  writing: Writing,
): readonly WireContent[] {
  const results: { at: number; response: JsonObject }[] = [];
  const rest: JsonObject[] = [];
  for (const part of parts) {
    if (part.type !== "tool_result") continue;
    const same = writing.calls.get(part.id);
    const call = same?.calls[same.next++];
    const name = call?.name ?? writing.names.get(part.id) ?? part.id;
    const { response, following } = writeResult(part, name, writing);
    // Results without a call go last, in their order: the sort is stable and treats the NaN of
    // Infinity − Infinity as equal.
    results.push({ at: call?.at ?? Infinity, response });
    rest.push(...following);
  }
  for (const part of parts) {
    if (part.type !== "tool_result") rest.push(...spokenParts(part, writing));
  }
  const answers = results.sort((a, b) => a.at - b.at).map((r) => r.response);
  return [
    ...(answers.length > 0 ? [{ role: "user" as const, parts: answers }] : []),
    ...(rest.length > 0 ? [{ role: "user" as const, parts: rest }] : []),
  ];
}

function writeResult(
  result: ToolResultPart,
  name: string,
  { can, words, drop, ids }: Writing,
): { response: JsonObject; following: readonly JsonObject[] } {
  const wireName = functionName(name, can.maxToolName);
  const id = can.callIds ? ids.ofResult(result.id) : undefined;
  const { response, following, opaque } = toolResult(
    result,
    wireName,
    id,
    can,
  );
  for (const part of opaque) keepsOpaque(part, words, drop);
  return {
    response,
    following: following.length === 0 ? [] : [
      { text: `Attached to the result of ${wireName} (${result.id}):` },
      ...following.flatMap((part) => mediaParts(part, can, words)),
    ],
  };
}

/** Encodes a part that is neither a call nor a result. */
function spokenParts(
  part: Part,
  { can, words }: Writing,
): readonly JsonObject[] {
  switch (part.type) {
    case "text":
      return part.signature?.from === "generate_content"
        ? [{ text: part.text, thoughtSignature: part.signature.value }]
        : textParts(part.text);
    case "refusal":
      return textParts(part.text);
    case "reasoning":
      return [{
        text: part.text,
        thought: true,
        ...(part.signature === undefined
          ? {}
          : { thoughtSignature: part.signature.value }),
      }];
    case "opaque":
      return [part.value];
    case "image":
    case "document":
    case "audio":
      return mediaParts(part, can, words);
    case "tool_call":
    case "tool_result":
      // Unreachable for calls and results of the right role; those of the wrong role are ignored.
      return [];
  }
}
