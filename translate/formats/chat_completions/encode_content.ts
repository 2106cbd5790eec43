/**
 * Encodes neutral parts as the content of messages for an upstream. `encode_messages.ts` decides
 * which message holds which part.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { JsonObject } from "../../bytes/json.ts";
import {
  DEFAULT_FILENAME,
  documentText,
  dropMedia,
  encodeAddress,
  markField,
} from "../../families/chat/content.ts";
import type {
  AudioPart,
  DocumentPart,
  ImagePart,
  OpaquePart,
  TextPart,
} from "../../model/request.ts";
import { type DroppedFields, keepsOpaque } from "../../model/dropped_fields.ts";

/** What is in the place of a picture where the model takes none. */
export const NO_PICTURE =
  "[A picture was here. This model does not take pictures.]";

/** A neutral part that the content of a message can hold. */
export type ContentSource =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | OpaquePart;

/**
 * Encodes parts as content parts. Empty texts are left out.
 *
 * @throws {ApiError} `invalid_request` for a part that this format or the model does not support
 */
export function encodeParts(
  parts: readonly ContentSource[],
  can: Capabilities,
  dropped: DroppedFields,
): readonly JsonObject[] {
  return parts.flatMap((part) => encodePart(part, can, dropped));
}

/** The content in its shortest form: a lone text becomes a plain string. */
export function contentOf(
  parts: readonly JsonObject[],
): string | readonly JsonObject[] {
  const only = parts.length === 1 ? parts[0] : undefined;
  const isPlain = only?.["type"] === "text" && Object.keys(only).length === 2;
  const text = isPlain ? only["text"] : undefined;
  return typeof text === "string" ? text : parts;
}

function encodePart(
  part: ContentSource,
  can: Capabilities,
  dropped: DroppedFields,
): readonly JsonObject[] {
  switch (part.type) {
    case "text":
      return part.text === ""
        ? []
        : [{ ...textPart(part.text), ...markField(part, can) }];
    case "image":
      if (!can.images) {
        dropMedia(part, dropped);
        return [textPart(NO_PICTURE)];
      }
      return [{
        type: "image_url",
        image_url: {
          url: encodeAddress(part, part.source, can.mediaUrls, dropped),
        },
        ...markField(part, can),
      }];
    case "document":
      return encodeDocument(part, can, dropped);
    case "audio":
      return [{
        type: "input_audio",
        input_audio: { data: part.data, format: part.format },
      }];
    case "opaque":
      return keepsOpaque(part, "chat_completions", dropped.path)
        ? [part.value]
        : [];
  }
}

/** Encodes a text as a content part. */
export function textPart(text: string): JsonObject {
  return { type: "text", text };
}

function encodeDocument(
  part: DocumentPart,
  can: Capabilities,
  dropped: DroppedFields,
): readonly JsonObject[] {
  const { source } = part;
  const text = documentText(part);
  if (source.type === "text") {
    return text ? [{ ...textPart(text), ...markField(part, can) }] : [];
  }
  const data = encodeAddress(part, source, false, dropped);
  if (!can.files) {
    throw dropped.partRefusal(
      part,
      "cannot be sent to this model; send its text",
    );
  }
  const file: JsonObject = {
    type: "file",
    file: {
      filename: part.title ?? DEFAULT_FILENAME,
      file_data: data,
    },
    ...markField(part, can),
  };
  return part.context === undefined || part.context === ""
    ? [file]
    : [textPart(part.context), file];
}
