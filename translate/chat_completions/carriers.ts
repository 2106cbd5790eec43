/**
 * Where signatures of other dialects travel in this format: `reasoning_details` for the messages format (as OpenRouter has them)
 * and `extra_content.google.thought_signature` for generate content (as Google has it). Written by the encoders, read by the
 * decoders, removed by `clean_request.ts`; never put anywhere else.
 *
 * @module
 */
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  textIn,
} from "../json.ts";
import type { Signature } from "../request.ts";

/** The `format` word of entries that hold a signature of the messages format. */
export const MESSAGES_FORMAT = "anthropic-claude-v1";

/** One piece of reasoning out of `reasoning_details`. */
export interface ReasoningDetail {
  /** More of the thoughts, possibly empty. */
  readonly text: string;
  /** The signature of the messages format that it carries. */
  readonly signature?: Signature;
  /** Pieces with the same index belong to the same block. */
  readonly index?: number;
}

/** The readable entries of a `reasoning_details` value, in order. Other vendors' encrypted ones are not readable. */
export function readDetails(value: unknown): readonly ReasoningDetail[] {
  const details: ReasoningDetail[] = [];
  for (const entry of arrayOr(value)) {
    if (!isObject(entry)) continue;
    const ours = entry["format"] === MESSAGES_FORMAT;
    const proof = ours
      ? textIn(entry["signature"]) ?? textIn(entry["data"])
      : undefined;
    const text = textIn(entry["text"]) ?? textIn(entry["summary"]) ?? "";
    if (text === "" && proof === undefined) continue;
    const index = entry["index"];
    details.push({
      text,
      ...(proof === undefined ? {} : {
        signature: {
          from: "messages",
          value: proof,
          ...(entry["type"] === "reasoning.encrypted"
            ? { redacted: true }
            : {}),
        },
      }),
      ...(typeof index === "number" ? { index } : {}),
    });
  }
  return details;
}

/** Tells whether an entry of `reasoning_details` is of the kind that the gateway writes. */
export function isMessagesDetail(entry: unknown): boolean {
  return isObject(entry) && entry["format"] === MESSAGES_FORMAT;
}

/** Writes one block of reasoning as an entry of `reasoning_details`. */
export function writeDetail(
  text: string,
  signature: Signature | undefined,
  index: number,
): JsonObject {
  if (signature?.from === "messages" && signature.redacted === true) {
    return {
      type: "reasoning.encrypted",
      data: signature.value,
      format: MESSAGES_FORMAT,
      index,
    };
  }
  return {
    type: "reasoning.text",
    text,
    ...(signature?.from === "messages" ? { signature: signature.value } : {}),
    format: MESSAGES_FORMAT,
    index,
  };
}

/** The signature that a tool call carries in its `extra_content`. */
export function readCallSignature(
  extraContent: unknown,
): Signature | undefined {
  const google = objectOr(objectOr(extraContent)["google"]);
  const value = textIn(google["thought_signature"]);
  return value === undefined ? undefined : { from: "generate_content", value };
}

/** Writes a tool call's signature as its `extra_content`; undefined for those that have no place here. */
export function writeCallSignature(
  signature: Signature | undefined,
): JsonObject | undefined {
  return signature?.from === "generate_content"
    ? { google: { thought_signature: signature.value } }
    : undefined;
}
