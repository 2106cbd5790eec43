/**
 * Encodes images and documents for an upstream of the messages format, and refuses what it does not
 * support.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import { base64Text } from "../../bytes/data_url.ts";
import { PICTURES, refusedMedia } from "../../families/messages/media.ts";
import type { JsonObject } from "../../bytes/json.ts";
import type {
  AudioPart,
  DocumentPart,
  ImagePart,
} from "../../model/request.ts";
import type { FieldNames } from "../../model/field_names.ts";

/**
 * Encodes an image or a document. `words` are the client's field names.
 *
 * @throws {ApiError} `invalid_request` for media that the format or the model does not support
 */
export function mediaBlock(
  part: ImagePart | DocumentPart | AudioPart,
  can: Capabilities,
  words: FieldNames,
): JsonObject {
  if (part.type === "audio") throw refusedMedia(part, words, "sound");
  const { source } = part;
  if (source.type === "url") {
    if (!can.mediaUrls) throw refusedMedia(part, words, "address");
    return {
      type: part.type,
      source: { type: "url", url: source.url },
      ...about(part),
    };
  }
  if (part.type === "image") {
    const { source } = part;
    if (source.type !== "base64" || !PICTURES.includes(source.mediaType)) {
      throw refusedMedia(part, words, "picture");
    }
    return { type: "image", source: base64(source.mediaType, source.data) };
  }
  return {
    type: "document",
    source: documentSource(part, words),
    ...about(part),
  };
}

function documentSource(
  part: DocumentPart,
  words: FieldNames,
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
  throw refusedMedia(part, words, "document");
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
