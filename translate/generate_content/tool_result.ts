/**
 * One call's result as this wire's `functionResponse`. The order of the results and what surrounds them is `contents.ts`'s.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import {
  isObject,
  type JsonDraft,
  type JsonObject,
  parseJson,
} from "../json.ts";
import type { OpaquePart, ResultPart, ToolResultPart } from "../request.ts";
import { documentLead, type MediaPart } from "./media.ts";
import { RESPONSE_MEDIA_TYPES } from "./wire.ts";

/** Deeper objects stay text: behind this wire stands protobuf, whose readers refuse a body that nests beyond a hundred levels. */
const MAX_DEPTH = 64;

/** A result on the wire, and what did not fit into it. */
export interface WrittenResult {
  /** The `functionResponse` part. */
  readonly response: JsonObject;
  /** Media that must follow in a user turn. */
  readonly following: readonly MediaPart[];
  /** Parts that only another dialect knows. */
  readonly opaque: readonly OpaquePart[];
}

/** Writes a result for the call of that wire name; `id` is absent where this wire's upstream wants none. */
export function toolResult(
  result: ToolResultPart,
  name: string,
  id: string | undefined,
  can: Capabilities,
): WrittenResult {
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

/** The response must be an object: the tool's own where it wrote one, else its text under a name that tells success from failure. */
function responseObject(text: string, failed: boolean): JsonObject {
  if (failed) return { error: text };
  // Sixteen digits may be a number that JSON.parse would round; the text keeps it.
  if (/^\s*\{/.test(text) && !/\d{16}/.test(text)) {
    const parsed = parseJson(text);
    if (isObject(parsed) && isShallow(parsed)) return parsed;
  }
  return { output: text };
}

/** Whether a JSON value nests at most {@linkcode MAX_DEPTH} levels; level by level, not by recursion. */
export function isShallow(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      for (const child of Object.values(item)) next.push(child);
    }
    if (next.length === 0) return true;
    level = next;
  }
  return false;
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
