/**
 * Writing pictures and documents for an upstream of the messages format, and refusing what it does not take.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import { base64Text } from "../data_url.ts";
import { type ApiError, invalidField } from "../error.ts";
import type { JsonObject } from "../json.ts";
import type { AudioPart, DocumentPart, ImagePart } from "../request.ts";

/** Media types of pictures that the format takes. */
const PICTURES: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
]);

/**
 * Writes one. `path` is the caller's word for where it stands.
 *
 * @throws {ApiError} `invalid_request` for what the format or the model does not take
 */
export function mediaBlock(
  part: ImagePart | DocumentPart | AudioPart,
  can: Capabilities,
  path: string,
): JsonObject {
  const refuse = (what: string): ApiError =>
    invalidField(path, `${what} cannot be sent to this model`);
  if (part.type === "audio") throw refuse("sound");
  const { source } = part;
  if (source.type === "url") {
    if (!can.mediaUrls) {
      throw refuse("a picture or document given by its address");
    }
    return {
      type: part.type,
      source: { type: "url", url: source.url },
      ...about(part),
    };
  }
  if (part.type === "image") {
    const { source } = part;
    if (source.type !== "base64" || !PICTURES.has(source.mediaType)) {
      throw refuse(
        `a picture that is not ${[...PICTURES].join(", ")}`,
      );
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
  refuse: (what: string) => ApiError,
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
  throw refuse("a document that is neither application/pdf nor text");
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
