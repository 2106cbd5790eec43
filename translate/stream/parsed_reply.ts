/**
 * Parses the JSON of a whole reply.
 */
import { exactJson } from "../bytes/exact_json.ts";
import { MAX_VALUES, requireFewValues } from "../bytes/few_values.ts";
import { MAX_LEVELS } from "../bytes/json.ts";
import type { TopLevel } from "../bytes/json_splice.ts";
import { LargeJsonError, largeObject } from "../bytes/large_json.ts";
import { unreadableReply } from "../model/reply_faults.ts";
import type { Steps } from "../steps.ts";

/** A longer reply is parsed and written in steps. */
export const LONG_BYTES = 1024 * 1024;
const DECODER = new TextDecoder();

/** A whole reply's JSON. */
interface ParsedReply {
  readonly reply: unknown;
  /** The decoded bytes; absent for a long reply. */
  readonly text?: string;
  /** Its top level; absent where it is not known. */
  readonly top?: TopLevel;
}

type LongReply = Required<Omit<ParsedReply, "text">>;

/**
 * Parses a whole reply; a long one in steps.
 *
 * @throws {ApiError} `upstream` for bytes that are no JSON, or hold too much
 */
export function* parsedReply(body: Uint8Array): Steps<ParsedReply> {
  return (body.length > LONG_BYTES
    ? yield* parseLong(body, MAX_VALUES)
    : undefined) ??
    shortReply(body);
}

function shortReply(body: Uint8Array): ParsedReply {
  const text = DECODER.decode(body);
  requireFewValues(text);
  const reply = exactJson(text);
  if (reply === undefined) throw unreadableReply("it is not JSON");
  return { reply, text };
}

/**
 * Parses a long object in steps; undefined for bytes that only `JSON.parse` can judge, or read.
 *
 * @param maxValues the same for more objects, arrays and keys
 */
export function* parseLong(
  bytes: Uint8Array,
  maxValues: number = Infinity,
): Steps<LongReply | undefined> {
  try {
    const { top, parse } = yield* largeObject(bytes, { maxValues });
    return top.exceeds !== undefined || top.depth > MAX_LEVELS
      ? undefined
      : { reply: yield* parse(), top };
  } catch (error) {
    if (error instanceof LargeJsonError) return undefined;
    throw error;
  }
}
