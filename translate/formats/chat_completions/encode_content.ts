/**
 * Encodes neutral parts as the content of messages for an upstream. `encode_messages.ts` decides
 * which message holds which part.
 *
 * @module
 */
import type { Capabilities } from "../../model/capabilities.ts";
import { dataUrl } from "../../bytes/data_url.ts";
import { invalidField } from "../../model/error.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { takesMarks } from "../../model/cache_marks.ts";
import { breakpointField } from "../../model/prompt_cache.ts";
import type {
  AudioPart,
  CacheMark,
  DocumentPart,
  ImagePart,
  OpaquePart,
  TextPart,
} from "../../model/request.ts";
import type { DroppedFields } from "../../model/dropped_fields.ts";

/** A neutral part that the content of a message can hold. */
export type ContentSource =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | OpaquePart;

/** Filename of a document without a title, since the format requires one. */
const DEFAULT_FILENAME = "document.pdf";

/**
 * Encodes parts as content parts. Empty texts are left out.
 *
 * @throws {ApiError} `invalid_request` for a part that this format or the model does not support
 */
export function encodeParts(
  parts: readonly ContentSource[],
  can: Capabilities,
  losses: DroppedFields,
): readonly JsonObject[] {
  return parts.flatMap((part) => encodePart(part, can, losses));
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

/** The text of a document, preceded by its title and context. Undefined for a document of bytes. */
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
  losses: DroppedFields,
): readonly JsonObject[] {
  switch (part.type) {
    case "text":
      return part.text === ""
        ? []
        : [{ ...textPart(part.text), ...markField(part, can) }];
    case "image":
      return [{
        type: "image_url",
        image_url: { url: imageUrl(part, can, losses) },
        ...markField(part, can),
      }];
    case "document":
      return encodeDocument(part, can, losses);
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
 * Whether an opaque part belongs to this format. A part of another format is recorded as dropped.
 *
 * @throws {ApiError} `invalid_request` if dropping the part would change the meaning
 */
export function keepOpaque(part: OpaquePart, losses: DroppedFields): boolean {
  if (part.from === "chat_completions") return true;
  if (part.essential) {
    throw invalidField(
      part.path,
      `"${part.kind}" cannot be sent to this model`,
    );
  }
  losses.path(part.path);
  return false;
}

/** The mark of a part or a result as a field of a content part; empty where the model takes none. */
export function markField(
  { cacheMark }: { readonly cacheMark?: CacheMark },
  can: Capabilities,
): JsonObject {
  return breakpointField(cacheMark, takesMarks("turns", can));
}

/** Encodes a text as a content part. */
export function textPart(text: string): JsonObject {
  return { type: "text", text };
}

function imageUrl(
  part: ImagePart,
  can: Capabilities,
  losses: DroppedFields,
): string {
  const { source } = part;
  if (source.type === "base64") return dataUrl(source.mediaType, source.data);
  if (can.mediaUrls) return source.url;
  throw losses.partRefusal(
    part,
    "cannot be sent to this model by its address; send its bytes",
  );
}

function encodeDocument(
  part: DocumentPart,
  can: Capabilities,
  losses: DroppedFields,
): readonly JsonObject[] {
  const text = documentText(part);
  if (text !== undefined) {
    return text === "" ? [] : [{ ...textPart(text), ...markField(part, can) }];
  }
  if (part.source.type !== "base64") {
    throw losses.partRefusal(
      part,
      "cannot be sent to this model by its address; send its bytes",
    );
  }
  if (!can.files) {
    throw losses.partRefusal(
      part,
      "cannot be sent to this model; send its text",
    );
  }
  const file: JsonObject = {
    type: "file",
    file: {
      filename: part.title ?? DEFAULT_FILENAME,
      file_data: dataUrl(part.source.mediaType, part.source.data),
    },
    ...markField(part, can),
  };
  return part.context === undefined || part.context === ""
    ? [file]
    : [textPart(part.context), file];
}
