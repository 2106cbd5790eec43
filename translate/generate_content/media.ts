/**
 * Pictures, documents and sounds as parts of this wire: bytes in place (`inlineData`) or an address (`fileData`). Where the parts
 * go is decided in `contents.ts`.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import { invalidField } from "../error.ts";
import type { JsonObject } from "../json.ts";
import type {
  AudioPart,
  DocumentPart,
  FieldWords,
  ImagePart,
  Media,
} from "../request.ts";
import { MEDIA_TYPES } from "./wire.ts";

/** A part that is not only text. */
export type MediaPart = ImagePart | DocumentPart | AudioPart;

/**
 * The wire parts of one picture, document or sound; a document's title and context go before it as text, having no field.
 *
 * @throws {ApiError} `invalid_request` for an address that this model does not take or whose media type nobody told
 */
export function mediaParts(
  part: MediaPart,
  can: Capabilities,
  words: FieldWords,
): readonly JsonObject[] {
  switch (part.type) {
    case "image":
      return [mediaPart(part.source, can, words)];
    case "audio":
      return [inlineData(`audio/${part.format}`, part.data)];
    case "document": {
      const lead = documentLead(part);
      const body = part.source.type === "text"
        ? textParts(part.source.text)
        : [mediaPart(part.source, can, words)];
      return [...textParts(lead), ...body];
    }
  }
}

/** What a document is called and is about, as text; empty where neither is told. */
export function documentLead(part: DocumentPart): string {
  return [part.title, part.context].filter((line) =>
    line !== undefined && line !== ""
  ).join("\n");
}

/** Bytes in place. */
export function inlineData(mimeType: string, data: string): JsonObject {
  return { inlineData: { mimeType, data } };
}

/** A text part; nothing for an empty text, which this wire refuses. */
export function textParts(text: string): readonly JsonObject[] {
  return text === "" ? [] : [{ text }];
}

function mediaPart(
  source: Media,
  can: Capabilities,
  words: FieldWords,
): JsonObject {
  if (source.type === "base64") {
    return inlineData(source.mediaType, source.data);
  }
  if (!can.mediaUrls) {
    throw invalidField(
      words.messages,
      "this model takes no media by address; send the bytes",
    );
  }
  const mimeType = source.mediaType ?? typeByExtension(source.url);
  if (mimeType === undefined) {
    throw invalidField(
      words.messages,
      "cannot tell the media type of an address without a known file extension; send the bytes instead",
    );
  }
  return { fileData: { mimeType, fileUri: source.url } };
}

function typeByExtension(url: string): string | undefined {
  const path = url.replace(/[?#].*$/s, "");
  const extension = /\.([A-Za-z0-9]+)$/.exec(path)?.[1];
  return extension === undefined
    ? undefined
    : MEDIA_TYPES.get(extension.toLowerCase());
}
