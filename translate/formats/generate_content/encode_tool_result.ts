/**
 * Encodes one call's result as a `functionResponse`. `encode_messages.ts` orders the results.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import {
  isObject,
  type JsonDraft,
  type JsonObject,
  nestsWithin,
  parseJson,
} from "../../bytes/json.ts";
import type {
  OpaquePart,
  ResultPart,
  ToolResultPart,
} from "../../model/request.ts";
import { documentLead, type MediaPart } from "./encode_media.ts";
import { RESPONSE_MEDIA_TYPES } from "./wire.ts";

/**
 * Deeper objects stay text: the upstream's protobuf parser refuses a body that nests beyond a
 * hundred levels.
 */
const MAX_DEPTH = 64;

/** An encoded result, and the parts that did not fit into it. */
interface EncodedResult {
  /** The `functionResponse` part. */
  readonly response: JsonObject;
  /** Media that must follow in a user turn. */
  readonly following: readonly MediaPart[];
  /** Parts that only another dialect knows. */
  readonly opaque: readonly OpaquePart[];
}

/**
 * Encodes a result for the call with that wire name; `id` is absent where the upstream takes none.
 */
export function toolResult(
  result: ToolResultPart,
  name: string,
  id: string | undefined,
  can: Capabilities,
): EncodedResult {
  const texts: string[] = [];
  const inline: JsonObject[] = [];
  const following: MediaPart[] = [];
  const opaque: OpaquePart[] = [];
  for (const part of result.content) {
    switch (part.type) {
      case "text":
        texts.push(part.text);
        break;
      case "opaque":
        opaque.push(part);
        break;
      case "image":
      case "audio":
      case "document": {
        const text = documentText(part);
        const blob = can.imagesInToolResult ? responseBlob(part) : undefined;
        if (text !== undefined) texts.push(text);
        else if (blob !== undefined) inline.push(blob);
        else following.push(part);
      }
    }
  }
  const functionResponse: JsonDraft = {
    ...(id === undefined ? {} : { id }),
    name,
    response: responseObject(texts.join("\n"), result.failed === true),
    ...(inline.length > 0 ? { parts: inline } : {}),
  };
  return { response: { functionResponse }, following, opaque };
}

/**
 * The response must be an object: the tool's own where it returned one, else its text in a field
 * that marks success or failure.
 */
function responseObject(text: string, failed: boolean): JsonObject {
  if (failed) return { error: text };
  // A number of sixteen digits could be rounded by JSON.parse; as text it stays exact.
  if (/^\s*\{/.test(text) && !/\d{16}/.test(text)) {
    const parsed = parseJson(text);
    if (isObject(parsed) && isShallow(parsed)) return parsed;
  }
  return { output: text };
}

/** Whether a value's depth is within this format's limit. */
export function isShallow(value: unknown): boolean {
  return nestsWithin(value, MAX_DEPTH);
}

function documentText(part: ResultPart): string | undefined {
  if (part.type !== "document" || part.source.type !== "text") return undefined;
  const lead = documentLead(part);
  return lead === "" ? part.source.text : `${lead}\n${part.source.text}`;
}

function responseBlob(part: MediaPart): JsonObject | undefined {
  if (part.type === "audio" || part.source.type !== "base64") return undefined;
  const { mediaType, data } = part.source;
  return RESPONSE_MEDIA_TYPES.has(mediaType)
    ? { inlineData: { mimeType: mediaType, data } }
    : undefined;
}
