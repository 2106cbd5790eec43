/**
 * Estimates token counts that no upstream has reported: UTF-8 bytes divided by four, which is
 * within a few percent for prose and code, and fixed figures for other content.
 */
import { Buffer } from "node:buffer";
import { pairEnd } from "../../translate/bytes/json_pieces.ts";
import type { EmbeddingInput } from "../../translate/embeddings/embedding_request.ts";
import type { GenerationRequest, Part } from "../../translate/model/request.ts";
import { type Steps, visitEach } from "../../translate/steps.ts";

const BYTES_PER_TOKEN = 4;
const IMAGE_TOKENS = 1_600;
/** For a document given by URL, whose size is unknown. */
const DOCUMENT_TOKENS = 3_000;
/** A PDF page is about 3,000 tokens and, in base64, rarely less than 40,000 characters. */
const DOCUMENT_CHARS_PER_TOKEN = 13;
const MESSAGE_TOKENS = 4;

/** Characters of a text that are counted in one step. */
const STEP_CHARS = 1024 * 1024;

/** Estimated tokens of a text; 0 only for an empty text. */
function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Estimated prompt tokens of a request; at least 1. */
export function* inputTokens(request: GenerationRequest): Steps<number> {
  let tokens = 0;
  for (const part of request.system) tokens += textTokens(part.text);
  const longTexts: string[] = [];
  yield* visitEach(request.turns, ({ parts }) => {
    tokens += MESSAGE_TOKENS;
    for (const part of parts) {
      if (part.type === "text" && part.text.length > STEP_CHARS) {
        longTexts.push(part.text);
      } else tokens += partTokens(part);
    }
  });
  for (const text of longTexts) tokens += yield* longTextTokens(text);
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

/** As {@linkcode textTokens}, in steps. */
function* longTextTokens(text: string): Steps<number> {
  let bytes = 0;
  for (let from = 0; from < text.length;) {
    const to = pairEnd(text, from + STEP_CHARS);
    bytes += Buffer.byteLength(text.slice(from, to));
    from = to;
    yield;
  }
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Tokens of inputs to embed, estimated where they are texts; at least 1. */
export function embeddingTokens(inputs: readonly EmbeddingInput[]): number {
  return Math.max(
    1,
    inputs.reduce(
      (sum, input) =>
        sum + (typeof input === "string" ? textTokens(input) : input.length),
      0,
    ),
  );
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
