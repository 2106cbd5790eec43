/**
 * Writing turns for an upstream of the messages format: parts → blocks, arranged as the format demands (results first, neighbours
 * merged, no empty texts). The way back is `decode_turns.ts`.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import { base64Text } from "../data_url.ts";
import { invalidField } from "../error.ts";
import type { JsonObject } from "../json.ts";
import { wireCallId, wireToolName } from "../names.ts";
import type {
  AudioPart,
  DocumentPart,
  GenerationRequest,
  ImagePart,
  OpaquePart,
  Part,
  ReasoningPart,
  ResultPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../request.ts";
import { mergeTurns, systemTurnsAsUser } from "../turns.ts";
import type { Lose } from "./encode_tools.ts";
import { callInput } from "./reply.ts";

/** Media types of pictures that the format takes. */
const PICTURES: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
]);

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
      return mediaBlock(part, writing);
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
        mediaBlock(inner, writing),
      );
    } else if (inner.type === "text") {
      content.push({ type: "text", text: inner.text });
    } else if (inner.type === "opaque") content.push(inner.value);
    else content.push(mediaBlock(inner, writing));
  }
  return {
    type: "tool_result",
    tool_use_id: id,
    ...(content.length === 0 ? {} : { content }),
    ...(part.failed === true ? { is_error: true } : {}),
  };
}

function mediaBlock(
  part: ImagePart | DocumentPart | AudioPart,
  writing: Writing,
): JsonObject {
  const refuse = (what: string): Error =>
    invalidField(
      writing.request.words.messages,
      `${what} cannot be sent to this model`,
    );
  if (part.type === "audio") throw refuse("sound");
  const { source } = part;
  if (source.type === "url") {
    if (!writing.can.mediaUrls) {
      throw refuse("a picture or document given by its address");
    }
    return {
      type: part.type,
      source: { type: "url", url: source.url },
      ...about(part),
    };
  }
  if (part.type === "image") {
    const { source } = part;
    if (source.type !== "base64" || !PICTURES.has(source.mediaType)) {
      throw refuse(
        `a picture that is not ${[...PICTURES].join(", ")}`,
      );
    }
    return { type: "image", source: base64(source.mediaType, source.data) };
  }
  return {
    type: "document",
    source: documentSource(part, refuse),
    ...about(part),
  };
}

function documentSource(
  part: DocumentPart,
  refuse: (what: string) => Error,
): JsonObject {
  const { source } = part;
  if (source.type === "text") return plainText(source.text);
  if (source.type === "base64") {
    if (source.mediaType === "application/pdf") {
      return base64(source.mediaType, source.data);
    }
    if (source.mediaType.startsWith("text/")) {
      return plainText(base64Text(source.data));
    }
  }
  throw refuse("a document that is neither application/pdf nor text");
}

function base64(media_type: string, data: string): JsonObject {
  return { type: "base64", media_type, data };
}

function plainText(data: string): JsonObject {
  return { type: "text", media_type: "text/plain", data };
}

function about(part: ImagePart | DocumentPart): JsonObject {
  if (part.type === "image") return {};
  return {
    ...(part.title === undefined ? {} : { title: part.title }),
    ...(part.context === undefined ? {} : { context: part.context }),
  };
}

/** Ids of calls on the wire: each call its own, and each result that of its call. */
interface CallIds {
  ofCall(id: string): string;
  ofResult(id: string): string;
}

/** The format refuses an id that comes twice, so the n-th call of an id and its n-th result get a number. */
function callIds(max: number): CallIds {
  const calls = new Map<string, number>();
  const results = new Map<string, number>();
  const numbered = (id: string, n: number): string => {
    const wire = wireCallId(id, max);
    return n === 0 ? wire : wireCallId(`${wire}_${n}`, max);
  };
  return {
    ofCall(id) {
      const n = calls.get(id) ?? 0;
      calls.set(id, n + 1);
      return numbered(id, n);
    },
    ofResult(id) {
      const n = results.get(id) ?? 0;
      results.set(id, n + 1);
      // A second result of one call stays the upstream's to judge.
      return numbered(id, Math.min(n, Math.max(0, (calls.get(id) ?? 0) - 1)));
    },
  };
}
