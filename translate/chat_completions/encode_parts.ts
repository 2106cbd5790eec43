/**
 * Neutral parts → content of messages for an upstream. Which message holds which part is `encode_messages.ts`.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import { dataUrl } from "../data_url.ts";
import { invalidField } from "../error.ts";
import type { JsonObject } from "../json.ts";
import type {
  AudioPart,
  DocumentPart,
  ImagePart,
  Media,
  OpaquePart,
  TextPart,
} from "../request.ts";
import type { Losses } from "./losses.ts";

/** What stands in content. */
export type ContentSource =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | OpaquePart;

/** The filename that the format demands of a document without a title. */
const DEFAULT_FILENAME = "document.pdf";

/**
 * Writes parts as content parts; empty texts go.
 *
 * @throws {ApiError} `invalid_request` for what this format or the model cannot take
 */
export function encodeParts(
  parts: readonly ContentSource[],
  can: Capabilities,
  losses: Losses,
): readonly JsonObject[] {
  return parts.flatMap((part) => encodePart(part, can, losses));
}

/** Content as the format has it: a lone text is a plain string. */
export function contentOf(
  parts: readonly JsonObject[],
): string | readonly JsonObject[] {
  const only = parts.length === 1 ? parts[0] : undefined;
  const text = only?.["type"] === "text" ? only["text"] : undefined;
  return typeof text === "string" ? text : parts;
}

/** A document of text as the text that stands for it: title and context first. Undefined for documents of bytes. */
export function documentText(part: DocumentPart): string | undefined {
  return part.source.type === "text"
    ? [part.title, part.context, part.source.text].filter((text) =>
      text !== undefined
    ).join("\n")
    : undefined;
}

function encodePart(
  part: ContentSource,
  can: Capabilities,
  losses: Losses,
): readonly JsonObject[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [textPart(part.text)];
    case "image":
      return [{
        type: "image_url",
        image_url: { url: imageUrl(part.source, can, losses) },
      }];
    case "document":
      return encodeDocument(part, losses);
    case "audio":
      return [{
        type: "input_audio",
        input_audio: { data: part.data, format: part.format },
      }];
    case "opaque":
      return keepOpaque(part, losses) ? [part.value] : [];
  }
}

/**
 * Whether an opaque part is this dialect's own; otherwise it is noted as lost.
 *
 * @throws {ApiError} `invalid_request` where its loss would change the meaning
 */
export function keepOpaque(part: OpaquePart, losses: Losses): boolean {
  if (part.from === "chat_completions") return true;
  if (part.essential) {
    throw invalidField(
      part.path,
      `"${part.kind}" cannot be said to this model`,
    );
  }
  losses.path(part.path);
  return false;
}

/** Writes a text as a content part. */
export function textPart(text: string): JsonObject {
  return { type: "text", text };
}

function imageUrl(source: Media, can: Capabilities, losses: Losses): string {
  if (source.type === "base64") return dataUrl(source.mediaType, source.data);
  if (can.mediaUrls) return source.url;
  throw losses.refusal(
    "messages",
    "this model takes no picture by address; send its bytes",
  );
}

function encodeDocument(
  part: DocumentPart,
  losses: Losses,
): readonly JsonObject[] {
  const text = documentText(part);
  if (text !== undefined) return text === "" ? [] : [textPart(text)];
  if (part.source.type !== "base64") {
    throw losses.refusal(
      "messages",
      "this model takes no document by address; send its bytes",
    );
  }
  const file: JsonObject = {
    type: "file",
    file: {
      filename: part.title ?? DEFAULT_FILENAME,
      file_data: dataUrl(part.source.mediaType, part.source.data),
    },
  };
  return part.context === undefined || part.context === ""
    ? [file]
    : [textPart(part.context), file];
}
