/**
 * The conversation as this wire's `contents`: two roles, no empty part, all results of one model turn together and alone.
 * The opening system prompt and everything beside the conversation is `request.ts`'s.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import { invalidField } from "../error.ts";
import { exactJson } from "../exact_json.ts";
import { isObject, type JsonObject } from "../json.ts";
import { wireCallId } from "../names.ts";
import type {
  FieldWords,
  GenerationRequest,
  OpaquePart,
  Part,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../request.ts";
import { mergeTurns, systemTurnsAsUser } from "../turns.ts";
import { mediaParts, textParts } from "./media.ts";
import { functionName } from "./names.ts";
import { isShallow, toolResult } from "./tool_result.ts";
import { FOREIGN_CALL_SIGNATURE, type WireContent } from "./wire.ts";

/**
 * Stands in the user's turn where the history opens with the assistant, because the wire demands a user first. It holds no word
 * that the model could obey or quote, and is not blank, for blank texts are refused as empty.
 */
export const OPENING_PLACEHOLDER = ".";

/** Asks a model that continues no answer of its own to go on, where the history ends with the assistant. */
export const CONTINUATION = "Continue.";

/** Takes the path, in the caller's words, of something that could not be said. */
export type Lose = (path: string) => void;

interface Writing {
  readonly can: Capabilities;
  readonly words: FieldWords;
  readonly lose: Lose;
  /** The caller's name of every call so far; the last one counts where ids repeat. */
  readonly names: Map<string, string>;
  /** Calls of the last model turn: positions by id, each to be answered once. */
  calls: Map<string, { readonly at: number; readonly name: string }[]>;
}

/**
 * Writes the conversation.
 *
 * @throws {ApiError} `invalid_request` where nothing is left to answer, or a part cannot be said or left out
 */
export function writeContents(
  request: GenerationRequest,
  can: Capabilities,
  lose: Lose,
): readonly WireContent[] {
  const { words } = request;
  const writing: Writing = {
    can,
    words,
    lose,
    names: new Map(),
    calls: new Map(),
  };
  const contents: WireContent[] = [];
  for (const turn of sayableTurns(request.turns, words, lose)) {
    contents.push(
      ...(turn.role === "assistant"
        ? modelContents(turn.parts, writing)
        : userContents(turn.parts, writing)),
    );
  }
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

/** The turns without what this wire cannot say, neighbours of one role merged only then: what goes may join what stays. */
function sayableTurns(
  turns: readonly Turn[],
  words: FieldWords,
  lose: Lose,
): readonly Turn[] {
  return mergeTurns(
    systemTurnsAsUser(turns)
      .map((turn) => ({
        ...turn,
        parts: turn.parts.filter((part) => isSayable(part, words, lose)),
      }))
      .filter((turn) => turn.parts.length > 0),
  );
}

function isSayable(part: Part, words: FieldWords, lose: Lose): boolean {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text !== "";
    case "reasoning":
      // Thoughts are summaries that the model does not need again; their proof, where it has one, is what must return.
      return part.signature?.from === "generate_content";
    case "opaque":
      return keepsOpaque(part, words, lose);
    case "image":
    case "document":
    case "audio":
    case "tool_call":
    case "tool_result":
      return true;
  }
}

/** Whether an opaque part is this dialect's own; one of another is told as lost, or refused where it matters. */
function keepsOpaque(
  part: OpaquePart,
  words: FieldWords,
  lose: Lose,
): boolean {
  if (part.from === "generate_content") return true;
  if (part.essential) {
    throw invalidField(
      part.path === "" ? words.messages : part.path,
      `this model's upstream has no "${part.kind}"`,
    );
  }
  lose(part.path);
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
      if (same === undefined) writing.calls.set(part.id, [call]);
      else same.push(call);
      written.push(functionCall(part, count === 0, writing));
      count++;
    } else written.push(...spokenParts(part, writing));
  }
  return written.length === 0 ? [] : [{ role: "model", parts: written }];
}

function functionCall(
  call: ToolCallPart,
  first: boolean,
  { can, words, lose }: Writing,
): JsonObject {
  const { args, wrapped } = callArguments(call.arguments);
  if (wrapped) lose(`${words.messages}[].arguments`);
  const signature = call.signature?.from === "generate_content"
    ? call.signature.value
    : first && can.reasoning === "level"
    ? FOREIGN_CALL_SIGNATURE
    : undefined;
  return {
    functionCall: {
      ...callId(call.id, can),
      name: functionName(call.name, can.maxToolName),
      args,
    },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  };
}

function callId(id: string, can: Capabilities): { readonly id?: string } {
  return can.callIds ? { id: wireCallId(id, can.maxToolCallId) } : {};
}

/** The wire takes an object only. What a model wrote badly goes back as it was, under a name that says so. */
function callArguments(
  text: string,
): { readonly args: JsonObject; readonly wrapped: boolean } {
  if (text.trim() === "") return { args: {}, wrapped: false };
  const parsed = exactJson(text);
  return isObject(parsed) && isShallow(parsed)
    ? { args: parsed, wrapped: false }
    : { args: { __raw_arguments: text }, wrapped: true };
}

/**
 * Results first and in a content of their own, everything else in the next one: 2.x models count the parts of a content that
 * answers calls, and a text among them is one too many (translation.md trap 109).
 */
function userContents(
  parts: readonly Part[],
  writing: Writing,
): readonly WireContent[] {
  const results: { at: number; response: JsonObject }[] = [];
  const rest: JsonObject[] = [];
  for (const part of parts) {
    if (part.type !== "tool_result") continue;
    const call = writing.calls.get(part.id)?.shift();
    const name = call?.name ?? writing.names.get(part.id) ?? part.id;
    const { response, following } = writeResult(part, name, writing);
    // Orphans last, in their order: the sort is stable, and takes the NaN of Infinity − Infinity for equal.
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
  { can, words, lose }: Writing,
): { response: JsonObject; following: readonly JsonObject[] } {
  const wireName = functionName(name, can.maxToolName);
  const { id } = callId(result.id, can);
  const { response, following, opaque } = toolResult(
    result,
    wireName,
    id,
    can,
  );
  for (const part of opaque) keepsOpaque(part, words, lose);
  return {
    response,
    following: following.length === 0 ? [] : [
      { text: `Attached to the result of ${wireName} (${result.id}):` },
      ...following.flatMap((part) => mediaParts(part, can, words)),
    ],
  };
}

/** A part that is neither a call nor a result. */
function spokenParts(
  part: Part,
  { can, words }: Writing,
): readonly JsonObject[] {
  switch (part.type) {
    case "text":
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
      // Not reached: each role takes its own out. A call in a user's turn, or a result in the assistant's, has no place here.
      return [];
  }
}
