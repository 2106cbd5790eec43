/**
 * Encodes images and documents for an upstream of the messages format, and refuses what it does not
 * support.
 *
 * @module
 */
import type { Capabilities } from "../../model/capabilities.ts";
import { base64Text } from "../../bytes/data_url.ts";
import { type ApiError, invalidField } from "../../model/error.ts";
import type { JsonObject } from "../../bytes/json.ts";
import type {
  AudioPart,
  DocumentPart,
  ImagePart,
} from "../../model/request.ts";
import type { FieldNames } from "../../model/field_names.ts";

/** Image media types that the format supports. */
const PICTURES: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
]);

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
  const refuse = (problem: string): ApiError =>
    invalidField(
      part.at ?? words.messages,
      `${words[part.type]} cannot be sent to this model${problem}`,
    );
  if (part.type === "audio") throw refuse("");
  const { source } = part;
  if (source.type === "url") {
    if (!can.mediaUrls) throw refuse(" by its address; send its bytes");
    return {
      type: part.type,
      source: { type: "url", url: source.url },
      ...about(part),
    };
  }
  if (part.type === "image") {
    const { source } = part;
    if (source.type !== "base64" || !PICTURES.has(source.mediaType)) {
      throw refuse(` unless it is ${[...PICTURES].join(", ")}`);
    }
    return { type: "image", source: base64(source.mediaType, source.data) };
  }
  return {
    type: "document",
    source: documentSource(part, refuse),
    ...about(part),
  };
}

function documentSource(
  part: DocumentPart,
  refuse: (problem: string) => ApiError,
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
  throw refuse(" unless it is application/pdf or text");
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
