/**
 * Estimating tokens where nobody counted them: UTF-8 bytes over four, which is within a few percent on prose and code, and flat
 * figures for what is not text.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { GenerationRequest, Part } from "../translate/request.ts";

const BYTES_PER_TOKEN = 4;
const IMAGE_TOKENS = 1_600;
/** Of a document given by address: nobody here has seen it. */
const DOCUMENT_TOKENS = 3_000;
/** A PDF page is about 3,000 tokens and, in base64, seldom less than 40,000 characters. */
const DOCUMENT_CHARS_PER_TOKEN = 13;
const MESSAGE_TOKENS = 4;

/** Tokens of a text, at least one for any text that is not empty. */
export function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Prompt tokens of a request, estimated; at least one. */
export function inputTokens(request: GenerationRequest): number {
  let tokens = 0;
  for (const part of request.system) tokens += textTokens(part.text);
  for (const turn of request.turns) {
    tokens += MESSAGE_TOKENS;
    for (const part of turn.parts) tokens += partTokens(part);
  }
  for (const tool of request.tools ?? []) {
    tokens += textTokens(
      tool.type === "function"
        ? `${tool.name}${tool.description ?? ""}${
          JSON.stringify(tool.parameters ?? {})
        }`
        : JSON.stringify(tool.value),
    );
  }
  return Math.max(1, tokens);
}

function partTokens(part: Part): number {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return textTokens(part.text);
    case "image":
      return IMAGE_TOKENS;
    case "document":
      if (part.source.type === "text") return textTokens(part.source.text);
      return part.source.type === "url" ? DOCUMENT_TOKENS : Math.max(
        DOCUMENT_TOKENS,
        Math.ceil(part.source.data.length / DOCUMENT_CHARS_PER_TOKEN),
      );
    case "audio":
      return Math.ceil(part.data.length / DOCUMENT_CHARS_PER_TOKEN);
    case "tool_call":
      return textTokens(part.name) + textTokens(part.arguments);
    case "tool_result":
      return part.content.reduce((sum, inner) => sum + partTokens(inner), 0);
    case "opaque":
      return textTokens(JSON.stringify(part.value));
  }
}
