/**
 * Encodes images, documents and sounds: base64 (`inlineData`) or a URL (`fileData`).
 * `encode_messages.ts` decides where the parts go.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import { type ApiError, invalidField } from "../../model/error.ts";
import type { JsonObject } from "../../bytes/json.ts";
import type {
  AudioPart,
  DocumentPart,
  ImagePart,
  Media,
} from "../../model/request.ts";
import type { FieldNames } from "../../model/field_names.ts";
import { MEDIA_TYPES } from "./wire.ts";

export type MediaPart = ImagePart | DocumentPart | AudioPart;

/**
 * Encodes one image, document or sound; a document's title and context precede it as text, because
 * there is no field for them.
 *
 * @throws {ApiError} `invalid_request` for a URL that the model does not support or whose media
 * type is unknown
 */
export function mediaParts(
  part: MediaPart,
  can: Capabilities,
  words: FieldNames,
): readonly JsonObject[] {
  switch (part.type) {
    case "image":
      return [mediaPart(part, part.source, can, words)];
    case "audio":
      return [inlineData(`audio/${part.format}`, part.data)];
    case "document": {
      const lead = documentLead(part);
      const body = part.source.type === "text"
        ? textParts(part.source.text)
        : [mediaPart(part, part.source, can, words)];
      return [...textParts(lead), ...body];
    }
  }
}

/** A document's title and context as text; empty where there are none. */
export function documentLead(part: DocumentPart): string {
  return [part.title, part.context].filter((line) =>
    line !== undefined && line !== ""
  ).join("\n");
}

/** A part with base64 bytes. */
function inlineData(mimeType: string, data: string): JsonObject {
  return { inlineData: { mimeType, data } };
}

/** A text part; none for an empty text, which this format refuses. */
export function textParts(text: string): readonly JsonObject[] {
  return text === "" ? [] : [{ text }];
}

function mediaPart(
  part: ImagePart | DocumentPart,
  source: Media,
  can: Capabilities,
  words: FieldNames,
): JsonObject {
  if (source.type === "base64") {
    return inlineData(source.mediaType, source.data);
  }
  const refuse = (problem: string): ApiError =>
    invalidField(
      part.at ?? words.messages,
      `${words[part.type]} cannot be sent to this model by ${problem}`,
    );
  if (!can.mediaUrls) throw refuse("its address; send its bytes");
  const mimeType = source.mediaType ?? typeByExtension(source.url);
  if (mimeType === undefined) {
    throw refuse(
      "an address without a known file extension: its media type cannot be known; send its bytes",
    );
  }
  return { fileData: { mimeType, fileUri: source.url } };
}

/** The media type of an address, by its file extension; undefined for an unknown one. */
export function typeByExtension(url: string): string | undefined {
  const path = url.replace(/[?#].*$/s, "");
  const extension = /\.([A-Za-z0-9]+)$/.exec(path)?.[1];
  return extension === undefined
    ? undefined
    : MEDIA_TYPES.get(extension.toLowerCase());
}
